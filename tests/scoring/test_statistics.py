"""Tests, intervals and quartiles agree with their formulas, computed here from scratch, and with statsmodels."""

import statistics
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact import exact_mcnemar, power, quartile, rejected, step_down
from samequantity.scoring.statistics import (
    holm_adjusted,
    mcnemar_p_value,
    minimum_detectable_difference,
    quartiles,
    wilson_interval,
)


@pytest.mark.parametrize("pairs", [*range(1, 31), 64, 299, 500, 963, 999, 1000])
def test_mcnemar_is_the_binomial_sum_down_to_the_smallest_p_of_a_family(pairs: int) -> None:
    """A family has 1,000 pairs: the smallest p is 2^-999, some 1e-301."""
    for rarer in {*range(0, pairs // 2, 1 + pairs // 25), pairs // 2 - 1, pairs // 2} - {-1}:
        found = mcnemar_p_value(pairs - rarer, rarer)
        assert float(exact_mcnemar(pairs - rarer, rarer)) == pytest.approx(found, rel=1e-10, abs=0)
        assert 0 < found <= 1


@given(st.integers(0, 600), st.integers(0, 600))
@settings(max_examples=40, deadline=None)
def test_mcnemar_is_symmetric_and_exact_whatever_the_counts(first: int, second: int) -> None:
    found = mcnemar_p_value(first, second)

    assert float(exact_mcnemar(first, second)) == pytest.approx(found, rel=1e-10, abs=0)
    assert found == mcnemar_p_value(second, first)


def test_mcnemar_is_that_of_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    for canonical_only, transformed_only in [(0, 1), (1, 0), (6, 0), (3, 3), (9, 290), (61, 80), (400, 500)]:
        expected = mcnemar([[7, canonical_only], [transformed_only, 5]], exact=True).pvalue
        found = mcnemar_p_value(canonical_only, transformed_only)
        assert expected == pytest.approx(found, rel=1e-10, abs=0)


@pytest.mark.parametrize("pairs", [0, 1, 2, 7, 8])
def test_pairs_that_are_as_even_as_can_be_give_exactly_one(pairs: int) -> None:
    """Without a discordant pair as well, where there is nothing to tell apart."""
    assert mcnemar_p_value(pairs // 2, (pairs + 1) // 2) == 1.0


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), max_size=7))
@settings(deadline=None)
def test_holm_is_the_step_down_procedure(p_values: list[float]) -> None:
    expected = [float(adjusted) for adjusted in step_down([Fraction(p) for p in p_values])]

    assert expected == pytest.approx(holm_adjusted(p_values), rel=1e-15, abs=5e-324)


def test_holm_is_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    chance = np.random.default_rng(1)
    # Few calls: each runs a full garbage collection.
    for p_values in (
        [0.5],
        [0.0, 1.0],
        [0.01, 0.04, 0.03, 0.03],
        list(chance.random(5) ** 6),
        list(chance.random(40) ** 3),
    ):
        expected = multipletests(p_values, method="holm")[1]
        assert expected == pytest.approx(holm_adjusted(p_values), rel=1e-14)


def test_holm_of_no_test_is_nothing() -> None:
    assert [] == holm_adjusted([])


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=40, deadline=None)
def test_wilson_ends_are_the_rates_of_which_the_count_is_just_not_rejected(counts: tuple[int, int]) -> None:
    """Wilson's definition: at each end, the count lies z standard errors from the end's own expectation."""
    successes, trials = counts
    found = wilson_interval(successes, trials)
    z = NormalDist().inv_cdf(0.975)

    assert 0 <= found.low <= successes / trials <= found.high <= 1
    assert (successes > 0, successes < trials) == (found.low > 0, found.high < 1)
    for end in (found.low, found.high):
        if 0 < end < 1:
            assert z == pytest.approx(abs(successes - trials * end) / sqrt(trials * end * (1 - end)), rel=1e-9)


