from __future__ import annotations

import numpy as np
import pytest

from memex_server.embedding.base import normalised, pool, split_text, token_estimate
from memex_server.embedding.onnx import group_by_length

TEXTS = [
    "",
    "short",
    "word " * 500,
    "x" * 5_000,
    "我喜欢普洱茶。" * 300,
    "東京で会いましょう " * 200,
    "mixed 中文 and English " * 150,
    "\n\n\t" * 700,
    "a\x00b\x01" * 600,
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda t: repr(t[:8]))
def test_the_parts_of_a_split_text_are_the_text_and_none_is_too_long(text: str) -> None:
    parts = list(split_text(text, 100))
    assert "".join(parts) == text
    assert all(token_estimate(part) <= 100 for part in parts)


def test_a_text_is_cut_between_words_where_it_has_any() -> None:
    parts = list(split_text("wonderful " * 200, 100))
    assert len(parts) > 1
    assert all(part.split() == ["wonderful"] * len(part.split()) for part in parts)


@pytest.mark.parametrize(("text", "least"), [("普洱茶", 3), ("こんにちは", 5), ("hello", 2), ("", 0)])
def test_the_token_estimate_counts_each_character_beyond_ascii(text: str, least: int) -> None:
    assert token_estimate(text) == least


def test_pooling_weighs_and_normalises() -> None:
    vectors = np.array([[1, 0], [0, 1], [0, 2]], dtype=np.float32)
    pooled = pool(vectors, [0, 0, 1], [3, 4, 1], 2)
    np.testing.assert_allclose(pooled, np.array([[0.6, 0.8], [0.0, 1.0]]), atol=1e-6)


def test_a_row_of_zeros_stays_zero_and_finite() -> None:
    np.testing.assert_array_equal(normalised(np.zeros((1, 3), dtype=np.float32)), np.zeros((1, 3)))


@pytest.mark.parametrize(
    "lengths", [[], [5], [512], [600, 5, 5], [8] * 100, list(range(1, 200)), [3, 300, 4, 290, 128]]
)
def test_groups_hold_every_index_once_within_bounds(lengths: list[int]) -> None:
    groups = list(group_by_length(lengths, 128))
    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    for group in groups:
        longest, shortest = max(lengths[i] for i in group), min(lengths[i] for i in group)
        assert len(group) == 1 or longest * len(group) <= 128
        assert longest <= max(shortest * 4 // 3, shortest + 8)
