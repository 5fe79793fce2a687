"""The folder alone, under another name, with nothing but the standard library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import importlib, importlib.util, json, sys, types
folder, home = sys.argv[1:]
spec = importlib.util.spec_from_file_location("zzz_invented", folder + "/__init__.py", submodule_search_locations=[folder])
module = importlib.util.module_from_spec(spec)
sys.modules["zzz_invented"] = module
spec.loader.exec_module(module)
registered = []
module.register(types.SimpleNamespace(register_memory_provider=registered.append))
(provider,) = registered
assert provider.is_available() and [s["name"] for s in provider.get_tool_schemas()]
def begin(session):
    provider.initialize(session, hermes_home=home, platform="cli")
begin("one")
provider.on_turn_start(1, "主人偏好周五晚上部署")
provider.prefetch("主人偏好周五晚上部署")
provider.sync_turn("主人偏好周五晚上部署", "好的，记住了。", session_id="one")
assert provider._memory.settle(10)
provider.shutdown()
begin("two")
provider.on_turn_start(1, "什么时候部署？")
block = provider.prefetch("什么时候部署？")
stored = json.loads(provider.handle_tool_call("memory_store", {"content": "I prefer tabs over spaces."}))
got = json.loads(provider.handle_tool_call("memory_get", {"memory_id": stored["memory_id"]}))
provider.shutdown()
foreign = [n for n, m in sys.modules.items() if "site-packages" in (getattr(m, "__file__", None) or "") or n == "memex"]
print(json.dumps({"block": block, "got": got["item"]["content"], "foreign": foreign}))
"""


def test_the_folder_stores_and_recalls_under_an_invented_name_without_any_package(
    checkout: Path, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-I",
        "-S",
        "-B",
        "-c",
        _PROGRAM,
        str(checkout / "src" / "memex"),
        str(tmp_path / "home"),
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=50, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert "主人偏好周五晚上部署" in found["block"]
    assert found["block"].startswith("<memex-memory>")
    assert found["got"] == "I prefer tabs over spaces."
    assert found["foreign"] == []


def test_the_marker_that_the_host_looks_for_stands_at_the_front(checkout: Path) -> None:
    head = (checkout / "src" / "memex" / "__init__.py").read_text(encoding="utf-8")[:8192]
    assert "register_memory_provider" in head
    assert "kind:" not in (checkout / "src" / "memex" / "plugin.yaml").read_text(encoding="utf-8")


def test_no_file_at_the_top_of_the_plugin_needs_the_host(checkout: Path) -> None:
    """The host executes each of them when it loads the plugin, before the package itself."""
    program = (
        "import importlib.util, sys, types\n"
        "folder, stem = sys.argv[1:]\n"
        "package = types.ModuleType('shell'); package.__path__ = [folder]; sys.modules['shell'] = package\n"
        "spec = importlib.util.spec_from_file_location(f'shell.{stem}', f'{folder}/{stem}.py')\n"
        "module = importlib.util.module_from_spec(spec); sys.modules[spec.name] = module; spec.loader.exec_module(module)\n"
    )
    folder = checkout / "src" / "memex"
    for path in sorted(folder.glob("*.py")):
        if path.stem != "__init__":
            command = [sys.executable, "-I", "-S", "-B", "-c", program, str(folder), path.stem]
            done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=50, check=False)
            assert (done.returncode, done.stderr) == (0, ""), path.name
