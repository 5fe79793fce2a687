"""From signals to an order: pure functions over columns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memex.core.memory import SearchMode, Weights
from memex.core.traits import Trait
from memex_server import ranking
from memex_server.explain import explained
from memex_server.ports import Candidates
from memex_server.ranking import Fusion, Plan, certainty, load_fusion, plan_weights, rank
from memex_server.settings import RankingSettings
from memex_server.signals import neighbours, relevance_signals, standardised, words

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FUSION = load_fusion()


def candidates(n: int, **columns: Any) -> Candidates:
    """n memories about nothing, a minute apart, with the given columns."""
    defaults: dict[str, Any] = {
        "ids": np.array([i.to_bytes(16, "big") for i in range(1, n + 1)], "S16").view("V16").reshape(n),
        "occurred_at_s": NOW.timestamp() - 60.0 * np.arange(n, 0, -1),
        "importance": np.ones(n),
        "session": np.zeros(n, np.int64),
        "length": np.full(n, 10, np.int32),
        "traits": np.zeros(n, np.int16),
        "cosine": np.full(n, 0.8, np.float32),
        "passage": np.zeros(n, np.int16),
        "passages": np.ones(n, np.int64),
        "post_row": np.zeros(0, np.int64),
        "post_term": np.zeros(0, np.int64),
        "post_passage": np.zeros(0, np.int16),
        "post_tf": np.zeros(0),
        "repeats": (),
        "df": np.zeros(0),
        "n_docs": float(n),
        "complete": True,
    }
    return Candidates(**(defaults | columns))


def with_postings(n: int, postings: list[tuple[int, int, int, float]], n_terms: int, **columns: Any) -> Candidates:
    """Candidates with postings of (row, term, passage, frequency)."""
    rows, terms, passages, tf = (np.array([p[i] for p in postings]) for i in range(4))
    df = np.array([len({p[0] for p in postings if p[1] == term}) for term in range(n_terms)], float)
    return candidates(
        n,
        post_row=rows.astype(np.int64),
        post_term=terms.astype(np.int64),
        post_passage=passages.astype(np.int16),
        post_tf=tf.astype(float),
        repeats=(1,) * n_terms,
        df=df,
        **columns,
    )


def plan(mode: SearchMode = SearchMode.HYBRID, **weights: float) -> Plan:
    _, normal = plan_weights(mode, None, Weights(**weights) if weights else None, default_alpha=0.7, fusion=FUSION)
    return Plan(mode=mode, weights=normal, half_life_days=30, now=NOW, fusion=FUSION, usual_cosine=(0.8, 0.03))


def turns(n: int, session: int = 7) -> dict[str, Any]:
    return {"session": np.full(n, session, np.int64), "traits": np.full(n, int(Trait.TURN), np.int16)}


@pytest.mark.parametrize(
    ("mode", "alpha", "weights", "expected_mode", "expected"),
    [
        (None, 0.3, None, SearchMode.SEMANTIC, (0.3, 0.7, 0.0)),
        (SearchMode.SEMANTIC, None, None, SearchMode.SEMANTIC, (0.7, 0.3, 0.0)),
        (SearchMode.KEYWORD, None, None, SearchMode.KEYWORD, (1.0, 0.0, 0.0)),
        (None, None, Weights(similarity=2, recency=1, importance=1), SearchMode.HYBRID, (0.5, 0.25, 0.25)),
    ],
)
def test_a_request_means_these_weights(
    mode: SearchMode | None,
    alpha: float | None,
    weights: Weights | None,
    expected_mode: SearchMode,
    expected: tuple[float, float, float],
) -> None:
    chosen, normal = plan_weights(mode, alpha, weights, default_alpha=0.7, fusion=FUSION)

    assert chosen is expected_mode
    assert (normal["similarity"], normal["recency"], normal["importance"]) == pytest.approx(expected)


def test_by_default_recency_and_importance_only_part_what_is_about_equal() -> None:
    _, normal = plan_weights(None, None, None, default_alpha=0.7, fusion=FUSION)

    assert normal["similarity"] > 0.9
    assert 0 < normal["recency"] < 0.05


def test_the_setting_of_the_half_life_is_the_one_that_the_weights_were_measured_with() -> None:
    assert RankingSettings().hybrid_half_life_days == FUSION.half_life_days


def test_relevance_keeps_its_order_and_its_bounds_however_large_the_sum() -> None:
    sums = np.array([-1e6, -60.0, -21.0, -20.0, -1.0, 0.0, 1.0, 20.0, 21.0, 60.0, 1e6])
    bounded = ranking._bounded(sums)
    assert (np.diff(bounded) > 0).all()
    assert bounded[0] > 0
    assert bounded[-1] < 1
    assert bounded[6] - bounded[5] == pytest.approx((bounded[7] - bounded[6]) / 19)


def test_weights_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        plan_weights(None, None, Weights(), default_alpha=0.7, fusion=FUSION)


def test_an_empty_store_ranks_to_nothing_in_every_mode() -> None:
    for mode in SearchMode:
        ranked = rank(candidates(0), plan(mode), 10)
        assert len(ranked.rows) == 0


@pytest.mark.parametrize("mode", [SearchMode.SEMANTIC, SearchMode.HYBRID])
def test_of_equal_best_passages_the_one_of_a_short_text_means_more(mode: SearchMode) -> None:
    c = candidates(3, passages=np.array([40, 1, 5]))
    ranked = rank(c, plan(mode, similarity=1), 3)
    assert ranked.rows.tolist() == [1, 2, 0]


def test_the_cosine_of_the_formula_is_that_of_the_passage_where_there_is_one() -> None:
    c = candidates(3, cosine=np.array([0.81, np.nan, 0.9], np.float32))
    ranked = rank(c, plan(SearchMode.SEMANTIC, similarity=1), 3)
    assert ranked.scores == pytest.approx([0.9, 0.81, -1.0])


def test_keyword_mode_returns_only_what_holds_a_term() -> None:
    c = with_postings(4, [(2, 0, 0, 1.0)], 1)

    assert rank(c, plan(SearchMode.KEYWORD), 10).rows.tolist() == [2]


def test_ties_go_to_the_later_event_and_then_to_the_lower_id() -> None:
    same = candidates(3, occurred_at_s=np.array([5.0, 9.0, 9.0]))

    assert rank(same, plan(SearchMode.SEMANTIC, similarity=1), 3).rows.tolist() == [1, 2, 0]


def test_the_turn_after_a_matching_question_outranks_small_talk_elsewhere() -> None:
    # "Where do you live?" (row 2) matches; the answer, row 3, shares no word with the query.
    c = with_postings(
        12, [(2, 0, 0, 1.0)], 1, **turns(12) | {"session": np.array([1] * 6 + [2] * 6)}, length=np.full(12, 4, np.int32)
    )
    signals = relevance_signals(c, usual_cosine=(0.8, 0.03), asks_when=False)

    assert signals["words"][3] > signals["words"][9]
    order = rank(c, plan(), 12).rows.tolist()
    assert order.index(3) < min(order.index(row) for row in range(6, 12))


def test_neighbours_never_cross_sessions_and_need_a_speaker() -> None:
    c = candidates(
        4,
        session=np.array([1, 1, 2, 2]),
        traits=np.array([Trait.TURN, Trait.TURN, Trait.TURN, 0], np.int16),
    )
    near = neighbours(c)

    assert near is not None
    assert near.before.tolist() == [-1, 0, -1, -1]
    assert near.after.tolist() == [1, -1, -1, -1]
    assert near.session.tolist()[3] == -1


def test_turns_of_a_named_speaker_come_before_those_of_others() -> None:
    # passage -1 is the speaker's name; rows 0 and 2 are hers
    c = with_postings(4, [(0, 0, -1, 1.0), (2, 0, -1, 1.0)], 1, **turns(4))
    signals = relevance_signals(c, usual_cosine=(0.8, 0.03), asks_when=False)

    assert signals["speaker"].tolist() == [1, -1, 1, -1]
    assert sorted(rank(c, plan(), 2).rows.tolist()) == [0, 2]


def test_a_question_for_a_date_prefers_what_mentions_one() -> None:
    c = candidates(3, traits=np.array([0, Trait.TIMED, 0], np.int16))

    assert relevance_signals(c, usual_cosine=(0.8, 0.03), asks_when=True)["timed"].argmax() == 1
    assert not relevance_signals(c, usual_cosine=(0.8, 0.03), asks_when=False)["timed"].any()


def test_a_repeated_term_of_the_query_counts_at_most_three_times() -> None:
    def score(repeats: int) -> float:
        c = with_postings(3, [(0, 0, 0, 1.0)], 1)
        return float(
            words(Candidates(**{f: getattr(c, f) for f in c.__dataclass_fields__} | {"repeats": (repeats,)}))[0]
        )

    assert score(2) == pytest.approx(2 * score(1))
    assert score(50) == pytest.approx(3 * score(1))


def test_the_shares_of_an_explanation_add_up_to_the_score() -> None:
    c = with_postings(5, [(1, 0, 0, 1.0), (3, 0, 0, 2.0)], 1, cosine=np.linspace(0.7, 0.9, 5, dtype=np.float32))
    the_plan = plan()
    ranked = rank(c, the_plan, 5)

    for at in range(5):
        told = explained(c, ranked, at, the_plan, ["tea"])
        assert sum(part["share"] for part in told["components"].values()) == pytest.approx(ranked.scores[at])
        assert told["signals"]["words"]["weight"] == FUSION.weights["words"]


columns = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40).map(np.array)


@given(columns)
def test_a_standardised_column_has_mean_0_and_deviation_1_or_tells_nothing(column: Any) -> None:
    result = standardised(column)

    assert result.mean() == pytest.approx(0, abs=1e-6)
    assert result.std() == pytest.approx(1, abs=1e-6) or not result.any()


@given(st.integers(1, 30), st.integers(1, 30), st.randoms(use_true_random=False))
def test_every_score_is_within_0_and_1_and_falls_along_the_ranking(n: int, top_k: int, random: Any) -> None:
    postings = [(random.randrange(n), t, random.choice([-1, 0, 1]), 1.0) for t in range(3) for _ in range(3)]
    c = with_postings(
        n,
        postings,
        3,
        session=np.array([random.randrange(3) for _ in range(n)]),
        traits=np.array([random.randrange(16) for _ in range(n)], np.int16),
        cosine=np.array([random.uniform(-1, 1) for _ in range(n)], np.float32),
        length=np.array([random.randrange(300) for _ in range(n)], np.int32),
    )
    ranked = rank(c, plan(), top_k)

    assert len(ranked.rows) == min(n, top_k) == len(set(ranked.rows.tolist()))
    assert ((ranked.scores >= 0) & (ranked.scores <= 1)).all()
    assert (np.diff(ranked.scores) <= 1e-12).all()


def test_the_shipped_weights_name_only_signals_that_exist() -> None:
    signals = relevance_signals(candidates(2), usual_cosine=(0.8, 0.03), asks_when=False)

    assert set(FUSION.weights) == set(signals)
    assert isinstance(FUSION, Fusion)


def test_certainty_parts_answers_from_what_merely_came_closest() -> None:
    def fused(total: float) -> float:
        return 0.5 + total / 64  # as `rank` brings fused sums to 0..1

    in_a_large_scope = [certainty(fused(total), fused(8.0)) for total in (8.0, 6.0, 4.0, 2.0, 0.0)]
    assert in_a_large_scope == pytest.approx([0.982, 0.881, 0.5, 0.119, 0.018], abs=0.001)
    # Of a few memories the best is most likely the answer, although its sum is small.
    assert certainty(fused(2.5), fused(2.5)) == pytest.approx(0.731, abs=0.001)
    assert certainty(fused(0.3), fused(2.5)) < 0.25
    assert 0 <= certainty(0.0, 1.0) < certainty(1.0, 1.0) <= 1
