"""The one table from errors to answers."""

from __future__ import annotations

import json

import pytest

import memex.protocol.errors as tree
from memex.protocol.errors import MemexError
from memex_server.http.errors import STATUS_OF, HttpProblem, InvalidRequest, clip, problem_of


def every_kind(kind: type[MemexError] = MemexError) -> set[type[MemexError]]:
    own = {kind} if kind.__module__ == tree.__name__ else set()
    return own.union(*(every_kind(child) for child in kind.__subclasses__()))


def test_every_kind_of_error_has_a_status_and_the_most_specific_comes_first() -> None:
    kinds = [kind for kind, _ in STATUS_OF]

    assert every_kind() <= set(kinds)
    for n, kind in enumerate(kinds):
        assert not any(issubclass(later, kind) for later in kinds[n + 1 :])


def test_an_unknown_error_tells_nothing_of_itself() -> None:
    problem = problem_of(KeyError("the memory text"))

    assert (problem.status, problem.code) == (500, "internal")
    assert "memory text" not in json.dumps(problem.document())


def test_a_refusal_of_http_keeps_its_headers() -> None:
    problem = problem_of(HttpProblem(405, "no", headers=[(b"allow", b"GET")]))

    assert (problem.status, problem.code, problem.headers) == (405, "method_not_allowed", [(b"allow", b"GET")])
    assert problem.document()["title"] == "Method Not Allowed"


@pytest.mark.parametrize(
    ("errors", "detail"),
    [
        ([{"field": "a.b", "message": "is required"}], "a.b: is required"),
        ([{"field": "", "message": "is not JSON"}], "is not JSON"),
        ([{"field": "a", "message": "x"}, {"field": "b", "message": "y"}], "a: x (and 1 more)"),
    ],
)
def test_the_detail_names_the_first_fault(errors: list[dict[str, str]], detail: str) -> None:
    assert problem_of(InvalidRequest(errors)).detail == detail


@pytest.mark.parametrize(
    ("text", "clipped"),
    [
        ("short", "short"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("東" * 100, "東" * 79 + "…"),
        ("half \ud800 of it", "half ? of it"),
    ],
)
def test_an_echo_is_short_and_valid_unicode(text: str, clipped: str) -> None:
    assert clip(text) == clipped


def test_a_message_with_half_a_character_becomes_an_answer() -> None:
    answer = problem_of(tree.InvalidInput("bad \ud800", field="\udfff")).answer()

    assert json.loads(answer.body)["errors"] == [{"field": "?", "message": "bad ?"}]
