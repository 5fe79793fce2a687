"""What becomes of the queue: records are delivered to the backend, turns and plans become facts.

Delivery may repeat a store, because the same text is one record; extraction saves its drafts
before it stores them, so a crash in between repeats no model call and loses no fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ..protocol.backend import Backend
from ..protocol.errors import MemexError, RateLimited, SetupError, Unauthorized, Unavailable
from ..protocol.models import (
    SUPERSEDES,
    ExtractRequest,
    Level,
    LinkRequest,
    LmPolicy,
    PreExtracted,
    RecallRequest,
    StoreRequest,
)
from .queue import Entry, Lane, Queue, Status
from .types import Extractor, FactDraft, Said, store_request

__all__ = ["MAX_ATTEMPTS", "MIRROR", "PLAN", "STORE", "TURN", "Outcome", "Pipeline", "pause_s", "work_of_said"]

STORE, MIRROR = "store", "mirror"
TURN, PLAN = "turn", "plan"

MAX_ATTEMPTS = 5
_MIRRORED = 20  # records looked through for the entry that a replace or remove means
# These pass or are put right by a person; the work waits.
_OUTAGES = (Unavailable, RateLimited, Unauthorized, SetupError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one pass did. `waiting` is open work that is left; `error` is the outage that stopped it."""

    done: int = 0
    failed: int = 0
    waiting: int = 0
    facts: int = 0
    error: str = ""


def work_of_said(
    said: Sequence[Said], *, occurred_at: datetime, trigger: str, origin: Mapping[str, str]
) -> dict[str, Any]:
    """Return the data of a turn or plan entry."""
    return {
        "said": [[one.role, one.text] for one in said],
        "occurred_at": occurred_at.astimezone(UTC).isoformat(),
        "trigger": trigger,
        "origin": dict(origin),
    }


def pause_s(attempts: int) -> float:
    """Return how long an entry rests after its nth failed attempt: 1, 4, 16 minutes, then an hour."""
    return min(3600.0, 60.0 * 4.0 ** (attempts - 1))


