"""The tests and intervals agree with their textbook formulas, computed here from scratch."""

from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samequantity.scoring.statistics import holm_adjusted, mcnemar_p_value, wilson_intervals

pytestmark = pytest.mark.usefixtures("quick_holm")


def exact_mcnemar(canonical_only: int, transformed_only: int) -> Fraction:
    """Twice the smaller binomial tail at one half, at most 1, in rationals."""
    pairs = canonical_only + transformed_only
    tail = sum(comb(pairs, k) for k in range(min(canonical_only, transformed_only) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**pairs))


@given(st.integers(0, 400), st.integers(0, 400))
@settings(deadline=None)
def test_mcnemar_is_the_binomial_sum(canonical_only: int, transformed_only: int) -> None:
    found = mcnemar_p_value(canonical_only=canonical_only, transformed_only=transformed_only)

    assert found == pytest.approx(float(exact_mcnemar(canonical_only, transformed_only)), rel=1e-10)


def test_no_discordant_pair_gives_exactly_one() -> None:
    assert mcnemar_p_value(canonical_only=0, transformed_only=0) == 1.0


def step_down(p_values: list[float]) -> list[float]:
    """Holm: the running maximum over the sorted p of (tests left) × p, at most 1."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for done, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - done) * p_values[index]))
        adjusted[index] = highest
    return adjusted


@given(st.lists(st.floats(0, 1), max_size=6))
@settings(max_examples=25, deadline=None)
def test_holm_is_the_step_down_procedure(p_values: list[float]) -> None:
    assert holm_adjusted(p_values) == pytest.approx(step_down(p_values), rel=1e-12, abs=1e-300)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(deadline=None)
def test_wilson_is_the_score_interval(counts: tuple[int, int]) -> None:
    successes, trials = counts
    z = NormalDist().inv_cdf(0.975)
    rate = successes / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))

    (found,) = wilson_intervals([successes], [trials])

    assert found.low == pytest.approx(centre - half, rel=1e-9, abs=1e-12)
    assert found.high == pytest.approx(centre + half, rel=1e-9, abs=1e-12)


def test_wilson_ends_are_exact_at_the_edges() -> None:
    none, every = wilson_intervals([0, 3600], [3600, 3600])

    assert none.low == 0.0
    assert every.high == 1.0
    assert none.high == pytest.approx(1 - every.low)
    assert 0 < none.high < 0.01
