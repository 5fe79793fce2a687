"""`memex search`, `store`, `get`, `delete`, `list`, `count`, `health`: one call of the service each."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.memory import Hit, Memory, MemoryType, SearchMode
from ..protocol.errors import InvalidInput
from ..rest import memory_document
from .options import add_call, agent_of, json_object, user_of
from .output import explained, one_line, print_json, print_table, safe

if TYPE_CHECKING:
    from ..client import Memex

__all__ = ["add_memory_commands"]

_TYPES = [kind.value for kind in MemoryType]


def add_memory_commands(commands: Any, env: Mapping[str, str]) -> None:
    """Add the commands to a parser's subcommands; `env` is where their settings come from."""
    add = functools.partial(add_call, commands, env)
    search = add(
        "search",
        _search,
        "find memories, best first",
        more=" Words are one query: no quotes are needed.",
        with_plugin=True,
    )
    search.add_argument("query", nargs="+", metavar="WORD", help="what to look for")
    search.add_argument("--top-k", type=int, default=10, metavar="N", help="how many at most (default 10)")
    search.add_argument("--mode", choices=[mode.value for mode in SearchMode], help="(default hybrid)")
    search.add_argument("--alpha", type=float, help="the plain formula: alpha * cosine + (1 - alpha) * recency")
    search.add_argument("--explain", action="store_true", help="show how each score came about")
    _add_filters(search)
    search.add_argument("--from", dest="time_from", metavar="TIME", help="only what happened at or after it")
    search.add_argument("--to", dest="time_to", metavar="TIME", help="only what happened before it")

    store = add("store", _store, "store one memory, or count the repeat of one that is there", with_plugin=True)
    store.add_argument("text", help="the text; - reads it from standard input")
    store.add_argument("--type", choices=_TYPES, help="(default episodic)")
    store.add_argument("--importance", type=float, help="0 to 2 (default 1)")
    store.add_argument("--tag", action="append", default=[], help="may be repeated")
    store.add_argument("--metadata", type=json_object, metavar="JSON", help="an object of your own (service only)")
    store.add_argument("--source", help="where it comes from")
    store.add_argument("--session", help="the conversation that it belongs to")
    store.add_argument("--at", dest="occurred_at", metavar="TIME", help="when it happened (default: now)")

    get = add("get", _get, "show one memory", more=" Exit status 3 if it is not there.", with_plugin=True)
    get.add_argument("id")

    delete = add("delete", _delete, "delete one memory", more=" It can be restored for 30 days, unless purged.")
    delete.add_argument("id")
    delete.add_argument("--purge", action="store_true", help="erase it at once and for good, with a receipt")

    listing = add("list", _list, "list memories, newest first")
    listing.add_argument("--limit", type=int, default=50, metavar="N", help="how many at most (default 50; 0: all)")
    listing.add_argument("--state", choices=("live", "deleted", "all"), default="live", help="(default live)")
    _add_filters(listing)

    add("count", _count, "count a user's live memories")
    add(
        "health",
        _health,
        "ask whether the service and its parts are well",
        more=" Exit status 4 if not.",
        with_plugin=True,
    )


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--type", choices=_TYPES, help="only memories of this type")
    parser.add_argument("--tag", action="append", default=[], help="only memories with this tag; may be repeated")


def _search(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    given = {name: getattr(options, name) for name in ("mode", "alpha", "time_from", "time_to")}
    hits = client.search(
        " ".join(options.query),
        user_id=user_of(options, env),
        agent_id=options.agent,
        top_k=options.top_k,
        explain=options.explain,
        memory_type=options.type,
        tags=options.tag,
        **given,
    )
    if options.json:
        results = [_hit_document(hit) for hit in hits]
        print_json({"results": results, "query": " ".join(options.query), "total": len(hits)})
        return 0
    for rank, hit in enumerate(hits, 1):
        shown = hit.highlight or hit.memory.content
        print(f"{rank:>2}  {hit.score:.3f}  {hit.memory.occurred_at:%Y-%m-%d}  {hit.memory.id}\n    {one_line(shown)}")
        if hit.explanation is not None:
            _print_explanation(hit.explanation)
    if not hits:
        print("nothing found", file=sys.stderr)
    return 0


def _print_explanation(explanation: Mapping[str, Any]) -> None:
    found_by = ", ".join(explanation.get("arms") or ()) or "what stands beside it"
    cosine = explanation.get("cosine")
    similar = "" if cosine is None else f", cosine {cosine:.3f}"
    terms = ", ".join(safe(term) for term in explanation.get("terms") or ()) or "none"
    print(f"    found by {found_by}{similar}; mode {explanation.get('mode')}; terms {terms}")
    print_table(["", "value", "weight", "share"], explained(explanation), indent="    ")


def _store(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    text = sys.stdin.read() if options.text == "-" else options.text
    stored = client.store(
        text.strip("\n"),
        user_id=user_of(options, env),
        agent_id=agent_of(options, env),
        memory_type=options.type or "episodic",
        importance=1.0 if options.importance is None else options.importance,
        tags=options.tag,
        metadata=options.metadata or {},
        source=options.source,
        session_id=options.session,
        occurred_at=options.occurred_at,
    )
    memory = stored.memory
    if options.json:
        print_json({"created": stored.created, **memory_document(memory)})
    else:
        print(f"{memory.id}  {'stored' if stored.created else f'was there, told {memory.occurrences} times'}")
    return 0


def _get(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    memory = client.get(options.id, user_id=user_of(options, env))
    print_json(memory_document(memory)) if options.json else _print_memory(memory)
    return 0


def _delete(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    receipt = client.delete(options.id, user_id=user_of(options, env), purge=options.purge)
    sha256 = None if receipt is None else receipt.content_sha256
    if options.json:
        print_json({"id": options.id, "purged": sha256 is not None, "content_sha256": sha256})
    else:
        print(f"{safe(options.id)}  {'deleted' if sha256 is None else f'purged, sha256 {sha256}'}")
    return 0


def _list(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    if options.limit < 0:
        raise InvalidInput("--limit must be 0 or more")
    memories = []
    for memory in client.every(
        user_id=user_of(options, env),
        page=min(200, options.limit or 200),
        agent_id=options.agent,
        memory_type=options.type,
        tags=options.tag,
        state=options.state,
    ):
        memories.append(memory)
        if len(memories) == options.limit:
            break
    if options.json:
        print_json({"memories": [memory_document(memory) for memory in memories]})
        return 0
    for memory in memories:
        text = one_line(memory.content, 100) + ("  (deleted)" if memory.deleted_at else "")
        print(f"{memory.id}  {memory.occurred_at:%Y-%m-%d}  {memory.memory_type:<10}  {text}")
    return 0


def _count(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    user = user_of(options, env)
    count = client.count(user_id=user, agent_id=options.agent)
    print_json({"user_id": user, "agent_id": options.agent, "count": count}) if options.json else print(count)
    return 0


def _health(options: argparse.Namespace, client: Memex, _: Mapping[str, str]) -> int:
    state = client.health()
    print_json(state) if options.json else print(f"{state['status']}  memex {safe(str(state.get('version', '?')))}")
    return 0


def _hit_document(hit: Hit) -> dict[str, Any]:
    found = {"score": hit.score, **memory_document(hit.memory), "highlight": hit.highlight}
    return found | ({"explanation": hit.explanation} if hit.explanation is not None else {})


def _print_memory(memory: Memory) -> None:
    print(safe(memory.content))
    print()
    rest = {name: value for name, value in memory_document(memory).items() if name != "content" and value}
    print_table(["field", "value"], [[name, one_line(str(value))] for name, value in rest.items()])
