"""Signals of relevance over the candidates of one query: pure functions over columns.

Each says, for every candidate, how much speaks for it. Standardised means: mean 0 and deviation 1
over the candidates of this query, so that signals of different scales can be added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memex.core.scoring import bm25
from memex.core.traits import Trait

from .ports import Candidates

__all__ = ["Column", "Neighbours", "neighbours", "relevance_signals", "standardised", "weighted", "words"]

Column = NDArray[np.float64]
Rows = NDArray[np.int64]

# A turn lends its words to those beside it: half to the next ones, a quarter to those after (BM25F).
_LEND = (0.5, 0.25)
_WINDOW_B = 0.5  # lengths of windows differ less than lengths of turns, so they count less
# A turn of this many terms draws as much on its neighbours as on itself; a long one stands alone.
_CONTEXT_TERMS = 20.0
_MOST_REPEATS = 3.0  # of a term in the query: more is a slip or a paste, not emphasis
_MEANING_FLOOR = -1.0


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


def standardised(column: Column) -> Column:
    """Return the column with mean 0 and deviation 1; one that tells nothing becomes 0."""
    deviation = column.std() if len(column) else 0.0
    return (column - column.mean()) / deviation if deviation > 1e-9 else np.zeros(len(column))


def neighbours(c: Candidates) -> Neighbours:
    """Find who stands beside whom: turns of one session, in order of event time, then of id."""
    n = len(c.session)
    is_turn = ((c.traits & Trait.TURN) != 0) & (c.session != 0)
    order = np.lexsort((np.asarray(c.ids).view("S16"), c.occurred_at_s, c.session))
    order = order[is_turn[order]]
    session = np.full(n, -1, np.int64)
    session[order] = np.unique(c.session[order], return_inverse=True)[1]

    def beside(steps: int) -> tuple[Rows, Rows]:
        before, after = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        first, second = order[:-steps], order[steps:]
        same = session[first] == session[second]
        before[second[same]] = first[same]
        after[first[same]] = second[same]
        return before, after

    before, after = beside(1)
    before_2, after_2 = beside(2)
    return Neighbours(before, after, before_2, after_2, session)


def words(c: Candidates) -> Column:
    """BM25 of each candidate, its speaker's name included: 0 where no term of the query occurs."""
    total = np.zeros(len(c.length))
    average = float(c.length.mean()) if len(c.length) else 0.0
    lengths = c.length.astype(np.float64)
    for term, df in enumerate(c.df):
        rows, tf = _term_frequencies(c, term, names_too=True)
        total[rows] += min(c.repeats[term], _MOST_REPEATS) * bm25(tf, float(df), c.n_docs, lengths[rows], average)
    return total


def relevance_signals(c: Candidates, *, asks_when: bool) -> dict[str, Column]:
    """Return every signal of the hybrid mode by name; see the documentation of each in `docs/howto/ranking.md`."""
    near = neighbours(c)
    length = c.length.astype(np.float64)
    context = 1 / (1 + length / _CONTEXT_TERMS)
    meaning = standardised(np.nan_to_num(c.cosine.astype(np.float64), nan=_MEANING_FLOOR))
    spoken = _spoken_terms(c)
    named = _named(c, len(length))
    passage, window, session = _word_signals(c, near, spoken)
    timed = ((c.traits & Trait.TIMED) != 0).astype(np.float64)
    assistant = (c.traits & Trait.ASSISTANT) != 0
    return {
        "meaning": meaning,
        "meaning_before": context * _take(meaning, near.before),
        "meaning_after": context * _take(meaning, near.after),
        "meaning_before_2": context * _take(meaning, near.before_2),
        "meaning_session": context * _session_most(meaning, near.session),
        "words_passage": standardised(passage),
        "words_window": standardised(window),
        "words_session": context * session,
        "speaker": named,
        "person": np.where(assistant, 0.0, 1.0) if assistant.any() else np.zeros(len(length)),
        "question": ((c.traits & Trait.QUESTION) != 0).astype(np.float64),
        "length": standardised(np.log(length + 5)),
        "timed": (timed - timed.mean()) if asks_when and len(timed) else np.zeros(len(length)),
    }


def _spoken_terms(c: Candidates) -> list[int]:
    """Terms of the query to look for in what is said: not the speakers' names, unless nothing else is left."""
    names = set(c.post_term[c.post_passage < 0].tolist())
    rest = [term for term in range(len(c.df)) if term not in names]
    return rest or list(range(len(c.df)))


