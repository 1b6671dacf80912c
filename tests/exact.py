"""What the tests hold the statistics to, each from its definition and without the code under test.

All of it is exact, in rationals, but for `resampled_by_scipy`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import comb, floor, sqrt
from typing import Any


def exact_mcnemar(first_only: int, second_only: int) -> Fraction:
    """Twice the smaller binomial tail at one half, at most 1."""
    pairs = first_only + second_only
    tail = sum(comb(pairs, k) for k in range(min(first_only, second_only) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**pairs))


def step_down(p_values: Sequence[Fraction]) -> list[Fraction]:
    """Holm by its definition: the largest (tests left) × p among the p-values up to this one, at most 1."""
    ranked = sorted(p_values)
    return [
        min(Fraction(1), max((len(ranked) - rank) * p for rank, p in enumerate(ranked) if p <= own)) for own in p_values
    ]


def rejected(discordant: int) -> list[int]:
    """The counts of the commoner kind at which the exact test gives a p of at most .05."""
    counts = range(discordant + 1)
    return [count for count in counts if exact_mcnemar(count, discordant - count) <= Fraction(1, 20)]


def power(discordant: int, share: Fraction) -> Fraction:
    """The probability of a rejection when each pair is of the commoner kind with this probability."""
    return sum(
        (comb(discordant, k) * share**k * (1 - share) ** (discordant - k) for k in rejected(discordant)),
        start=Fraction(0),
    )


def quartile(values: Sequence[int], quarter: int) -> Fraction:
    """The value at so many quarters of the way from the smallest to the largest, straight lines between neighbours."""
    ordered = sorted(values)
    place = Fraction(quarter * (len(ordered) - 1), 4)
    below, above = ordered[floor(place)], ordered[min(floor(place) + 1, len(ordered) - 1)]
    return below + (place - floor(place)) * (above - below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumerated:
    """The distribution of a ratio over all draws of as many bases as there are: how many draws come to each value."""

    draws: int
    ways: Counter[Fraction]

    @property
    def missed(self) -> Fraction:
        """The share of the draws without a denominator, which come to no value."""
        return 1 - Fraction(self.ways.total(), self.draws)

    def quantile(self, share: float) -> float:
        """The smallest value that, with those below it, so many of the draws that have one come to."""
        ordered = sorted(self.ways)
        reached = accumulate(self.ways[value] for value in ordered)
        wanted = share * self.ways.total()
        return float(next((value for value, ways in zip(ordered, reached, strict=True) if ways >= wanted), ordered[-1]))

    def around(self, share: float, draws: int) -> tuple[float, float]:
        """Between which values that quantile of so many random draws lies: six standard errors to either side."""
        error = 6 * sqrt(share * (1 - share) / draws)
        return self.quantile(share - error), self.quantile(share + error)

    def dropped(self, draws: int) -> tuple[float, float]:
        """Between which numbers those of so many random draws lie that come to no value, likewise."""
        expected, error = draws * self.missed, 6 * sqrt(draws * self.missed * (1 - self.missed))
        return float(expected) - error, float(expected) + error


def enumerated(tops: Sequence[int], bottoms: Sequence[int]) -> Enumerated:
    """All n^n draws of n bases, each of which adds so much to numerator and denominator, one drawn base at a time."""
    bases = Counter(zip(tops, bottoms, strict=True))
    sums = Counter({(0, 0): 1})
    for _ in tops:
        further = Counter[tuple[int, int]]()
        for (top, bottom), ways in sums.items():
            for (more, shown), alike in bases.items():
                further[top + more, bottom + shown] += ways * alike
        sums = further
    found = Counter[Fraction]()
    for (top, bottom), ways in sums.items():
        if bottom:
            found[Fraction(top, bottom)] += ways
    return Enumerated(draws=len(tops) ** len(tops), ways=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """The ends of a percentile interval, and within what two such ends of 10,000 draws agree."""

    low: float
    high: float
    error: float


def resampled_by_scipy(tops: Sequence[int], bottoms: Sequence[int]) -> Resampled:
    """scipy's bootstrap of the same ratio, which resamples the bases one by one."""
    import numpy as np
    from scipy import stats

    def ratio(top: Any, bottom: Any, axis: int) -> Any:
        return top.sum(axis=axis) / bottom.sum(axis=axis)

    found = stats.bootstrap(
        (np.array(tops), np.array(bottoms)),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    ends = found.confidence_interval
    return Resampled(low=ends.low, high=ends.high, error=4 * found.standard_error / sqrt(10_000 * 0.025))
