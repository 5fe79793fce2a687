"""A memory backend in memory, which keeps the contract of the real ones."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import cast

from ..core.recall import keyword_key, recall_score, registered_relevance
from ..core.text import content_hash, sentences, terms
from ..protocol.backend import Backend
from ..protocol.errors import NotFound
from ..protocol.models import (
    PROTOCOL_VERSION,
    SUPERSEDES,
    ExtractRequest,
    ExtractResult,
    Group,
    Health,
    Level,
    Link,
    LinkRequest,
    LinkResult,
    LmPolicy,
    PreExtracted,
    RecallMode,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
)

__all__ = ["FakeBackend"]

_HALF_LIFE_DAYS = 30.0
_DAY_S = 86_400


class FakeBackend(Backend):
    """Keeps records in a dict. Facts are the sentences of a text; `failure`, when set, is raised by every call."""

    name = "fake"

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.failure: Exception | None = None
        self.records: dict[str, Record] = {}
        self.links: dict[tuple[str, str, str], Link] = {}
        self._clock = clock
        self._ids: dict[tuple[Level, bytes], str] = {}
        self._waiting: dict[str, None] = {}
        self._superseded: set[str] = set()
        self._count = itertools.count(1)
        self._lock = threading.RLock()

    def health(self) -> Health:
        """See `Backend`."""
        self._fail()
        return Health(status="ok", version="0", protocol=PROTOCOL_VERSION)

    def store(self, request: StoreRequest) -> StoreResult:
        """See `Backend`."""
        self._fail()
        with self._lock:
            key = (request.level, content_hash(request.text))
            known = self.records.get(self._ids.get(key, ""))
            fresh = self._fresh(request)
            record = fresh if known is None or known.memory_id in self._superseded else _renewed(known, fresh)
            self._ids[key] = record.memory_id
            self.records[record.memory_id] = record
            wanted = request.lm_policy is LmPolicy.FORCE or (
                request.lm_policy is LmPolicy.AUTO and request.level is Level.RAW and not request.pre_extracted
            )
            if record is fresh and wanted:
                self._waiting[record.memory_id] = None
            return StoreResult(memory_id=record.memory_id, level=record.level, deduplicated=record is not fresh)

    def _recall(self, request: RecallRequest) -> RecallResult:
        self._fail()
        found = [scored for record in self.records.values() if (scored := self._scored(record, request)) is not None]
        # Stable sorts, the last criterion first.
        found.sort(key=lambda r: r.memory_id)
        found.sort(key=lambda r: cast(datetime, r.created_at), reverse=True)
        found.sort(key=lambda r: cast(float, r.score), reverse=True)
        best = found[: request.top_k]
        groups: tuple[Group, ...] = ()
        if request.mode is RecallMode.CLUSTER:
            topics = dict.fromkeys(record.topic for record in best)
            groups = tuple(Group(key=t, records=tuple(r for r in best if r.topic == t)) for t in topics)
        return RecallResult(records=tuple(best), groups=groups)

    def get(self, memory_id: str) -> Record:
        """See `Backend`."""
        self._fail()
        record = self._one(memory_id)
        links = [link for link in self.links.values() if memory_id in {link.from_id, link.to_id}]
        return dataclasses.replace(record, links=tuple(links))

    def link(self, request: LinkRequest) -> LinkResult:
        """See `Backend`."""
        self._fail()
        for memory_id in (request.from_id, request.to_id):
            self._one(memory_id)
        key = (request.from_id, request.to_id, request.relation)
        known = self.links.get(key)
        link_id = known.link_id if known else f"link-{next(self._count)}"
        self.links[key] = Link(
            link_id=link_id,
            from_id=request.from_id,
            to_id=request.to_id,
            relation=request.relation,
            weight=request.weight,
        )
        if request.relation == SUPERSEDES:
            self._superseded.add(request.to_id)
        return LinkResult(link_id=link_id, created=known is None)

    def extract(self, request: ExtractRequest) -> ExtractResult:
        """See `Backend`."""
        self._fail()
        taken = [self._one(i).memory_id for i in request.memory_ids] or list(self._waiting)[: request.limit]
        facts: dict[str, None] = {}
        gave = 0
        for memory_id in taken:
            self._waiting.pop(memory_id, None)
            found = list(_facts(self.records[memory_id]))
            gave += bool(found)
            for fact in found:
                stored = self.store(fact)
                self.link(LinkRequest(from_id=stored.memory_id, to_id=memory_id, relation="extracted_from"))
                facts[stored.memory_id] = None
        return ExtractResult(claimed=len(taken), extracted=gave, facts=tuple(facts))

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _one(self, memory_id: str) -> Record:
        try:
            return self.records[memory_id]
        except KeyError as e:
            raise NotFound(f"there is no record {memory_id[:80]}") from e

    def _fresh(self, request: StoreRequest) -> Record:
        return Record(
            memory_id=f"fake-{next(self._count):04}",
            content=request.text,
            level=request.level,
            topic=request.topic,
            keywords=request.keywords,
            occurred_at=request.occurred_at,
            created_at=self._clock(),
            source_type=request.source_type,
            tags=request.tags,
            payload=dict(request.payload),
        )

    def _scored(self, record: Record, request: RecallRequest) -> Record | None:
        occurred_at = cast(datetime, record.occurred_at)
        if (
            record.memory_id in self._superseded
            or not set(request.dimensions) <= {record.topic, *record.tags}
            or (request.time_from and occurred_at < request.time_from)
            or (request.time_to and occurred_at >= request.time_to)
        ):
            return None
        held = set(terms(record.content))
        asked = {term for text in (*request.keywords, request.query) for term in terms(text)}
        keys = frozenset(keyword_key(keyword) for keyword in record.keywords)
        relevance = max(
            registered_relevance(keys, request.keywords, request.query), len(held & asked) / len(asked) if asked else 0
        )
        if relevance == 0:
            return None
        age_days = (self._clock() - occurred_at).total_seconds() / _DAY_S
        return dataclasses.replace(record, score=recall_score(relevance, age_days, _HALF_LIFE_DAYS))


def _renewed(known: Record, again: Record) -> Record:
    return dataclasses.replace(
        known,
        topic=known.topic or again.topic,
        keywords=_joined(known.keywords, again.keywords),
        tags=_joined(known.tags, again.tags),
        payload={**known.payload, **again.payload},
        occurred_at=max(cast(datetime, known.occurred_at), cast(datetime, again.occurred_at)),
    )


def _joined(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*first, *second]))


def _facts(source: Record) -> Iterable[StoreRequest]:
    for sentence in sentences(source.content):
        text = sentence.strip()
        if text:
            yield StoreRequest(
                content=text,
                occurred_at=cast(datetime, source.occurred_at),
                level=Level.FACT,
                lm_policy=LmPolicy.SKIP,
                pre_extracted=PreExtracted(content=text, keywords=terms(text)[:8]),
            )