def _named(c: Candidates, n: int) -> Column:
    """1 for turns of a speaker whom the query names, -1 for those of others then; 0 if it names none."""
    rows = c.post_row[c.post_passage < 0]
    if len(rows) == 0:
        return np.zeros(n)
    named = np.full(n, -1.0)
    named[rows] = 1.0
    return named


def _word_signals(c: Candidates, near: Neighbours, spoken: list[int]) -> tuple[Column, Column, Column]:
    """Return BM25 of the best passage, of the window of turns around, and of the whole session."""
    n = len(c.length)
    length = np.maximum(c.length.astype(np.float64), 1.0)
    window_length = _lent(length, near)
    passages = np.maximum(c.passages.astype(np.float64), 1.0)
    passage_length = length / passages
    n_sessions = int(near.session.max(initial=-1)) + 1
    in_session = near.session >= 0
    session_length = np.bincount(near.session[in_session], weights=length[in_session], minlength=n_sessions)
    passage = _PassageScores(c, n)
    window, session = np.zeros(n), np.zeros(max(n_sessions, 1))
    for term in spoken:
        rows, tf = _term_frequencies(c, term, names_too=False)
        if len(rows) == 0:
            continue
        df = float(len(rows) if c.complete else c.df[term])
        times = min(float(c.repeats[term]), _MOST_REPEATS)
        passage.add(term, times, df, passage_length)
        spread = np.zeros(n)
        spread[rows] = tf
        inside = in_session[rows]
        of_session = np.bincount(near.session[rows[inside]], weights=tf[inside], minlength=n_sessions)
        spread = _lent(spread, near)
        hit = np.flatnonzero(spread)
        window[hit] += times * bm25(
            spread[hit], df, c.n_docs, window_length[hit], float(window_length.mean()), b=_WINDOW_B
        )
        if n_sessions > 2:
            held = float((of_session > 0).sum())
            session += times * bm25(
                of_session, held, n_sessions, session_length, float(session_length.mean()), b=_WINDOW_B
            )
    by_row = np.where(in_session, standardised(session)[near.session], 0.0) if n_sessions > 2 else np.zeros(n)
    return passage.best(), window, by_row


class _PassageScores:
    """Adds up BM25 passage by passage, to tell the best passage of each candidate."""

    def __init__(self, c: Candidates, n: int) -> None:
        self._c = c
        self._n = n
        self._keys: list[NDArray[np.int64]] = []
        self._scores: list[Column] = []

    def add(self, term: int, times: float, df: float, lengths: Column) -> None:
        at = (self._c.post_term == term) & (self._c.post_passage >= 0)
        rows = self._c.post_row[at]
        average = float(lengths.mean())
        score = bm25(self._c.post_tf[at], df, self._c.n_docs, lengths[rows], average)
        self._keys.append(rows << 16 | self._c.post_passage[at].astype(np.int64))
        self._scores.append(times * score)

    def best(self) -> Column:
        out = np.zeros(self._n)
        if self._keys:
            keys, where = np.unique(np.concatenate(self._keys), return_inverse=True)
            sums = np.bincount(where, weights=np.concatenate(self._scores))
            np.maximum.at(out, keys >> 16, sums)
        return out


def _term_frequencies(c: Candidates, term: int, *, names_too: bool) -> tuple[Rows, Column]:
    """Return the rows that hold the term, and how often in all their passages."""
    at = c.post_term == term
    if not names_too:
        at &= c.post_passage >= 0
    rows, where = np.unique(c.post_row[at], return_inverse=True)
    return rows, np.bincount(where, weights=c.post_tf[at], minlength=len(rows)).astype(np.float64)


def _take(column: Column, rows: Rows) -> Column:
    return np.where(rows >= 0, column[rows], 0.0) if len(column) else column


def _lent(column: Column, near: Neighbours) -> Column:
    near_by = _take(column, near.before) + _take(column, near.after)
    beyond = _take(column, near.before_2) + _take(column, near.after_2)
    return column + _LEND[0] * near_by + _LEND[1] * beyond


def _session_most(column: Column, session: Rows) -> Column:
    """Return for each turn the highest value of its session; 0 outside of sessions."""
    inside = session >= 0
    if not inside.any():
        return np.zeros(len(column))
    most = np.full(int(session.max()) + 1, -np.inf)
    np.maximum.at(most, session[inside], column[inside])
    return np.where(inside, most[session], 0.0)


def weighted(signals: Mapping[str, Column], weights: Mapping[str, float], n: int) -> Column:
    """Return the sum of the signals times their weights."""
    total = np.zeros(n)
    for name, column in signals.items():
        total += weights.get(name, 0.0) * column
    return total