class Pipeline:
    """Works off one queue. `extractor` is for turns, `planner` for plans; None leaves such entries for others."""

    def __init__(
        self,
        queue: Queue,
        backend: Backend,
        *,
        extractor: Extractor | None,
        planner: Extractor | None,
        source_type: str,
        clock: Callable[[], datetime],
    ) -> None:
        self._queue = queue
        self._backend = backend
        self._extractors = {TURN: extractor, PLAN: planner}
        self._source_type = source_type
        self._clock = clock

    def deliver(self, *, limit: int = 1_000, stop: Callable[[], bool] = lambda: False) -> Outcome:
        """Hand records to the backend in their order, until one meets an outage."""
        outcome = Outcome()
        with self._queue.lane("deliver", frozenset({STORE, MIRROR})) as lane:
            entries = lane.open_entries() if lane else []
            for entry in entries[:limit]:
                if lane is None or stop():
                    break
                try:
                    self._deliver(entry)
                except _OUTAGES as e:
                    if entry.error != str(e):  # the same outage is told once
                        lane.back(entry, str(e), counted=True)
                    return replace(outcome, waiting=len(entries) - outcome.done - outcome.failed, error=str(e))
                except (MemexError, ValueError, LookupError, TypeError) as e:
                    lane.failed(entry, f"{type(e).__name__}: {e}")
                    outcome = replace(outcome, failed=outcome.failed + 1)
                else:
                    lane.done(entry)
                    outcome = replace(outcome, done=outcome.done + 1)
        return replace(outcome, waiting=len(entries) - outcome.done - outcome.failed)

    def extract(self, *, limit: int = 20, stop: Callable[[], bool] = lambda: False) -> Outcome:
        """Make facts of up to `limit` turns and plans that are due."""
        kinds = frozenset(kind for kind, extractor in self._extractors.items() if extractor is not None)
        outcome = Outcome()
        with self._queue.lane("extract", kinds) as lane:
            entries = lane.open_entries() if lane else []
            due = [entry for entry in entries if self._is_due(entry)]
            for entry in due[:limit]:
                if lane is None or stop():
                    break
                done, failed, facts, error = self._extract(lane, entry)
                outcome = replace(
                    outcome, done=outcome.done + done, failed=outcome.failed + failed, facts=outcome.facts + facts
                )
                if error:
                    outcome = replace(outcome, error=error)
                    break
        return replace(outcome, waiting=len(entries) - outcome.done - outcome.failed)

    def trigger(self, *, limit: int = 20) -> None:
        """Have the backend extract from what waits there; for one that has no worker of its own."""
        self._backend.extract(ExtractRequest(limit=limit))

    def _deliver(self, entry: Entry) -> None:
        if entry.kind == MIRROR:
            self._mirror(entry.data)
            return
        for document in entry.data["requests"]:
            self._backend.store(_request(document))

    def _extract(self, lane: Lane, entry: Entry) -> tuple[int, int, int, str]:
        """Return (done, failed, facts, outage of the backend) for one entry."""
        extractor = self._extractors[entry.kind]
        if extractor is None or entry.attempts >= MAX_ATTEMPTS:
            lane.failed(entry, entry.error or f"interrupted {entry.attempts} times: the process ended while at it")
            return 0, 1, 0, ""
        entry = lane.claim(entry)
        try:
            data = entry.data
            if "drafts" not in data:
                drafts = extractor.extract([Said(str(role), str(text)) for role, text in data["said"]])
                saved = [{"content": d.content, "keywords": list(d.keywords), "topic": d.topic} for d in drafts]
                entry = lane.keep(entry, {**data, "drafts": saved, "by": extractor.name})
        except (MemexError, ValueError, LookupError, TypeError) as e:
            error = f"{extractor.name}: {e}"
            final = entry.attempts >= MAX_ATTEMPTS or not isinstance(e, MemexError)
            if final:
                lane.failed(entry, error)
            else:
                lane.back(entry, error, counted=True)
            return 0, int(final), 0, ""
        try:
            requests = list(self._facts(entry))
            for request in requests:
                self._backend.store(request)
        except _OUTAGES as e:
            lane.back(entry, str(e), counted=False)
            return 0, 0, 0, str(e)
        except (MemexError, ValueError, LookupError, TypeError) as e:
            lane.failed(entry, f"{type(e).__name__}: {e}")
            return 0, 1, 0, ""
        lane.done(entry)
        return 1, 0, len(requests), ""

    def _facts(self, entry: Entry) -> Iterator[StoreRequest]:
        for draft in entry.data["drafts"]:
            yield store_request(
                FactDraft(content=draft["content"], keywords=tuple(draft["keywords"]), topic=draft["topic"]),
                occurred_at=datetime.fromisoformat(entry.data["occurred_at"]),
                source_type=self._source_type,
                trigger=entry.data["trigger"],
                origin=entry.data["origin"],
            )

    def _is_due(self, entry: Entry) -> bool:
        """Whether an entry has rested since its last failure; one that a dead process was at has."""
        if entry.status is Status.CLAIMED or entry.attempts == 0 or not entry.last_at:
            return True
        return self._clock() >= datetime.fromisoformat(entry.last_at) + timedelta(seconds=pause_s(entry.attempts))

    def _mirror(self, data: Mapping[str, Any]) -> None:
        """Do in long-term memory what was done in the host's own: replaced and removed entries are superseded."""
        old = self._mirrored(data) if data["action"] in {"replace", "remove"} else []
        if data["action"] == "remove" and not old:
            return
        removed = data["action"] == "remove"  # a note of the removal is what supersedes; it holds none of the words
        request = StoreRequest(
            content=f"Removed from {data['target']} on {data['occurred_at']}" if removed else data["content"],
            occurred_at=datetime.fromisoformat(data["occurred_at"]),
            source_type="builtin",
            level=Level.META if removed else Level.FACT,
            lm_policy=LmPolicy.SKIP,
            payload={**data["origin"], "trigger": "manual", "mirror": "" if removed else data["target"]},
        )
        stored = self._backend.store(request)
        for memory_id in old:
            if memory_id != stored.memory_id:
                self._backend.link(LinkRequest(from_id=stored.memory_id, to_id=memory_id, relation=SUPERSEDES))

    def _mirrored(self, data: Mapping[str, Any]) -> list[str]:
        """Return the ids of mirrored entries that an old text, or a part of it, means."""
        whole, part = data.get("previous_content") or "", data.get("old_text") or ""
        if not whole and not part:
            return []
        found = self._backend.recall(RecallRequest(query=(whole or part)[:2_000], top_k=_MIRRORED)).records
        return [
            record.memory_id
            for record in found
            if record.payload.get("mirror") == data["target"]
            and (record.content == whole if whole else part in record.content)
        ]


def _request(document: Mapping[str, Any]) -> StoreRequest:
    """Return the request that `protocol.documents.store_document` wrote into the queue."""
    pre = document.get("pre_extracted")
    return StoreRequest(
        content=document["content"],
        occurred_at=datetime.fromisoformat(document["occurred_at"]),
        source_type=document["source_type"],
        level=Level(document["level"]),
        pre_extracted=PreExtracted(**pre) if pre else None,
        lm_policy=LmPolicy(document["lm_policy"]),
        tags=document["tags"],
        payload=document["payload"],
    )
