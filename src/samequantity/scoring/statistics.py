"""The tests and intervals of PROTOCOL, section 6, from statsmodels.

statsmodels takes a second to import, so that it is imported where it is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
"""Coverage of every interval, two-sided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The two ends of an interval, in the unit of what it covers."""

    low: float
    high: float


def mcnemar_p_value(*, canonical_only: int, transformed_only: int) -> float:
    """Exact two-sided McNemar test of paired outcomes: the binomial test of the discordant pairs at one half.

    Without a discordant pair there is nothing to tell apart, and p is 1.
    """
    from statsmodels.stats.contingency_tables import mcnemar

    if canonical_only + transformed_only == 0:
        return 1.0
    # The concordant pairs do not enter the exact test.
    return float(mcnemar([[0, canonical_only], [transformed_only, 0]], exact=True).pvalue)


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment over exactly the tests given, in the order given."""
    from statsmodels.stats.multitest import multipletests

    if not p_values:
        return []
    return [float(p) for p in multipletests(p_values, method="holm")[1]]


def wilson_intervals(successes: Sequence[int], trials: Sequence[int]) -> list[Interval]:
    """Two-sided Wilson score intervals of binomial rates, one for each pair of counts (trials > 0)."""
    import numpy as np
    from statsmodels.stats.proportion import proportion_confint

    if not trials:
        return []
    lows, highs = proportion_confint(np.asarray(successes), np.asarray(trials), alpha=1 - CONFIDENCE, method="wilson")
    # The formula is exactly 0 without a success and exactly 1 without a failure; rounding may leave 1e-19 of it.
    return [
        Interval(low=float(low) if k else 0.0, high=float(high) if k < n else 1.0)
        for k, n, low, high in zip(successes, trials, lows, highs, strict=True)
    ]
