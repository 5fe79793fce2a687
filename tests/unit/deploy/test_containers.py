"""The container files say what they must; no container engine is needed to see it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

_INSTRUCTIONS = set(
    "FROM RUN COPY ENV ARG USER WORKDIR EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD LABEL VOLUME SHELL".split()
)
_SECRET = re.compile(r"(?i)(password|passwd|secret|token|api_?key)")


def instructions(text: str) -> list[tuple[str, str]]:
    """Read a Dockerfile: comments dropped, continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found = []
    for line in joined.splitlines():
        name, _, rest = line.partition(" ")
        found.append((name, rest.strip()))
    return found


@pytest.fixture(scope="module")
def deploy(checkout: Path) -> Path:
    return checkout / "deploy"


@pytest.fixture(scope="module")
def dockerfile(deploy: Path) -> list[tuple[str, str]]:
    return instructions((deploy / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def compose(deploy: Path) -> dict[str, Any]:
    parsed = yaml.safe_load((deploy / "compose.yaml").read_text(encoding="utf-8"))
    assert isinstance(parsed, dict)
    return parsed


@pytest.fixture(scope="module")
def services(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = compose["services"]
    assert isinstance(found, dict)
    return found


def test_every_line_of_the_dockerfile_is_an_instruction(dockerfile: list[tuple[str, str]]) -> None:
    assert {name for name, _ in dockerfile} <= _INSTRUCTIONS
    assert all(rest for _, rest in dockerfile)
    for name, rest in dockerfile:
        if name in {"ENTRYPOINT", "CMD"}:
            assert all(isinstance(word, str) for word in json.loads(rest))


def test_the_image_is_built_in_stages_from_pinned_bases(dockerfile: list[tuple[str, str]]) -> None:
    bases = [rest for name, rest in dockerfile if name == "FROM"]
    assert len(bases) == 2
    for base in bases:
        assert re.match(r"python:3\.\d+-slim-\w+( AS \w+)?$", base), base


def test_the_image_installs_by_hash_and_makes_the_model_at_build(dockerfile: list[tuple[str, str]]) -> None:
    runs = [rest for name, rest in dockerfile if name == "RUN"]
    installs = [run for run in runs if "pip install" in run]
    assert installs
    assert all("--require-hashes" in run or "--no-deps --no-build-isolation" in run for run in installs)
    assert any(run.endswith("memex setup") for run in runs)


def test_the_service_runs_as_an_ordinary_user_and_is_watched(dockerfile: list[tuple[str, str]]) -> None:
    final = dockerfile[max(i for i, (name, _) in enumerate(dockerfile) if name == "FROM") :]
    names = [name for name, _ in final]
    user = next(rest for name, rest in final if name == "USER")
    assert re.match(r"[1-9]\d*:[1-9]\d*$", user)
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert "/health/ready" in next(rest for name, rest in final if name == "HEALTHCHECK")
    assert "RUN" not in names[names.index("USER") :]


def test_the_health_check_of_the_image_is_a_program(dockerfile: list[tuple[str, str]]) -> None:
    check = next(rest for name, rest in dockerfile if name == "HEALTHCHECK")
    command = json.loads(check[check.index("CMD") + 3 :])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "healthcheck", "exec")


def test_no_secret_is_baked_into_the_image(dockerfile: list[tuple[str, str]]) -> None:
    for name, rest in dockerfile:
        if name in {"ENV", "ARG", "LABEL"}:
            assert not _SECRET.search(rest), rest
        if name in {"COPY", "RUN"}:
            assert ".env" not in rest.split()


def test_all_that_is_copied_exists_and_is_let_into_the_build(checkout: Path, dockerfile: list[tuple[str, str]]) -> None:
    ignore = (checkout / "deploy/Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    for name, rest in dockerfile:
        if name != "COPY" or "--from" in rest:
            continue
        for source in rest.split()[:-1]:
            assert (checkout / source).exists(), source
            assert f"!{source}" in ignore, source


def test_the_stack_has_the_four_services(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == {"api", "postgres", "prometheus", "grafana"}


def test_images_are_pinned(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        if "build" not in service:
            assert re.search(r":v?\d+\.\d+", service["image"]), name


def test_ports_are_published_on_loopback_only(services: dict[str, dict[str, Any]]) -> None:
    published = {name: service.get("ports", []) for name, service in services.items()}
    for ports in published.values():
        for port in ports:
            assert re.match(r"127\.0\.0\.1:(\d+):\1$", port), port
    assert published["postgres"] == []
    assert {name: ports[0].rsplit(":")[-1] for name, ports in published.items() if ports} == {
        "api": "8000",
        "prometheus": "9090",
        "grafana": "3000",
    }


def test_each_service_waits_for_what_it_needs_and_says_when_it_is_well(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert service["restart"] == "unless-stopped"
        if name != "api":  # its check is in the image
            assert service["healthcheck"]["test"][0] == "CMD"
        for needed, how in service.get("depends_on", {}).items():
            assert needed in services
            assert how["condition"] in {"service_healthy", "service_started"}
    assert services["api"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_mounted_files_exist_and_volumes_are_declared(
    deploy: Path, compose: dict[str, Any], services: dict[str, dict[str, Any]]
) -> None:
    used = set()
    for service in services.values():
        for volume in service.get("volumes", []):
            source, target = volume.split(":")[:2]
            assert target.startswith("/")
            if source.startswith("./"):
                assert (deploy / source).exists(), source
                assert volume.endswith(":ro"), volume
            else:
                used.add(source)
    assert used == set(compose["volumes"])


def test_the_database_keeps_its_data_where_the_image_has_it(services: dict[str, dict[str, Any]]) -> None:
    image = services["postgres"]["image"]
    major = int(re.search(r"-pg(\d+)", image).group(1))  # type: ignore[union-attr]
    home = "/var/lib/postgresql" if major >= 18 else "/var/lib/postgresql/data"
    assert f"postgres-data:{home}" in services["postgres"]["volumes"]


def test_every_password_can_be_replaced_and_only_trial_ones_are_written(services: dict[str, dict[str, Any]]) -> None:
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            if _SECRET.search(name):
                assert re.match(r"\$\{[A-Z_]+:-(memex|postgres|admin)\}$", value), name
    assert "${MEMEX_DB_PASSWORD" in services["api"]["environment"]["DATABASE_URL"]


def test_every_setting_of_the_api_is_known(services: dict[str, dict[str, Any]]) -> None:
    from memex_server.settings import describe

    known = {name for row in describe() for name in row["names"]}
    assert set(services["api"]["environment"]) <= known


def test_the_service_is_no_superuser_of_its_database(deploy: Path, services: dict[str, dict[str, Any]]) -> None:
    script = (deploy / "postgres/init.sh").read_text(encoding="utf-8")
    role = re.search(r"CREATE ROLE (\w+) (.+) PASSWORD :'password'", script)
    assert role is not None
    assert "NOSUPERUSER" in role[2]
    assert "NOBYPASSRLS" in role[2]
    assert services["api"]["environment"]["DATABASE_URL"].startswith(f"postgresql://{role[1]}:")
    assert "CREATE EXTENSION IF NOT EXISTS vector" in script


@pytest.mark.parametrize("script", ["deploy/postgres/init.sh", ".ci/run"])
def test_shell_scripts_parse_and_may_be_run(checkout: Path, script: str) -> None:
    path = checkout / script
    shell = "bash" if "bash" in path.read_text(encoding="utf-8").splitlines()[0] else "sh"
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, timeout=10, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.stat().st_mode & 0o111


def test_the_image_installs_the_very_versions_that_were_tested(checkout: Path) -> None:
    def pins(name: str) -> set[str]:
        return set(re.findall(r"^([a-z0-9.-]+==\S+)", (checkout / name).read_text(encoding="utf-8"), re.MULTILINE))

    image, tested = pins("deploy/requirements.lock"), pins("requirements.lock")
    assert len(image) > 20
    assert image <= tested
    assert not {pin for pin in image if pin.startswith(("pytest", "locust", "ruff", "mypy="))}