@pytest.mark.parametrize("trials", [1, 2, 9, 200, 3600])
def test_wilson_is_that_of_statsmodels(trials: int) -> None:
    from statsmodels.stats.proportion import proportion_confint

    successes = np.arange(trials + 1)
    lows, highs = proportion_confint(successes, trials, method="wilson")
    found = [wilson_interval(count, trials) for count in successes.tolist()]

    assert lows == pytest.approx([interval.low for interval in found], rel=1e-11, abs=1e-15)
    assert highs == pytest.approx([interval.high for interval in found], rel=1e-11)


def test_wilson_ends_are_exact_at_the_edges() -> None:
    none, every = wilson_interval(0, 3600), wilson_interval(3600, 3600)

    assert none.low == 0.0
    assert every.high == 1.0
    assert none.high == pytest.approx(1 - every.low)
    assert 0 < none.high < 0.01


@given(st.lists(st.integers(-5, 4000), min_size=1, max_size=12))
@settings(deadline=None)
def test_quartiles_are_inclusive_and_exact(values: list[int]) -> None:
    found = quartiles(values)

    assert (found.q1, found.median, found.q3) == tuple(quartile(values, quarter) for quarter in (1, 2, 3))
    assert np.percentile(values, [25, 50, 75]).tolist() == pytest.approx([found.q1, found.median, found.q3])
    assert found.median == statistics.median(map(Fraction, values))
    assert min(values) <= found.q1 <= found.median <= found.q3 <= max(values)
    if len(values) > 1:
        fractions = [Fraction(value) for value in values]
        assert statistics.quantiles(fractions, method="inclusive") == [found.q1, found.median, found.q3]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7], "7 7 7"),
        ([1, 2], "5/4 3/2 7/4"),
        ([2, 1], "5/4 3/2 7/4"),
        ([3, 1, 2], "3/2 2 5/2"),
        ([1, 2, 4, 3], "7/4 5/2 13/4"),
        ([4, 4, 4, 9], "4 4 21/4"),
    ],
)
def test_quartiles_of_a_few_values(values: list[int], expected: str) -> None:
    found = quartiles(values)

    assert expected == f"{found.q1} {found.median} {found.q3}"


def minimum_detectable_share(discordant: int) -> float | None:
    """How many of the discordant pairs are of the commoner kind at the minimum detectable difference."""
    difference = minimum_detectable_difference(discordant=discordant, bases=discordant or 1)
    return None if difference is None else (1 + difference) / 2


def test_the_minimum_detectable_difference_is_one_of_rates_over_all_bases() -> None:
    of_pairs = minimum_detectable_difference(discordant=100, bases=100)
    of_bases = minimum_detectable_difference(discordant=100, bases=1000)

    assert of_pairs is not None
    assert of_bases == pytest.approx(of_pairs / 10, rel=1e-12)


@given(st.integers(6, 60))
@settings(max_examples=20, deadline=None)
def test_the_minimum_detectable_share_is_the_smallest_with_a_power_of_four_fifths(discordant: int) -> None:
    found = minimum_detectable_share(discordant)

    assert found is not None
    assert Fraction(1, 2) < Fraction(found) < 1
    nearby = Fraction(1, 10**8)
    assert power(discordant, Fraction(found) - nearby) < Fraction(4, 5)
    assert power(discordant, Fraction(found) + nearby) > Fraction(4, 5)


@pytest.mark.parametrize("discordant", range(6))
def test_fewer_than_six_pairs_detect_nothing(discordant: int) -> None:
    assert [] == rejected(discordant)
    assert minimum_detectable_share(discordant) is None


def test_more_pairs_detect_a_smaller_share_unless_the_test_rejects_no_more_of_them() -> None:
    """The test is discrete: while the same counts of the rarer kind reject, one more pair asks for a larger share."""
    shares = {pairs: minimum_detectable_share(pairs) for pairs in range(6, 80)}
    reach = {pairs: len(rejected(pairs)) for pairs in shares}

    for (pairs, share), (more, other) in pairwise(shares.items()):
        assert share is not None
        assert other is not None
        assert (other > share) == (reach[more] == reach[pairs])
    large = [minimum_detectable_share(pairs) or 1.0 for pairs in (79, 300, 1000, 3600)]
    assert large == sorted(large, reverse=True)
