"""Turns the public conversations into candidates with their signals, just as the service would see them.

Nothing here knows a set by name: the same functions that index and rank in the service are called.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness.retrieval import Dataset
from memex.core.scoring import recency
from memex.core.text import term_hash, terms
from memex.core.traits import asks_when
from memex_server.embedding.cards import bundled_model
from memex_server.indexing import index_texts, possible_names, without_names
from memex_server.ports import Candidates, Embedder, FloatArray, IndexEntry, Role
from memex_server.ranking import load_fusion, named_days, usual_cosine
from memex_server.signals import Column, relevance_signals, told_by, words

__all__ = ["CachedVectors", "Question", "pool"]

_DAY_S = 86_400.0
_ALIKE = 0.9999  # cosine of a text's vectors by one model, whatever they were batched with
_CARD = bundled_model("multilingual-e5-small").card
_HALF_LIFE_DAYS = load_fusion().half_life_days


@dataclass(frozen=True)
class Question:
    """One query: a column per signal over its candidates, and which of them are its evidence."""

    dataset: str
    group: str
    category: str
    names: Sequence[str]
    signals: NDArray[np.float32]  # (candidates, signals)
    evidence: NDArray[np.bool_]
    n_evidence: int  # also those that are not among the candidates
    keyword: NDArray[np.float32]
    cosine: NDArray[np.float32]


class CachedVectors:
    """An embedder that keeps its vectors in a file, so that only the first run takes long.

    Vectors of another model are not used: the first text that is known is embedded again, and has to come out alike.
    """

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner = inner
        self._path = path
        self._known: dict[str, NDArray[np.float32]] = {}
        self._new = 0
        self._checked = False
        if path.exists():
            with np.load(path) as stored:
                self._known = dict(zip(stored["k"].tolist(), stored["v"].astype(np.float32), strict=True))

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return the vectors of `texts`."""
        keys = [hashlib.sha1(f"{role}\0{text}".encode(), usedforsecurity=False).hexdigest() for text in texts]
        known = next(((key, text) for key, text in zip(keys, texts, strict=True) if key in self._known), None)
        if known and not self._checked:
            self._checked = True
            if float((await self._inner.embed([known[1]], role))[0] @ self._known[known[0]]) < _ALIKE:
                self._known.clear()
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            vectors = await self._inner.embed(list(missing.values()), role)
            self._known.update(zip(missing, vectors, strict=True))
            self._new += len(missing)
        return np.stack([self._known[key] for key in keys])

    def save(self) -> None:
        """Write what is new to the file."""
        if self._new:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            staging = self._path.with_suffix(".new.npz")
            np.savez(staging, k=np.array(list(self._known)), v=np.stack(list(self._known.values())))
            staging.replace(self._path)
            self._new = 0


async def pool(dataset: Dataset, embedder: Any) -> AsyncIterator[Question]:
    """Yield every question of a set with the signals of its candidates."""
    for group, memories in dataset.memories.items():
        asked = dataset.queries.get(group, [])
        if not asked:
            continue
        entries = await index_texts(embedder, [m["text"] for m in memories])
        store = _Group(memories, entries)
        vectors = await embedder.embed([store.wanted(q["text"]) for q in asked], "query")
        for query, vector in zip(asked, vectors, strict=True):
            evidence = dataset.evidence[query["id"]]
            yield _question(dataset, group, store, query, vector, evidence)


class _Group:
    """The memories of one user as columns."""

    def __init__(self, memories: Sequence[Mapping[str, Any]], entries: Sequence[IndexEntry]) -> None:
        n = len(memories)
        self.names = [m["id"] for m in memories]
        self.seq = np.array([m["seq"] for m in memories])
        self.ids = np.array([i.to_bytes(16, "big") for i in range(n)], "S16").view("V16").reshape(n)
        self.occurred = np.array([datetime.fromisoformat(m["ts"]).timestamp() for m in memories])
        self.session = np.array([int(hashlib.md5(str(m["session"]).encode()).hexdigest()[:15], 16) for m in memories])
        self.length = np.array([e.n_terms for e in entries], np.int32)
        self.traits = np.array([e.traits for e in entries], np.int16)
        self.passages = np.array([len(e.spans) for e in entries])
        self.owner = np.repeat(np.arange(n), self.passages)
        self.vectors = np.concatenate([e.vectors for e in entries])
        self.postings: dict[int, list[tuple[int, int, int]]] = {}
        for row, entry in enumerate(entries):
            for term, passage, tf in entry.postings:
                self.postings.setdefault(term, []).append((row, passage, tf))

    def candidates(self, vector: FloatArray, query: str, alive: NDArray[np.bool_]) -> Candidates:
        n = len(self.names)
        products = self.vectors @ vector
        cosine = np.full(n, -1, np.float32)
        np.maximum.at(cosine, self.owner, products)
        counts = Counter(terms(query))
        postings = [(row, at, p, tf) for at, word in enumerate(counts) for row, p, tf in self._of(word) if alive[row]]
        rows, term, passage, tf = (np.array([p[i] for p in postings]) for i in range(4))
        new_row = np.cumsum(alive) - 1
        rows = new_row[rows.astype(np.int64)] if len(rows) else np.zeros(0, np.int64)
        term = term.astype(np.int64)
        holders = np.unique(rows * max(len(counts), 1) + term) % max(len(counts), 1)
        return Candidates(
            ids=self.ids[alive],
            occurred_at_s=self.occurred[alive],
            importance=np.ones(int(alive.sum())),
            session=self.session[alive],
            length=self.length[alive],
            traits=self.traits[alive],
            cosine=cosine[alive],
            passage=np.zeros(int(alive.sum()), np.int16),
            passages=self.passages[alive],
            post_row=rows,
            post_term=term,
            post_passage=passage.astype(np.int16),
            post_tf=tf.astype(np.float64),
            repeats=list(counts.values()),
            df=np.bincount(holders, minlength=len(counts)).astype(np.float64),
            n_docs=float(alive.sum()),
            complete=True,
        )

    def wanted(self, query: str) -> str:
        """What the vector of a query is made of."""
        return without_names(query, [n for n in possible_names(query) if any(p < 0 for _, p, _ in self._of(n))])

    def _of(self, word: str) -> list[tuple[int, int, int]]:
        return self.postings.get(term_hash(word), [])


def _question(
    dataset: Dataset, group: str, store: _Group, query: Mapping[str, Any], vector: FloatArray, evidence: frozenset[str]
) -> Question:
    alive = store.seq <= query.get("max_seq", np.inf)
    c = store.candidates(vector, query["text"], alive)
    signals: dict[str, Column] = relevance_signals(
        c,
        usual_cosine=usual_cosine(_CARD),
        asks_when=asks_when(query["text"]),
        days=named_days(query["text"], datetime.fromisoformat(query["now"])),
    )
    age_days = (datetime.fromisoformat(query["now"]).timestamp() - c.occurred_at_s) / _DAY_S
    signals["recency"] = recency(age_days, _HALF_LIFE_DAYS) * told_by(len(age_days))
    held = np.array([name in evidence for name in store.names])[alive]
    return Question(
        dataset=dataset.name,
        group=group,
        category=query["category"],
        names=tuple(signals),
        signals=np.stack(list(signals.values()), -1).astype(np.float32),
        evidence=held,
        n_evidence=len(evidence),
        keyword=words(c).astype(np.float32),
        cosine=c.cosine,
    )
