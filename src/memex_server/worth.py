"""A second opinion on what deserves to be kept: what a text's vector is like, beside what the rules see.

Rules know words and forms, and take what they do not know for a statement. A vector tells general knowledge
from facts about somebody, and a report of the moment from what lasts, in words that no rule has. Logistic
regression on labelled lines joins the two; its weights belong to one embedding model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from memex.core.facts import facts
from memex.core.fold import fold
from memex.core.importance import DEFAULT_THRESHOLD, STATEMENT, Rating, rate, sentences_judged
from memex.core.small_talk import without_small_talk
from memex.core.traits import unnamed

from .ports import Embedder, FloatArray

__all__ = ["Worth", "load_worth", "rated", "rule_features", "texts_judged"]

_FILE = "worth.json"
_MOST_SENTENCES = 16  # of a long text the first ones and the last
_LAST_SENTENCES = 4
_WHOLE_CHARS = 1_500
_OF_THE_WHOLE = 0.3  # of the log odds; the rest is of the best sentence, as one is enough to keep a text for
_LEAN = 0.4  # towards keeping: a line kept in error is a line too much, one dropped in error is lost
_BELOW = 1.5  # points below the threshold for each unit of log odds against keeping
_SURE = 9.0  # rules as sure as this ("remember this") are not overruled
_NOTHING = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Weights of a logistic regression; log odds above 0 mean that a text deserves to be kept.

    `vector` has shape (dim,); `rules` weighs what `rule_features` returns.
    """

    bias: float
    vector: NDArray[np.float64]
    rules: NDArray[np.float64]

    def log_odds(self, ruled: Rating, vector: FloatArray) -> float:
        """Return the log odds of one text, or one sentence, with its rating by rules and its vector (dim,)."""
        return float(self.bias + vector @ self.vector + rule_features(ruled) @ self.rules)

    def judge(self, texts: Sequence[str], vectors: FloatArray) -> Rating:
        """Return the rating of the first of `texts`; the others are its sentences, if it has several.

        `vectors` are those of `texts`, shape (n, dim). The rating is the rules', brought to the side of the
        threshold on which vector and rules together see the text.
        """
        ratings = [rate(text) for text in texts]
        ruled = ratings[0]
        if ruled.value >= _SURE or not sentences_judged(texts[0]):
            return ruled
        odds = [self.log_odds(*each) for each in zip(ratings, vectors, strict=True)]
        best = max(odds[1:], default=odds[0])
        together = _LEAN + _OF_THE_WHOLE * odds[0] + (1 - _OF_THE_WHOLE) * best
        passed = ruled.value >= DEFAULT_THRESHOLD
        if together > 0 or (passed and facts(fold(texts[0]))):  # whose value may change is not of the moment
            return ruled if passed else Rating(DEFAULT_THRESHOLD, f"reads like what lasts, not {ruled.reason}")
        value = max(_NOTHING, min(ruled.value, math.nextafter(DEFAULT_THRESHOLD, 0) + _BELOW * together))
        return Rating(round(value, 2), f"reads like what passes, not {ruled.reason}" if passed else ruled.reason)


def rule_features(ruled: Rating) -> NDArray[np.float64]:
    """Return what counts of a rating by rules, shape (4,): that a rule speaks for the text, that none does and it
    is taken for a statement, by how many points it passes, and that a rule speaks against it.
    """
    above = ruled.value - DEFAULT_THRESHOLD
    plain = ruled.reason.startswith(STATEMENT)
    return np.array([above >= 0 and not plain, above >= 0 and plain, max(above, 0.0), ruled.value <= _NOTHING], float)


def load_worth(model_id: str) -> Worth | None:
    """Return the weights that ship with memex; None if they are not of the model `model_id`."""
    data = json.loads(files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
    if data["model"] != model_id:
        return None
    return Worth(bias=data["bias"], vector=np.array(data["vector"]), rules=np.array(data["rules"]))


def texts_judged(text: str) -> list[str]:
    """Return what `Worth.judge` looks at: the text (the beginning of a long one) and, if several, its sentences.

    Each is without the small talk around it, whose vector would speak against what it goes with.
    """
    said = [without_small_talk(sentence) or sentence for sentence in sentences_judged(text)]
    if len(said) > _MOST_SENTENCES:
        said = [*said[: _MOST_SENTENCES - _LAST_SENTENCES], *said[-_LAST_SENTENCES:]]
    whole = unnamed(text)
    return [(without_small_talk(whole) or whole)[:_WHOLE_CHARS], *(said if len(said) > 1 else ())]


async def rated(text: str, embedder: Embedder, worth: Worth | None) -> Rating:
    """Rate a text by rules and, where there are weights for the model, by its vector and those of its sentences.

    Raises:
        Unavailable: the model cannot answer now.
    """
    if worth is None:
        return rate(text)
    texts = texts_judged(text)
    return worth.judge(texts, await embedder.embed(texts, "passage"))
