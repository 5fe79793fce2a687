"""`python -m bench.fit.worth [--write]`: fit what the gate makes of a text's vector; print how well it judges.

The lines: tests/data/importance-* (with which the rules were written), importance-fit-* (the rules were not) and
importance-unseen-* (which are only judged). The weights of the vector are fitted on the first two. Then, out of
fold and on the second alone, where the rules show what they are worth, the two are weighed against each other.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray

from memex.core.importance import rate
from memex_server.embedding.cards import bundled_model
from memex_server.embedding.onnx import Encoder
from memex_server.embedding.store import model_folder, read_model
from memex_server.worth import Worth, rule_features, texts_judged
from tests.labelled import LANGUAGES, rows, score_gate

__all__ = ["fit_worth", "main"]

_FILE = Path(__file__).resolve().parent.parent.parent / "src" / "memex_server" / "worth.json"
_MODEL = "multilingual-e5-small"
_BATCH = 16
_FOLDS = 5
_STEPS = 25
# The components of a unit vector of 384 differ by about 0.05: the penalty is on weights for steps of that size.
_PENALTY = 30.0 * 0.05**2
_SLIGHT_PENALTY = 1e-4

Floats = NDArray[np.float64]


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.fit.worth", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write the weights to src/memex_server/{_FILE.name}")
    options = parser.parse_args(arguments)
    model = bundled_model(_MODEL)
    encoder = Encoder(read_model(model_folder(Path(platformdirs.user_data_path("memex")), model)), threads=2)
    known = _lines("importance")
    unknown = _lines("importance-fit")
    vectors = _vectors(encoder, [text for _, text in known + unknown])
    worth = fit_worth(
        vectors,
        np.array([label == "keep" for label, _ in known + unknown], dtype=np.float64),
        np.array([rule_features(rate(text)) for _, text in unknown]),
    )

    def rated(text: str) -> float:
        texts = texts_judged(text)
        return worth.judge(texts, encoder.embed(texts, "passage")).value

    for language in LANGUAGES:
        for what, judge in (("rules", None), ("rules and vector", rated)):
            score = score_gate(f"importance-unseen-{language}", judge)
            print(f"unseen {language}, {what}: precision {score.precision:.3f}, recall {score.recall:.3f}")
    if options.write:
        _FILE.write_text(_document(worth, model.card.id), encoding="utf-8")
    return 0


def fit_worth(vectors: Floats, keep: Floats, by_rules: Floats) -> Worth:
    """Fit on `vectors`, shape (n, dim), and labels (n,) of 0 and 1.

    `by_rules`, shape (m, 4), are the features of the last m lines, with which the rules were not written.
    """
    out_of_fold = np.zeros(len(keep))
    fold = np.random.default_rng(1).integers(0, _FOLDS, len(keep))
    for number in range(_FOLDS):
        apart = fold == number
        out_of_fold[apart] = _with_ones(vectors[apart]) @ _logistic(vectors[~apart], keep[~apart], _PENALTY)
    last = slice(-len(by_rules), None)
    beside = np.c_[out_of_fold[last], by_rules]
    share, *rules, bias = _logistic(beside, keep[last], _SLIGHT_PENALTY)
    right = np.mean((_with_ones(beside) @ np.array([share, *rules, bias]) > 0) == keep[last])
    print(f"{len(keep)} lines; of those the rules were not written with, {right:.3f} are judged rightly out of fold")
    whole = _logistic(vectors, keep, _PENALTY)
    return Worth(
        bias=round(float(bias + share * whole[-1]), 3),
        vector=np.round(share * whole[:-1], 3),
        rules=np.round(np.array(rules), 3),
    )


def _lines(name: str) -> list[list[str]]:
    return [row for language in LANGUAGES for row in rows(f"{name}-{language}")]


def _vectors(encoder: Encoder, texts: Sequence[str]) -> Floats:
    """Embed in batches of like length, as the rounding of a batch follows its longest text."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    out = np.zeros((len(texts), encoder.embed([texts[0]], "passage").shape[1]))
    for start in range(0, len(order), _BATCH):
        at = order[start : start + _BATCH]
        out[at] = encoder.embed([texts[i] for i in at], "passage")
    return out


def _logistic(x: Floats, y: Floats, penalty: float) -> Floats:
    """Return the weights of a logistic regression, the bias last, by Newton's method with a penalty on the squares."""
    x = _with_ones(x)
    weights = np.zeros(x.shape[1])
    penalties = np.full(x.shape[1], penalty)
    penalties[-1] = 1e-9  # the bias is free
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (p - y) + penalties * weights
        weights -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(penalties), slope)
    return weights


def _with_ones(x: Floats) -> Floats:
    return np.c_[x, np.ones(len(x))]


def _document(worth: Worth, model_id: str) -> str:
    document = {
        "fitted_by": "python -m bench.fit.worth --write",
        "model": model_id,
        "bias": worth.bias,
        "rules": worth.rules.tolist(),
        "vector": worth.vector.tolist(),
    }
    return "".join(["{\n", ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in document.items()), "\n}\n"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
