"""Percentile intervals of ratios, resampling whole bases (PROTOCOL, section 6).

Bases that are the same to every ratio are one *pattern*; whoever resamples says which are. A draw of n bases is then
one multinomial over the patterns, and one matrix of draws serves every ratio, which keeps them paired. The interval is
the percentile interval of Efron, "Nonparametric standard errors and confidence intervals", 1981.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from samequantity.errors import SettingsError
from samequantity.scoring.measures import PATTERN_COLUMNS
from samequantity.scoring.statistics import CONFIDENCE, Interval
from samequantity.scoring.tallies import Tally, added

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 10_000

RARE = 8
"""Patterns of at most so many bases are drawn base by base: below it, that is faster than a binomial for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """A percentile interval, None when every draw was dropped, and the number of draws without a denominator."""

    interval: Interval | None
    dropped_draws: int

    def columns(self, draws: int) -> dict[str, object]:
        """The columns that intervals and comparisons have in common."""
        return {
            "low": self.interval and self.interval.low,
            "high": self.interval and self.interval.high,
            "draws": draws,
            "dropped_draws": self.dropped_draws,
        }


def generator_for(purpose: str, seed: int, *systems: str) -> "np.random.Generator":
    """A stream of random numbers of its own, from what it is for, the study's seed and names of systems alone."""
    import numpy as np

    digest = hashlib.sha256("\n".join([purpose, str(seed), *systems]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def draw_weights(
    observed: "NDArray[np.int64]", *, draws: int, generator: "np.random.Generator"
) -> "NDArray[np.float64]":
    """How often each pattern is drawn when as many bases as were observed are drawn with replacement.

    `observed` holds the number of bases of each pattern, shape (patterns,); the result has shape (draws, patterns),
    whole numbers, each row with the sum of `observed`. A row is one multinomial over the patterns: a multinomial over
    all rare ones together and each common one, then the share of the rare ones falls on their bases evenly.

    Raises SettingsError for less than one draw.
    """
    import numpy as np

    if draws < 1:
        raise SettingsError(f"draws: {draws} is not a number of bootstrap draws. Set 1 or more, 10000 by the protocol")
    bases, patterns = int(observed.sum()), len(observed)
    common, rare = np.flatnonzero(observed > RARE), np.flatnonzero(observed <= RARE)
    rare_bases = np.repeat(rare, observed[rare])
    # The last share takes what rounding leaves of the others: it must not be that of no base at all.
    shares = np.concatenate([[len(rare_bases)], observed[common]]) / bases
    drawn = generator.multinomial(bases, shares, size=draws)
    cells = np.repeat(np.arange(draws) * patterns, drawn[:, 0])
    if len(rare_bases):
        cells += rare_bases[generator.integers(len(rare_bases), size=len(cells))]
    weights = np.bincount(cells, minlength=draws * patterns).reshape(draws, patterns).astype(np.float64)
    weights[:, common] = drawn[:, 1:]
    return weights


def resampled_ratios(
    weights: "NDArray[np.float64]", numerators: "NDArray[np.int64]", denominators: "NDArray[np.int64]"
) -> Sequence[Resampled]:
    """The interval of each ratio over the draws of `draw_weights`, in the order of the ratios.

    `numerators` and `denominators` say what one base of each pattern adds, whole numbers, shape (patterns, ratios).
    A draw that adds nothing to a denominator is dropped from that ratio and counted.
    """
    import numpy as np

    # Layers and strata often agree, so that many ratios are the same.
    distinct, places = np.unique(np.concatenate([numerators, denominators]), axis=1, return_inverse=True)
    # Whole numbers far below 2^53: sums in float64 are exact in any order, and so on any number of threads.
    tops, bottoms = (weights @ half for half in np.split(distinct.astype(np.float64), 2))
    found = [_percentiles(tops[:, column], bottoms[:, column]) for column in range(distinct.shape[1])]
    return [found[place] for place in places.ravel()]


def resample(
    bases: pl.DataFrame, gaps: Sequence[Tally], *, draws: int, generator: "np.random.Generator"
) -> Sequence[Resampled]:
    """The interval of each gap of one system, in their order, from its profiles: all from the same draws.

    The patterns are those of PROTOCOL: bases of one template with the same outcomes in both layers.
    """
    patterns = bases.group_by(PATTERN_COLUMNS).len("bases").sort(PATTERN_COLUMNS, nulls_last=False)
    weights = draw_weights(patterns["bases"].cast(pl.Int64).to_numpy(), draws=draws, generator=generator)
    numerators = added(patterns, gaps, [gap.ratio.numerator for gap in gaps])
    denominators = added(patterns, gaps, [gap.ratio.denominator for gap in gaps])
    return resampled_ratios(weights, numerators, denominators)


def _percentiles(tops: "NDArray[np.float64]", bottoms: "NDArray[np.float64]") -> Resampled:
    import numpy as np

    kept = bottoms > 0
    dropped = int(np.count_nonzero(~kept))
    if dropped == len(kept):
        return Resampled(interval=None, dropped_draws=dropped)
    if dropped:
        tops, bottoms = tops[kept], bottoms[kept]
    # In this form the points are 2.5 and 97.5 to the last bit.
    low, high = np.percentile(tops / bottoms, [50 - 50 * CONFIDENCE, 50 + 50 * CONFIDENCE])
    # A sum may come out as −0, depending on who multiplied; + 0 makes it 0.
    return Resampled(interval=Interval(low=float(low) + 0.0, high=float(high) + 0.0), dropped_draws=dropped)
