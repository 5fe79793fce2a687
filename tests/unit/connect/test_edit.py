"""One entry comes and goes; every other character of a client's settings stays."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from memex.connect.edit import get_json, remove_json, remove_toml, set_json, set_toml
from memex.protocol.errors import SetupError

_ENTRY = {"command": "/opt/mémex/bin/memex", "args": ["mcp"], "env": {"MEMEX_USER_ID": "安"}}
_KEYS = ("mcpServers", "memex")

_JSON = {
    "nothing": "",
    "empty object": "{}",
    "empty object with line end": "{}\n",
    "other settings": '{\n  "theme": "dark",\n  "n": 1.50e3\n}\n',
    "other servers": '{\n  "mcpServers": {\n    "git": {"command": "git-mcp"}\n  },\n  "z": [1, {"a": "}"}]\n}\n',
    "one line": '{"mcpServers":{"git":{"command":"git-mcp"}},"x":"\\"{"}',
    "tabs and Windows line ends": '{\r\n\t"mcpServers": {\r\n\t\t"git": {}\r\n\t}\r\n}\r\n',
    "comments and trailing commas": '// mine\n{\n  /* servers: "{" */\n  "mcpServers": {\n    "git": {}, // keep\n  },\n}\n',
    "four spaces": '{\n    "a": {\n        "b": null\n    }\n}',
    "a byte order mark": '\ufeff{\n  "a": true\n}\n',
    "other scripts": '{\n  "名前": "値 😀",\n  "mcpServers": {}\n}\n',
}


def _strict(text: str) -> Any:
    """What a client makes of a text; only for texts without comments."""
    return json.loads(text.removeprefix("\ufeff") or "{}")


@pytest.mark.parametrize("text", _JSON.values(), ids=_JSON)
def test_the_entry_is_there_and_everything_else_is_as_it_was(text: str) -> None:
    with_entry = set_json(text, _KEYS, _ENTRY)
    assert get_json(with_entry, _KEYS) == _ENTRY
    if "//" not in text:
        expected = _strict(text)
        expected.setdefault("mcpServers", {})["memex"] = _ENTRY
        assert _strict(with_entry) == expected
    for line in text.splitlines():
        if line.strip(" \t{},\ufeff") and "mcpServers" not in line:
            assert line.rstrip().rstrip(",") in with_entry
    assert set_json(with_entry, _KEYS, _ENTRY) == with_entry
    changed = set_json(with_entry, _KEYS, {"command": "other"})
    assert get_json(changed, _KEYS) == {"command": "other"}
    without = remove_json(changed, _KEYS)
    assert get_json(without, _KEYS) is None
    assert get_json(without, ("mcpServers", "git")) == get_json(text, ("mcpServers", "git"))
    assert remove_json(without, _KEYS) == without


@pytest.mark.parametrize(
    "name", ["other servers", "one line", "tabs and Windows line ends", "comments and trailing commas"]
)
def test_where_the_object_was_there_taking_the_entry_out_gives_the_bytes_back(name: str) -> None:
    assert remove_json(set_json(_JSON[name], _KEYS, _ENTRY), _KEYS) == _JSON[name]


@pytest.mark.parametrize(
    "text", ["{", '{"a" 1}', '{"a": 1 "b": 2}', "[1", '{"a": tru}', '{"mcpServers": []}', "hello", '{"a": "x']
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(SetupError, match=r"line \d+"):
        set_json(text, _KEYS, _ENTRY)


_TOML = {
    "nothing": "",
    "settings": 'model = "gpt-5"  # mine\n',
    "no line end": 'model = "gpt-5"',
    "other tables": '[mcp_servers.git]\ncommand = "git-mcp"\n\n[profiles.fast]\nmodel = "x"\n',
    "a table of a like name": '[mcp_servers.memex2]\ncommand = "x"\n\n[[things]]\na = 1\n',
}


@pytest.mark.parametrize("text", _TOML.values(), ids=_TOML)
def test_a_toml_table_comes_and_goes(text: str) -> None:
    with_table = set_toml(text, "mcp_servers.memex", ['command = "memex"', 'args = ["mcp"]'])
    parsed = tomllib.loads(with_table)
    assert parsed["mcp_servers"].pop("memex") == {"command": "memex", "args": ["mcp"]}
    expected = tomllib.loads(text)
    assert parsed == {"mcp_servers": {}, **expected}
    assert set_toml(with_table, "mcp_servers.memex", ["x = 1"]).count("[mcp_servers.memex]") == 1
    assert remove_toml(with_table, "mcp_servers.memex") == (text if text.endswith("\n") or not text else text + "\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "added",
    ["# user edit after\n", '\n# 别动 さわらないで ----\n[mcp_servers.other]\ncommand = "y"\n', "\n\n\n[x]\na = 1\n"],
)
def test_what_somebody_adds_behind_the_table_stays(added: str, end: str) -> None:
    before, added = f"a = 1{end}", added.replace("\n", end)
    with_table = set_toml(before, "mcp_servers.memex", ['command = "memex"', 'args = [\n  # ours\n  "mcp",\n]'])
    assert end == "\n" or "memex]\r\n" in with_table
    assert remove_toml(with_table + added, "mcp_servers.memex") == before + added


def test_tables_below_ours_go_with_it() -> None:
    text = '[mcp_servers.memex]\ncommand = "m"\n\n[mcp_servers.memex.env]\nA = "1"\n\n[other]\nb = 2\n'
    assert remove_toml(text, "mcp_servers.memex") == "[other]\nb = 2\n"
