"""Signals of relevance over the candidates of one query: pure functions over columns.

Each says, for every candidate, how much speaks for it. Standardised means: mean 0 and deviation 1
over the candidates of this query, so that signals of different scales can be added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memex.core.scoring import idf, saturated
from memex.core.traits import Trait

from .ports import Candidates

__all__ = [
    "Column",
    "Days",
    "Neighbours",
    "Rows",
    "Usual",
    "fair_cosine",
    "neighbours",
    "relevance_signals",
    "standardised",
    "told_by",
    "weighted",
    "words",
]

Column = NDArray[np.float64]
Rows = NDArray[np.int64]
Days = tuple[int, int]
Usual = tuple[float, float]

# A turn lends its words to those beside it: half to the next ones, a quarter to those after (BM25F).
_LEND = (0.5, 0.25)
_WINDOW_B = 0.5  # lengths of windows differ less than lengths of turns, so they count less
# A turn of this many terms draws as much on its neighbours as on itself; a long one stands alone.
_CONTEXT_TERMS = 20.0
_MOST_REPEATS = 3.0  # of a term in the query: more is a slip or a paste, not emphasis
_LEAST_SESSIONS = 3  # with fewer, a session says nothing that its turns do not say
_USUAL_COUNTS = 8.0  # candidates that what is usual is worth
_USUAL_WORDS = (0.5, 1.5)
_USUAL_LENGTH = (3.0, 0.6)  # logarithm of terms + 5
_CHANCE = 0.25  # passages of one text are alike, so they are not as many chances as they are
_DAY_S = 86_400.0
# People tell of an event some days after it, and of "last summer" more loosely than of "9 July".
_DATE_SLACK_DAYS = 3.0
_DATE_SLACK_SHARE = 0.1
_LONG_QUERY_TERMS = 20.0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For each candidate the rows before and after it in its session, and those beyond; -1 where none.

    `session` numbers the sessions of turns from 0; -1 for what is no turn of a conversation.
    """

    before: Rows
    after: Rows
    before_2: Rows
    after_2: Rows
    session: Rows
    n_sessions: int


def standardised(column: Column, usual: Usual | None = None) -> Column:
    """Return the column with mean 0 and deviation 1; one that tells nothing becomes 0.

    `usual` is what mean and deviation usually are. It counts as much as a few candidates would, so
    that in a scope of one or two memories a number is high because it is, not because of the other.
    """
    n = len(column)
    if n == 0:
        return column
    mean = float(column.mean())
    variance = float(np.square(column - mean).mean())
    if usual is not None:
        share = told_by(n)
        mean = share * mean + (1 - share) * usual[0]
        variance = share * variance + (1 - share) * usual[1] ** 2
    return (column - mean) / math.sqrt(variance) if variance > 1e-18 else np.zeros(n)


def told_by(n: int) -> float:
    """Return how far `n` candidates tell by themselves what is usual, in [0, 1).

    In a scope of few memories all that is standardised is small, so what is not, such as recency, must be as well.
    """
    return n / (n + _USUAL_COUNTS)


def weighted(signals: Mapping[str, Column], weights: Mapping[str, float], n: int) -> Column:
    """Return the sum of the signals times their weights."""
    total = np.zeros(n)
    for name, column in signals.items():
        total += weights.get(name, 0.0) * column
    return total


def neighbours(c: Candidates) -> Neighbours | None:
    """Find who stands beside whom: turns of one session, by event time, then by id; None if there are no turns."""
    n = len(c.session)
    turns = np.flatnonzero(((c.traits & Trait.TURN) != 0) & (c.session != 0))
    if len(turns) == 0:
        return None
    made = np.asarray(c.ids).view(">u8")[0::2][turns]  # the first half of an id is the order of making
    order = turns[np.lexsort((made, c.occurred_at_s[turns], c.session[turns]))]
    in_order = c.session[order]
    starts = np.concatenate(([True], in_order[1:] != in_order[:-1]))
    number = np.cumsum(starts) - 1
    session = np.full(n, -1, np.int64)
    session[order] = number

    def beside(steps: int) -> tuple[Rows, Rows]:
        before, after = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        same = number[steps:] == number[:-steps]
        first, second = order[:-steps][same], order[steps:][same]
        before[second] = first
        after[first] = second
        return before, after

    before, after = beside(1)
    before_2, after_2 = beside(2)
    return Neighbours(before, after, before_2, after_2, session, int(number[-1]) + 1)


