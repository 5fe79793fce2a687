"""The backend in this process: facts in `memex.db`, the conversation where the host keeps it.

A fact is new text and is kept whole. What was said verbatim is kept only until the host's own
store (`lcm.db`) is seen to hold it; from then on the record points there, and is verified by a
digest when it is read. Without such a store, or with one of another make, the text stays here.
"""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .._version import __version__
from ..core.recall import keyword_key, recall_score, registered_relevance
from ..core.text import content_hash
from ..extract.rules import Rules
from ..extract.types import EXTRACTION_TRIGGERS, Extractor, Said, store_request
from ..matrix.lcm import Conversations, text_digest
from ..protocol.backend import Backend
from ..protocol.errors import MemexError, NotFound
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
    RecallMode,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
)
from .database import Database
from .index import POSTINGS, asked_keys, asked_terms, choose, postings

__all__ = ["LocalBackend"]

_HALF_LIFE_DAYS = 30.0
_DAY_S = 86_400.0
_CANDIDATES = 150  # by words, of which recency then chooses
_REGISTERED = 50  # by a keyword that was named
_POINT_BATCH = 50  # raw records that are looked for in the conversation store after a store


class LocalBackend(Backend):
    """Implements `Backend` on one SQLite file, from any thread."""

    name = "local"

    def __init__(
        self,
        path: Path,
        *,
        conversations: Conversations | None = None,
        extractor: Extractor | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._db = Database(path)
        self._sql = self._db.statements
        self._conversations = conversations
        self._extractor = extractor or Rules()
        self._clock = clock

    def health(self) -> Health:
        """Open the file and count."""
        with self._db.reading() as connection:
            rows = connection.execute(self._sql["counts"]).fetchall()
        detail: dict[str, Any] = {row["level"]: dict(row) for row in rows}
        if self._conversations is not None:
            detail["conversations"] = self._conversations.state().value
        return Health(status="ok", version=__version__, protocol=PROTOCOL_VERSION, detail=detail)

    def store(self, request: StoreRequest) -> StoreResult:
        """See `Backend`. The text of a raw record leaves this file once the conversation store has it."""
        with self._db.writing() as connection:
            stored = self._store(connection, request)
        if request.level is Level.RAW:
            self.settle_pointers()
        return stored

    def _recall(self, request: RecallRequest) -> RecallResult:
        with self._db.reading() as connection:
            relevance = self._lexical(connection, request)
            registered = self._registered(connection, request)
            ids = json.dumps(list({**relevance, **dict.fromkeys(registered)}))
            rows = connection.execute(self._sql["by_id"], (ids,)).fetchall()
        best = max(relevance.values(), default=0.0) or 1.0
        now_s = self._clock().timestamp()
        scored = []
        for row in rows:
            found = relevance.get(row["id"], 0.0) / best
            if row["id"] in registered:
                keys = frozenset(keyword_key(word) for word in json.loads(row["keywords"]))
                found = max(found, registered_relevance(keys, request.keywords, request.query))
            score = recall_score(found, (now_s - row["occurred_at"]) / _DAY_S, _HALF_LIFE_DAYS)
            scored.append((score, row))
        scored.sort(key=lambda pair: (-pair[0], -pair[1]["created_at"], pair[1]["memory_id"]))
        records = self._shown(scored, request.top_k)
        groups: tuple[Group, ...] = ()
        if request.mode is RecallMode.CLUSTER:
            topics = dict.fromkeys(record.topic for record in records)
            groups = tuple(Group(key=t, records=tuple(r for r in records if r.topic == t)) for t in topics)
        return RecallResult(records=records, groups=groups)

    def get(self, memory_id: str) -> Record:
        """See `Backend`. NotFound also when the text that a record points to is gone."""
        with self._db.reading() as connection:
            row = self._row(connection, memory_id)
            edges = connection.execute(self._sql["links"], {"id": row["id"]}).fetchall()
        (text,) = self._texts([row])
        if text is None:
            raise NotFound(f"the conversation that record {memory_id} points to is gone from the host's store")
        links = tuple(Link(link_id=e[0], from_id=e[1], to_id=e[2], relation=e[3], weight=e[4]) for e in edges)
        return dataclasses.replace(_record(row, text), links=links)

    def link(self, request: LinkRequest) -> LinkResult:
        """See `Backend`."""
        with self._db.writing() as connection:
            return self._link(connection, request)

    def extract(self, request: ExtractRequest) -> ExtractResult:
        """Extract facts with the executor of this backend; a record that fails keeps its reason."""
        with self._db.reading() as connection:
            rows = (
                [self._row(connection, memory_id) for memory_id in request.memory_ids]
                if request.memory_ids
                else connection.execute(self._sql["waiting"], (request.limit,)).fetchall()
            )
        facts: dict[str, None] = {}
        failed = 0
        for row, text in zip(rows, self._texts(rows), strict=True):
            try:
                facts.update(dict.fromkeys(self._extract(row, text)))
            except MemexError as e:
                failed += 1
                with self._db.writing() as connection:
                    connection.execute(self._sql["extracted"], (str(e), row["id"]))
        return ExtractResult(claimed=len(rows), extracted=len(rows) - failed, failed=failed, facts=tuple(facts))

    def settle_pointers(self) -> int:
        """Let go of texts that the conversation store holds by now; return how many."""
        if self._conversations is None:
            return 0
        with self._db.reading() as connection:
            rows = connection.execute(self._sql["unpointed"], (_POINT_BATCH,)).fetchall()
        found = self._conversations.find_all([(r["session_id"], r["role"], r["content"]) for r in rows])
        pointed = [
            (store_id, text_digest(row["content"]), row["id"])
            for row, store_id in zip(rows, found, strict=True)
            if store_id is not None
        ]
        if pointed:
            with self._db.writing() as connection:
                connection.executemany(self._sql["point"], pointed)
        return len(pointed)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _store(self, connection: sqlite3.Connection, request: StoreRequest) -> StoreResult:
        digest = content_hash(request.text)
        known = connection.execute(self._sql["same"], (request.level, digest)).fetchone()
        if known is not None and known["superseded"]:
            # What a machine stores again does not bring back what a person took back.
            if request.payload.get("trigger") in EXTRACTION_TRIGGERS:
                return StoreResult(memory_id=known["memory_id"], level=request.level, deduplicated=True)
            known = None  # told again by a person: it holds again, as a new record
        if known is None:
            row_id, memory_id = self._insert(connection, request, digest)
            keywords = tuple(request.keywords)
        else:
            row_id, memory_id = known["id"], known["memory_id"]
            keywords = _joined(json.loads(known["keywords"]), request.keywords)
            values = (
                known["topic"] or request.topic,
                _json(keywords),
                _json(_joined(json.loads(known["tags"]), request.tags)),
                _json({**json.loads(known["payload"]), **request.payload}),
                request.occurred_at.timestamp(),
                row_id,
            )
            connection.execute(self._sql["renew"], values)
        found = postings(request.text, keywords)
        connection.executemany(self._sql["add_term"], [(term, row_id, impact) for term, impact in found.items()])
        return StoreResult(memory_id=memory_id, level=request.level, deduplicated=known is not None)

    def _insert(self, connection: sqlite3.Connection, request: StoreRequest, digest: bytes) -> tuple[int, str]:
        memory_id = str(uuid.uuid4())
        wanted = request.lm_policy is LmPolicy.FORCE or (
            request.lm_policy is LmPolicy.AUTO and request.level is Level.RAW
        )
        values = (
            memory_id,
            request.level.value,
            digest,
            request.text,
            request.topic,
            _json(request.keywords),
            _json(request.tags),
            request.source_type,
            _json(request.payload),
            str(request.payload.get("session_id") or ""),
            str(request.payload.get("role") or ""),
            request.occurred_at.timestamp(),
            self._clock().timestamp(),
            int(wanted),
        )
        return int(connection.execute(self._sql["insert"], values).lastrowid or 0), memory_id

    def _link(self, connection: sqlite3.Connection, request: LinkRequest) -> LinkResult:
        first, second = (self._row(connection, memory_id) for memory_id in (request.from_id, request.to_id))
        key = (first["id"], second["id"], request.relation)
        known = connection.execute(self._sql["same_link"], key).fetchone()
        link_id = known["link_id"] if known else str(uuid.uuid4())
        if known:
            connection.execute(self._sql["weigh_link"], (request.weight, link_id))
        else:
            connection.execute(self._sql["add_link"], (link_id, *key, request.weight, self._clock().timestamp()))
        if request.relation == SUPERSEDES and not second["superseded"]:
            connection.execute(self._sql["supersede"], (second["id"],))
            (text,) = self._texts([second])
            if text is not None:
                terms = list(postings(text, json.loads(second["keywords"])))
                values = {"record": second["id"], "terms": json.dumps(terms)}
                connection.execute(self._sql["drop_postings"], values)
        return LinkResult(link_id=link_id, created=known is None)

    def _extract(self, row: sqlite3.Row, text: str | None) -> list[str]:
        if text is None:
            raise NotFound("the conversation that this record points to is gone from the host's store")
        drafts = self._extractor.extract([Said(row["role"] or "user", text)])
        facts = []
        with self._db.writing() as connection:
            for draft in drafts:
                request = store_request(
                    draft,
                    occurred_at=datetime.fromtimestamp(row["occurred_at"], UTC),
                    source_type=row["source_type"],
                    trigger="extract",
                    origin={"session_id": row["session_id"]} if row["session_id"] else {},
                )
                fact = self._store(connection, request)
                edge = LinkRequest(from_id=fact.memory_id, to_id=row["memory_id"], relation="extracted_from")
                self._link(connection, edge)
                facts.append(fact.memory_id)
            connection.execute(self._sql["extracted"], ("", row["id"]))
        return facts

    def _lexical(self, connection: sqlite3.Connection, request: RecallRequest) -> dict[int, float]:
        """Return row id -> relevance of the best by words."""
        frequency = self._sql["document_frequency"]

        def count(term: int) -> int:
            return int(connection.execute(frequency, (term, POSTINGS + 1)).fetchone()[0])

        records = connection.execute(self._sql["records"]).fetchone()[0] or 0
        asked, too_common = choose(asked_terms(request.query, request.keywords), count, records)
        if not asked:
            return {}
        oldest = -1
        if too_common:  # of a word that is everywhere, the newest records
            found = connection.execute(self._sql["nth_newest"], (asked[0][0], POSTINGS)).fetchone()
            oldest = found[0] if found else -1
        limits = _conditions(request)
        statement = self._sql["candidates_within" if limits else "candidates"]
        values = {"asked": json.dumps(asked), "oldest": oldest, "most": _CANDIDATES, **limits}
        return {row[0]: row[1] for row in connection.execute(statement, values)}

    def _registered(self, connection: sqlite3.Connection, request: RecallRequest) -> set[int]:
        """Return row ids of records with a keyword that the request names."""
        keys = asked_keys(request.query, request.keywords)
        limits = _conditions(request)
        statement = self._sql["registered_within" if limits else "registered"]
        values = {"keys": json.dumps(keys), "most": _REGISTERED, **limits}
        return {row[0] for row in connection.execute(statement, values)}

    def _shown(self, scored: Sequence[tuple[float, sqlite3.Row]], top_k: int) -> tuple[Record, ...]:
        """Return the best records with their texts; those whose text is gone make room for the next."""
        shown: list[Record] = []
        for first in range(0, len(scored), top_k):
            part = scored[first : first + top_k]
            texts = self._texts([row for _, row in part])
            shown += [_record(row, text, score) for (score, row), text in zip(part, texts, strict=True) if text]
            if len(shown) >= top_k:
                break
        return tuple(shown[:top_k])

    def _texts(self, rows: Sequence[sqlite3.Row]) -> list[str | None]:
        """Return the text of each row, from here or from the conversation store."""
        pointed = [row for row in rows if row["content"] is None]
        texts: dict[int, str | None] = {}
        if pointed and self._conversations is not None:
            read = self._conversations.read([(row["src_store_id"], row["src_digest"]) for row in pointed])
            texts = {row["id"]: text for row, text in zip(pointed, read, strict=True)}
        return [row["content"] if row["content"] is not None else texts.get(row["id"]) for row in rows]

    def _row(self, connection: sqlite3.Connection, memory_id: str) -> sqlite3.Row:
        row: sqlite3.Row | None = connection.execute(self._sql["by_memory_id"], (memory_id,)).fetchone()
        if row is None:
            raise NotFound(f"there is no record {memory_id[:80]}")
        return row


def _conditions(request: RecallRequest) -> dict[str, Any]:
    """Return the parameters of the request's conditions; {} when it has none."""
    if not request.dimensions and request.time_from is None and request.time_to is None:
        return {}
    return {
        "time_from": request.time_from.timestamp() if request.time_from else None,
        "time_to": request.time_to.timestamp() if request.time_to else None,
        "dimensions": _json(request.dimensions),
    }


def _record(row: sqlite3.Row, text: str, score: float | None = None) -> Record:
    payload: Mapping[str, Any] = json.loads(row["payload"])
    if row["src_store_id"] is not None:
        payload = {**payload, "src_store_id": row["src_store_id"]}
    return Record(
        memory_id=row["memory_id"],
        content=text,
        score=score,
        level=Level(row["level"]),
        topic=row["topic"],
        keywords=tuple(json.loads(row["keywords"])),
        occurred_at=datetime.fromtimestamp(row["occurred_at"], UTC),
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
        source_type=row["source_type"],
        tags=tuple(json.loads(row["tags"])),
        payload=payload,
    )


def _joined(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*first, *second]))


def _json(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
