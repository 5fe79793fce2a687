"""What stays of memories of several statements when one of these ends: memories of their own, each of its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .claims import relation
from .ending import what_stays
from .lifecycle import Decision, Ending, Neighbour, starts, told_after
from .memory import Memory

__all__ = ["Rest", "rests"]

_Decide = Callable[[str, Sequence[Neighbour], datetime], Decision]


@dataclass(frozen=True, slots=True)
class Rest:
    """What is true from `since` on, until it ends, of a memory (None: of the candidate)."""

    of: Memory | None
    content: str
    since: datetime
    until: Ending | None


def rests(text: str, decision: Decision, near: Sequence[Neighbour], *, at: datetime, decide_on: _Decide) -> list[Rest]:
    """Return what stays of what ends, and of the candidate, told `at`, if it ends itself, by a decision about it.

    `decide_on` decides about a text that is true from a time on, given the memories around it, as about a candidate.
    """
    ended = {memory.id for memory in (*decision.over, *decision.parted)}
    others = [one for one in near if one.memory.id not in ended]

    def rest(of: Memory | None, content: str, told: datetime, since: datetime, latest: Ending | None) -> Rest | None:
        alike = [o.memory for o in others if relation(content, o.memory.content, near=False) in {"equal", "within"}]
        is_known = any(starts(m) <= since and (m.valid_to is None or m.valid_to > since) for m in alike)
        unlike = [one for one in others if one.memory not in alike]
        until = [end for end in (latest, decide_on(content, unlike, told).until) if end is not None]
        ending = min(until, key=lambda end: end.at, default=None)
        # It may have stayed when another part ended, as a rest of that time.
        if ending is not None and ending is latest:
            ending = next((Ending(ending.at, m.id) for m in alike if starts(m) == ending.at), ending)
        lasts = ending is None or ending.at > since
        return Rest(of, content, since, ending) if lasts and not is_known else None

    found = []
    for memory in (*decision.over, *decision.parted):
        if memory.valid_to is not None and memory.superseded_by is None:
            continue  # it had ended, and nothing says what with
        content, told = what_stays(text, memory.content), max((t for t in memory.told if t <= at), default=at)
        latest = _over(memory) if memory in decision.over else Ending(told_after(memory, at) or at, memory.id)
        if content is not None:
            found.append(rest(memory, content, told, max(at, starts(memory)), latest))
    contents = {one.memory.id: one.memory.content for one in near}
    until, stays = decision.until, text
    while until is not None and (content := what_stays(contents.get(until.by, ""), stays)) is not None:
        found.append(rest(None, content, at, until.at, None))
        until, stays = None if found[-1] is None else found[-1].until, content
    joined: dict[str, Rest] = {}
    for one in sorted((one for one in found if one is not None), key=lambda one: one.since):
        first = joined.get(one.content)  # what ended twice stays the longer
        joined[one.content] = one if first is None else replace(first, until=one.until)
    return [*joined.values()]


def _over(memory: Memory) -> Ending | None:
    at, by = memory.valid_to, memory.superseded_by
    return None if at is None or by is None else Ending(at, by)