def words(c: Candidates) -> Column:
    """BM25 of each candidate, its speaker's name included: 0 where no term of the query occurs."""
    n = len(c.length)
    if len(c.post_row) == 0:
        return np.zeros(n)
    tf = _frequencies(c, n, names_too=True)
    lengths = c.length.astype(np.float64)
    return _term_weights(c, c.df) @ saturated(tf, lengths, float(lengths.mean()))


def fair_cosine(c: Candidates, usual: Usual) -> Column:
    """Return the best passage's cosine less what a long text gains by having many passages to be best of.

    The largest of n random values lies about sqrt(2 ln n) deviations up; a part of that is taken off. One passage:
    the cosine itself. Not a number where a candidate has no vector yet.
    """
    chance = _CHANCE * usual[1] * np.sqrt(2 * np.log(np.maximum(c.passages, 1)))
    fair: Column = c.cosine.astype(np.float64) - chance
    return fair


def relevance_signals(
    c: Candidates, *, usual_cosine: Usual, asks_when: bool, days: Sequence[Days] = ()
) -> dict[str, Column]:
    """Return every signal of the hybrid mode by name; what each is for stands in docs/howto/ranking.md.

    `usual_cosine` is (mean, deviation) of the model's cosines of a query with unrelated texts.
    `days` are the ranges of dates that the query names, as (first, last) in days since 1970.
    """
    n = len(c.length)
    near = neighbours(c)
    fair = fair_cosine(c, usual_cosine)
    meaning = standardised(np.where(np.isnan(fair), usual_cosine[0], fair), usual_cosine)
    window, session = _word_signals(c, near)
    assistant = (c.traits & Trait.ASSISTANT) != 0
    timed = ((c.traits & Trait.TIMED) != 0).astype(np.float64)
    signals = {
        "meaning": meaning,
        "words": standardised(window, _USUAL_WORDS),
        "speaker": _named(c, n),
        "person": np.where(assistant, 0.0, 1.0) if assistant.any() else np.zeros(n),
        "question": ((c.traits & Trait.QUESTION) != 0).astype(np.float64),
        "length": standardised(np.log(c.length + 5.0), _USUAL_LENGTH),
        "date": _dated(c, days),
        "timed": timed - timed.mean() if asks_when and n else np.zeros(n),
    }
    if near is None:
        nothing = np.zeros(n)
        return signals | dict.fromkeys(_OF_CONVERSATIONS, nothing)
    context = 1 / (1 + c.length / _CONTEXT_TERMS)
    beside = np.append(meaning, 0.0)  # row -1, nobody, says nothing
    of_conversations = (
        context * beside[near.before],
        context * beside[near.after],
        context * _session_most(meaning, near),
        context * session,
    )
    return signals | dict(zip(_OF_CONVERSATIONS, of_conversations, strict=True))


_OF_CONVERSATIONS = ("meaning_before", "meaning_after", "meaning_session", "words_session")


def _named(c: Candidates, n: int) -> Column:
    """1 for turns of a speaker whom the query names, -1 for those of others then; 0 if it names none."""
    rows = c.post_row[c.post_passage < 0]
    if len(rows) == 0:
        return np.zeros(n)
    named = np.full(n, -1.0)
    named[rows] = 1.0
    return named


