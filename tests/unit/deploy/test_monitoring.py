"""Prometheus scrapes the service, and every panel asks for metrics that it really has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from memex_server.metrics import Metrics

_LE = "le"
# Words of PromQL that look like names.
_WORDS = {"sum", "by", "rate", "increase", "histogram_quantile", "le"}


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """Every sample name that the service exposes, with its labels."""
    metrics = Metrics()
    metrics.request_started()
    metrics.request_finished("GET", "/health", 200, 0.01)
    metrics.embedded("query", 1, 0.01)
    metrics.embedding_failed("passage", "timeout")
    metrics.cache_looked_up(hits=1, misses=1)
    metrics.operation("search", "ok")
    metrics.pool(active=1, idle=1)
    metrics.rate_limited("write")
    metrics.search_stage("embed", 0.01)
    metrics.consolidated("condensed", 50, 0.01)
    text = metrics.render()[0].decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.fixture(scope="module")
def dashboard(checkout: Path) -> dict[str, Any]:
    parsed = json.loads((checkout / "deploy/grafana/dashboards/memex.json").read_text(encoding="utf-8"))
    assert isinstance(parsed, dict)
    return parsed


@pytest.fixture(scope="module")
def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    found = dashboard["panels"]
    assert isinstance(found, list)
    return found


def names_in(query: str) -> set[str]:
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)", "", query)
    return set(re.findall(r"[a-z_][a-z0-9_]+", bare)) - _WORDS


def breaches(query: str, legend: str, known: dict[str, set[str]]) -> list[str]:
    """Say what is wrong with one query: names, labels, brackets, the legend."""
    found = [f"unknown metric {name}" for name in sorted(names_in(query) - set(known))]
    found += [f"unbalanced {pair}" for pair in ("()", "{}", "[]") if query.count(pair[0]) != query.count(pair[1])]
    labels = set().union(*(known.get(name, set()) for name in names_in(query)))
    matched = {m for part in re.findall(r"\{([^}]*)\}", query) for m in re.findall(r"(\w+)\s*(?:=~|!=|=)", part)}
    grouped = {g.strip() for part in re.findall(r"by \(([^)]*)\)", query) for g in part.split(",")}
    found += [f"unknown label {label}" for label in sorted((matched | grouped) - labels)]
    shown = set(re.findall(r"\{\{(\w+)\}\}", legend))
    found += [f"legend shows {label}, which the query drops" for label in sorted(shown - grouped)]
    if "histogram_quantile" in query and _LE not in grouped:
        found.append("a quantile without le")
    found += [
        f"{name} is a counter and needs a rate"
        for name in names_in(query)
        if name.endswith("_total") and "[" not in query
    ]
    return found


def test_every_query_asks_for_metrics_and_labels_that_exist(
    panels: list[dict[str, Any]], known: dict[str, set[str]]
) -> None:
    found = {
        f"{panel['title']}: {target['expr']}": breaches(target["expr"], target["legendFormat"], known)
        for panel in panels
        for target in panel["targets"]
    }
    assert len(found) >= 12
    assert {query: complaints for query, complaints in found.items() if complaints} == {}


@pytest.mark.parametrize(
    ("query", "legend"),
    [
        ("sum(rate(memex_unheard_of_total[5m]))", "x"),
        ("sum by (user) (rate(http_requests_total[5m]))", "{{user}}"),
        ('rate(http_requests_total{user="x"}[5m])', "x"),
        ("sum(rate(http_requests_total[5m])", "x"),
        ("sum(rate(http_requests_total[5m]))", "{{handler}}"),
        ("histogram_quantile(0.5, sum by (handler) (rate(http_request_duration_seconds_bucket[5m])))", "x"),
        ("sum(http_requests_total)", "x"),
    ],
)
def test_a_wrong_query_is_found(query: str, legend: str, known: dict[str, set[str]]) -> None:
    assert breaches(query, legend, known) != []


@pytest.mark.parametrize(
    "needed",
    [
        {"http_requests_total"},
        {"http_request_duration_seconds_bucket"},
        {"memex_embedding_duration_seconds_bucket"},
        {"memex_operations_total"},
        {"memex_db_pool_connections"},
        {"memex_consolidated_memories_total"},
        {"memex_consolidation_runs_total"},
        {"memex_embedding_errors_total"},
        {"memex_embedding_cache_total"},
        {"memex_embedding_batch_size_sum", "memex_embedding_batch_size_count"},
        {"memex_rate_limited_total"},
    ],
    ids=min,
)
def test_the_dashboard_shows(needed: set[str], panels: list[dict[str, Any]]) -> None:
    assert any(needed <= names_in(target["expr"]) for panel in panels for target in panel["targets"])


@pytest.mark.parametrize("metric", ["http_request_duration_seconds", "memex_embedding_duration_seconds"])
@pytest.mark.parametrize("quantile", ["0.5", "0.99"])
def test_latencies_are_shown_as_median_and_worst(metric: str, quantile: str, panels: list[dict[str, Any]]) -> None:
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    assert any(f"histogram_quantile({quantile}," in query and metric in query for query in queries)


def test_creates_searches_and_deletes_have_a_line_each(panels: list[dict[str, Any]]) -> None:
    lines = [{t["legendFormat"] for t in panel["targets"]} for panel in panels]
    assert {"create", "search", "delete"} in lines


def test_operations_are_asked_for_by_the_names_that_the_service_reports(
    checkout: Path, panels: list[dict[str, Any]]
) -> None:
    sources = [path.read_text(encoding="utf-8") for path in (checkout / "src/memex_server").glob("service*.py")]
    operations = set(re.findall(r'\.operation\(\s*"(\w+)"', "\n".join(sources)))
    outcomes = set(re.findall(r'"(\w+)"', "\n".join(sources)))
    assert operations
    queries = [t["expr"] for panel in panels for t in panel["targets"] if "memex_operations_total" in t["expr"]]
    assert len(queries) == 3
    for query in queries:
        assert set(re.findall(r'operation="(\w+)"', query)) <= operations, query
        assert set(re.findall(r'outcome="(\w+)"', query)) <= outcomes, query


def test_panels_lie_beside_each_other_and_are_told_apart(panels: list[dict[str, Any]]) -> None:
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_dashboard_finds_its_provisioned_data_source(checkout: Path, panels: list[dict[str, Any]]) -> None:
    provisioning = checkout / "deploy/grafana/provisioning"
    sources = yaml.safe_load((provisioning / "datasources/prometheus.yaml").read_text(encoding="utf-8"))["datasources"]
    assert [source["url"] for source in sources] == ["http://prometheus:9090"]
    uids = {source["uid"] for source in sources}
    assert {panel["datasource"]["uid"] for panel in panels} == uids
    assert {target["datasource"]["uid"] for panel in panels for target in panel["targets"]} == uids


def test_grafana_reads_dashboards_where_compose_mounts_them(checkout: Path) -> None:
    compose = yaml.safe_load((checkout / "deploy/compose.yaml").read_text(encoding="utf-8"))
    provider = checkout / "deploy/grafana/provisioning/dashboards/memex.yaml"
    path = yaml.safe_load(provider.read_text(encoding="utf-8"))["providers"][0]["options"]["path"]
    grafana = compose["services"]["grafana"]
    assert f"./grafana/dashboards:{path}:ro" in grafana["volumes"]
    assert grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] == f"{path}/memex.json"


def test_prometheus_scrapes_the_service_of_the_compose_file(checkout: Path) -> None:
    config = yaml.safe_load((checkout / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8"))
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    assert jobs["memex"]["metrics_path"] == "/metrics"
    assert jobs["memex"]["static_configs"] == [{"targets": ["api:8000"]}]
