"""A draw is one multinomial over the patterns, however it is made, and an interval the percentiles of its ratios."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from samequantity.scoring import resampling
from samequantity.scoring.resampling import draw_weights, generator_for, resampled_ratios

Counts = NDArray[np.int64]
Weights = NDArray[np.float64]

BORDERS = [0, 1, 8, 10_000]
"""Values of RARE at which all patterns of a study are common, some, or none."""


def drawn(observed: list[int], draws: int, seed: int = 1) -> Weights:
    return draw_weights(np.array(observed), draws=draws, generator=np.random.default_rng(seed))


def test_the_stream_of_a_system_is_pinned() -> None:
    """A change here changes every published interval."""
    stream = generator_for("bootstrap", 20260725, "toy")

    assert [817587976, 138851145, 510479155] == stream.integers(0, 10**9, size=3).tolist()


def test_purpose_seed_and_systems_each_have_a_stream_of_their_own() -> None:
    streams = [
        generator_for("a", 1, "x"),
        generator_for("b", 1, "x"),
        generator_for("a", 2, "x"),
        generator_for("a", 1, "y"),
        generator_for("a", 1, "x", "y"),
        generator_for("a", 1, "y", "x"),
    ]

    assert len(streams) == len({int(stream.integers(2**62)) for stream in streams})


def test_the_draws_of_a_generator_are_pinned() -> None:
    """As above; three patterns are drawn base by base, two are not."""
    found = draw_weights(np.array([3, 40, 1, 9, 8]), draws=3, generator=generator_for("bootstrap", 20260725, "toy"))

    assert [[1, 42, 1, 10, 7], [3, 41, 0, 10, 7], [2, 44, 0, 8, 7]] == found.astype(int).tolist()


@given(st.lists(st.integers(1, 30), min_size=1, max_size=7), st.sampled_from(BORDERS), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_every_draw_has_as_many_bases_as_were_observed(observed: list[int], rare: int, draws: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "RARE", rare)
        weights = drawn(observed, draws)

    assert (draws, len(observed)) == weights.shape
    assert [sum(observed)] * draws == weights.sum(axis=1).tolist()
    assert np.array_equal(np.floor(weights), weights)
    assert weights.min() >= 0


@pytest.mark.parametrize("rare", BORDERS)
@pytest.mark.parametrize(
    "observed",
    [[1, 1, 1, 1, 1, 1], [8, 9, 7], [120, 1, 2, 9, 8, 1], [40, 60], [5]],
    ids=lambda observed: "-".join(map(str, observed)),
)
def test_cells_have_the_means_and_covariances_of_the_multinomial(
    observed: list[int], rare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """n p_i, n p_i (1 − p_i) and −n p_i p_j, with p the observed shares, within five standard errors."""
    monkeypatch.setattr(resampling, "RARE", rare)
    draws, bases = 20_000, sum(observed)
    weights = drawn(observed, draws)
    shares = np.array(observed) / bases
    covariance = bases * (np.diag(shares) - np.outer(shares, shares))
    products = (weights - bases * shares)[:, :, None] * (weights - bases * shares)[:, None, :]

    mean_error = 5 * np.sqrt(np.diag(covariance) / draws)
    product_error = 5 * products.std(axis=0) / np.sqrt(draws)
    assert (np.abs(weights.mean(axis=0) - observed) <= mean_error + 1e-12).all()
    assert (np.abs(products.mean(axis=0) - covariance) <= product_error + 1e-12).all()


@pytest.mark.parametrize("rare", BORDERS)
@pytest.mark.parametrize("observed", [[1], [1, 1], [2, 1], [1, 3], [2, 2, 1], [1, 2, 3], [1, 1, 1, 1, 1, 1]], ids=str)
def test_up_to_six_bases_are_drawn_as_often_as_enumeration_says(
    observed: list[int], rare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All n^n draws, base by base; each outcome comes as often within five standard errors, and no other comes."""
    monkeypatch.setattr(resampling, "RARE", rare)
    bases, draws = sum(observed), 20_000
    patterns = np.repeat(np.arange(len(observed)), observed)
    each = patterns[np.indices((bases,) * bases).reshape(bases, -1)]
    exact = Counter(zip(*((each == pattern).sum(axis=0).tolist() for pattern in range(len(observed))), strict=True))
    found = Counter(tuple(row) for row in drawn(observed, draws).astype(int).tolist())

    assert found.keys() <= exact.keys()
    for outcome, ways in exact.items():
        chance = ways / bases**bases
        expected = draws * chance
        assert abs(found[outcome] - expected) <= 5 * np.sqrt(expected * (1 - chance)) + 1


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_an_interval_is_the_percentiles_of_the_ratios_of_the_draws(data: st.DataObject) -> None:
    """Each ratio by itself in rationals; draws without a denominator are left out and counted."""
    observed = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    ratios = data.draw(st.integers(1, 3))
    column = st.lists(st.integers(0, 1), min_size=len(observed), max_size=len(observed))
    bottoms = [data.draw(column) for _ in range(ratios)]
    signs = st.lists(st.integers(-1, 1), min_size=len(observed), max_size=len(observed))
    tops = [[top * bottom for top, bottom in zip(data.draw(signs), shown, strict=True)] for shown in bottoms]
    weights = drawn(observed, 30)

    found = resampled_ratios(weights, np.array(tops, dtype=float).T, np.array(bottoms, dtype=float).T)

    for resampled, top, bottom in zip(found, tops, bottoms, strict=True):
        sums = [(int(row @ np.array(top)), int(row @ np.array(bottom))) for row in weights]
        kept = [float(Fraction(first, second)) for first, second in sums if second]
        assert len(sums) - len(kept) == resampled.dropped_draws
        if not kept:
            assert resampled.interval is None
        else:
            assert resampled.interval is not None
            ends = (resampled.interval.low, resampled.interval.high)
            assert tuple(np.percentile(kept, [2.5, 97.5])) == ends


def test_a_draw_without_a_denominator_is_dropped_from_that_ratio_alone() -> None:
    weights = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
    first, both, never = resampled_ratios(
        weights, np.array([[1.0, 1.0, 0.0], [0.0, -1.0, 0.0]]), np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    )

    assert (2, 0, 4) == (first.dropped_draws, both.dropped_draws, never.dropped_draws)
    assert never.interval is None
    assert first.interval is not None
    assert both.interval is not None
    # Ratios 0/2 and 1/1; then 2/2, -2/2, 0/2 and 2/2.
    assert (0.025, 0.975) == pytest.approx((first.interval.low, first.interval.high))
    assert (-0.925, 1.0) == pytest.approx((both.interval.low, both.interval.high))