def _dated(c: Candidates, days: Sequence[Days]) -> Column:
    """1 within a range of dates that the query names, less the further away; damped for long queries.

    A short query that names a date asks about it; in a long one "yesterday" is a detail of a story.
    """
    near = np.zeros(len(c.length))
    day = c.occurred_at_s / _DAY_S
    for first, last in days:
        distance = np.maximum(np.maximum(first - day, day - (last + 1)), 0.0)
        near = np.maximum(near, np.exp(-distance / (_DATE_SLACK_DAYS + _DATE_SLACK_SHARE * (last + 1 - first))))
    return near / (1 + sum(c.repeats) / _LONG_QUERY_TERMS)


def _word_signals(c: Candidates, near: Neighbours | None) -> tuple[Column, Column]:
    """Return BM25 of each turn with those around it, and of the whole session (standardised over sessions)."""
    n = len(c.length)
    if len(c.post_row) == 0:
        return np.zeros(n), np.zeros(n)
    tf = _frequencies(c, n, names_too=False)
    # The name of a speaker is no word of the subject, unless the query holds nothing else.
    names = np.zeros(len(c.df), np.bool_)
    names[c.post_term[c.post_passage < 0]] = True
    if not names.all():
        tf = np.where(names[:, None], 0.0, tf)
    df = (tf > 0).sum(1) if c.complete else c.df
    weights = _term_weights(c, df)
    lengths = np.maximum(c.length, 1).astype(np.float64)
    if near is None:
        return weights @ saturated(tf, lengths, float(lengths.mean()), b=_WINDOW_B), np.zeros(n)
    window_lengths = _lent(lengths[None, :], near)[0]
    window = weights @ saturated(_lent(tf, near), window_lengths, float(window_lengths.mean()), b=_WINDOW_B)
    return window, _session_words(c, tf, lengths, near)


def _session_words(c: Candidates, tf: Column, lengths: Column, near: Neighbours) -> Column:
    n, sessions = len(lengths), near.n_sessions
    if sessions < _LEAST_SESSIONS:
        return np.zeros(n)
    inside = near.session >= 0
    of = near.session[inside]
    flat = (np.arange(len(tf))[:, None] * sessions + of[None, :]).ravel()
    held = np.bincount(flat, weights=tf[:, inside].ravel(), minlength=len(tf) * sessions).reshape(len(tf), sessions)
    long = np.bincount(of, weights=lengths[inside], minlength=sessions)
    weights = _term_weights(c, (held > 0).sum(1), sessions)
    scores = standardised(weights @ saturated(held, long, float(long.mean()), b=_WINDOW_B))
    return np.append(scores, 0.0)[near.session]


def _term_weights(c: Candidates, df: NDArray[np.number], n_docs: float | None = None) -> Column:
    total = c.n_docs if n_docs is None else n_docs
    pairs = zip(df.tolist(), c.repeats, strict=True)
    return np.array([min(repeats, _MOST_REPEATS) * idf(count, total) if count else 0.0 for count, repeats in pairs])


def _frequencies(c: Candidates, n: int, *, names_too: bool) -> Column:
    """Return how often each term of the query occurs in each candidate, shape (terms, n)."""
    rows, terms, tf = c.post_row, c.post_term, c.post_tf
    if not names_too:
        said = c.post_passage >= 0
        rows, terms, tf = rows[said], terms[said], tf[said]
    flat = np.bincount(terms * n + rows, weights=tf, minlength=len(c.df) * n)
    return flat.astype(np.float64, copy=False).reshape(len(c.df), n)


def _lent(matrix: Column, near: Neighbours) -> Column:
    """Return the rows of `matrix` with what neighbours lend added."""
    padded = np.pad(matrix, ((0, 0), (0, 1)))  # column -1: nobody lends nothing
    first = padded[:, near.before] + padded[:, near.after]
    second = padded[:, near.before_2] + padded[:, near.after_2]
    return matrix + _LEND[0] * first + _LEND[1] * second


def _session_most(column: Column, near: Neighbours) -> Column:
    """Return for each turn the highest value of its session; 0 outside of sessions."""
    inside = near.session >= 0
    most = np.full(near.n_sessions + 1, -np.inf)
    np.maximum.at(most, near.session[inside], column[inside])
    most[-1] = 0.0
    return most[near.session]
