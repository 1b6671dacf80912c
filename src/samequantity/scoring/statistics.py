"""The tests, intervals and quartiles of PROTOCOL, section 6.

Probabilities come from scipy.special, which is imported where it is used. scipy.stats and statsmodels take a second to
import, more than all the rest of scoring a system takes, so that Holm's and Wilson's formulas stand here; the tests
hold them to statsmodels, and the p-values to sums in rationals.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist, quantiles

CONFIDENCE = 0.95
"""Coverage of every interval, two-sided."""

ALPHA = 0.05
"""A p-value below this counts."""

THRESHOLD_POINTS = 3
"""The practical threshold of a gap, in percentage points."""

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

POWER = 0.8
"""The probability with which a minimum detectable effect is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The two ends of an interval, in the unit of what it covers."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quartiles:
    """Inclusive quartiles: the smallest value is the 0 % point and the largest the 100 % point."""

    q1: Fraction
    median: Fraction
    q3: Fraction


def mcnemar_p_value(first_only: int, second_only: int) -> float:
    """Exact two-sided McNemar test of paired outcomes: the binomial test of the discordant pairs at one half.

    Takes the numbers of pairs in which only the first, and only the second, is a success; their order does not matter.
    Pairs that are as even as can be, none among them, give exactly 1.
    """
    from scipy.special import bdtr

    rarer, pairs = min(first_only, second_only), first_only + second_only
    if pairs - 2 * rarer <= 1:
        return 1.0  # the two tails, equal at one half, meet in the middle and would add up to 1 or more
    # Unlike scipy.stats.binom, whose tail is 0 below 1e-280, bdtr keeps its precision down to the smallest floats.
    return 2 * float(bdtr(rarer, pairs, 0.5))


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment over exactly the tests given, in the order given.

    Holm, "A simple sequentially rejective multiple test procedure", 1979: the i-th smallest of m p-values times
    m − i + 1, but no less than those before it, and at most 1.
    """
    adjusted, highest = dict[int, float](), 0.0
    for done, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - done) * p_values[index]))
        adjusted[index] = highest
    return [adjusted[index] for index in range(len(p_values))]


def wilson_interval(successes: int, trials: int) -> Interval:
    """Two-sided Wilson score interval of a binomial rate (trials > 0).

    Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    centre = (successes + _Z * _Z / 2) / (trials + _Z * _Z)
    half = _Z * sqrt(successes * (trials - successes) / trials + _Z * _Z / 4) / (trials + _Z * _Z)
    # The formula is exactly 0 without a success and exactly 1 without a failure; rounding may leave 1e-19 of it.
    return Interval(
        low=max(0.0, centre - half) if successes else 0.0, high=min(1.0, centre + half) if successes < trials else 1.0
    )


def quartiles(values: Sequence[int]) -> Quartiles:
    """Exact inclusive quartiles of at least one whole number (method 7 of Hyndman and Fan, 1996)."""
    if len(values) == 1:
        return Quartiles(q1=Fraction(values[0]), median=Fraction(values[0]), q3=Fraction(values[0]))
    q1, median, q3 = quantiles(map(Fraction, sorted(values)), n=4, method="inclusive")
    return Quartiles(q1=q1, median=median, q3=q3)


def minimum_detectable_difference(*, discordant: int, bases: int) -> float | None:
    """The smallest difference of two paired rates that the exact McNemar test finds with power `POWER` at `ALPHA`.

    The number of discordant pairs is taken as given. The test rejects when the rarer kind has at most r of them, r
    being the largest count with a p below `ALPHA`; the power is the probability of that, in either direction, when each
    pair is of the commoner kind with probability s (the conditional power of the binomial test). The difference is
    (2 s − 1) × discordant / bases for the smallest s above one half with enough power. None when no count rejects, as
    with fewer than six pairs.
    """
    from scipy.optimize import brentq
    from scipy.special import bdtr

    def p_value(rarer: int) -> float:
        return mcnemar_p_value(rarer, discordant - rarer)

    rejecting = bisect_left(range(discordant // 2 + 1), ALPHA, key=p_value)
    if rejecting == 0:
        return None

    def lacking(share: float) -> float:
        rarest = rejecting - 1
        return float(bdtr(rarest, discordant, 1 - share) + bdtr(rarest, discordant, share)) - POWER

    share = float(brentq(lacking, 0.5, 1.0, xtol=1e-12))
    return (2 * share - 1) * discordant / bases
