"""The same commands on the memory of the Hermes plugin, wherever its settings say that it is."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from ..config import Config, home_folder, load
from ..extract.rules import entity_words
from ..hermes.assembly import open_backend
from ..hermes.status import render, report
from ..protocol.backend import Backend
from ..protocol.documents import record_document, store_result_document
from ..protocol.errors import InvalidInput
from ..protocol.models import Level, LmPolicy, PreExtracted, RecallRequest, Record, StoreRequest
from ..transport.retry import Retry
from .output import one_line, print_json, print_table, safe

__all__ = ["COMMANDS"]

_SERVICE_ONLY = ("user", "agent", "type", "importance", "metadata", "alpha", "mode", "explain")


def _status(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    found = report(_config(env))
    print_json(found) if options.json else print(safe(render(found)))
    return 0 if found["backend"]["status"] == "ok" else 4


def _health(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    with _opened(env) as backend:
        health = backend.health()
    shown = {"status": health.status, "backend": backend.name, "version": health.version, "protocol": health.protocol}
    print_json({**shown, "detail": health.detail}) if options.json else print(
        "  ".join(safe(v) for v in shown.values())
    )
    return 0 if health.ok else 4


def _search(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    _refuse_service_only(options)
    request = RecallRequest(
        keywords=options.query,
        query=" ".join(options.query),
        top_k=options.top_k,
        dimensions=options.tag,
        time_from=_moment("--from", options.time_from),
        time_to=_moment("--to", options.time_to),
    )
    with _opened(env) as backend:
        records = backend.recall(request).records
    if options.json:
        print_json({"results": [record_document(record) for record in records], "total": len(records)})
        return 0
    for rank, record in enumerate(records, 1):
        score = "     " if record.score is None else f"{record.score:.3f}"
        print(f"{rank:>2}  {score}  {_day(record)}  {record.level}  {safe(record.memory_id)}")
        print(f"    {one_line(record.content)}")
    if not records:
        print("nothing found", file=sys.stderr)
    return 0


def _store(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    _refuse_service_only(options)
    text = (sys.stdin.read() if options.text == "-" else options.text).strip()
    request = StoreRequest(
        content=text,
        occurred_at=_moment("--at", options.occurred_at) or datetime.now(UTC),
        source_type=options.source or "manual",
        level=Level.FACT,
        lm_policy=LmPolicy.SKIP,
        pre_extracted=PreExtracted(content=text, keywords=entity_words(text)),
        tags=options.tag,
        payload={"trigger": "manual"} | ({"session_id": options.session} if options.session else {}),
    )
    with _opened(env) as backend:
        stored = backend.store(request)
    if options.json:
        print_json(store_result_document(stored))
    else:
        print(f"{safe(stored.memory_id)}  {'was there' if stored.deduplicated else 'stored'}")
    return 0


def _get(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    with _opened(env) as backend:
        document = record_document(backend.get(options.id))
    if options.json:
        print_json(document)
        return 0
    print(f"{safe(document.pop('content'))}\n")
    print_table(["field", "value"], [[name, one_line(str(value))] for name, value in document.items() if value])
    return 0


COMMANDS: Mapping[str, Callable[[argparse.Namespace, Mapping[str, str]], int]] = {
    "status": _status,
    "health": _health,
    "search": _search,
    "store": _store,
    "get": _get,
}


def _refuse_service_only(options: argparse.Namespace) -> None:
    for name in _SERVICE_ONLY:
        if getattr(options, name, None):
            raise InvalidInput(f"--{name} works with the service only: name it by --url or MEMEX_URL")


def _config(env: Mapping[str, str]) -> Config:
    return load(home_folder(env), env)


@contextlib.contextmanager
def _opened(env: Mapping[str, str]) -> Iterator[Backend]:
    backend = open_backend(_config(env), retry=Retry())
    try:
        yield backend
    finally:
        backend.close()


def _moment(option: str, text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError as e:
        raise InvalidInput(f"{option} must be a time such as 2026-05-26T10:30:00Z, not {text!r}") from e


def _day(record: Record) -> str:
    return f"{record.occurred_at:%Y-%m-%d}" if record.occurred_at else "          "
