"""Stage bootstrap: intervals of one system, base-clustered draws for gaps, Wilson for rates (PROTOCOL, section 6).

A draw resamples all bases of the study, unstratified, and takes all views of a base along. Bases with the same
template and the same outcomes in both layers are one *pattern*, so that a draw is one multinomial over the sorted
patterns. One matrix of draws serves every measure of the system, which keeps them paired.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.errors import SettingsError
from samequantity.scoring.columns import INTERVALS
from samequantity.scoring.measures import PATTERN_COLUMNS, RATES, Tally, profiles, ratios, tallies
from samequantity.scoring.outcomes import outcomes
from samequantity.scoring.statistics import CONFIDENCE, Interval, wilson_intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 10_000


class Method(StrEnum):
    """How an interval was made."""

    BOOTSTRAP = "bootstrap"
    WILSON = "wilson"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrapped:
    """A percentile interval, None when every draw was dropped, and the number of draws without a denominator."""

    interval: Interval | None
    dropped_draws: int


def bootstrap(
    views: pl.DataFrame,
    answers: pl.DataFrame,
    audits: pl.DataFrame,
    *,
    seed: int,
    draws: int = DRAWS,
    complete_orbits_only: bool = False,
) -> pl.DataFrame:
    """The intervals of one system in both layers; see `INTERVALS` for the result.

    `seed` is the study's; with the system's name it decides every draw, whatever else the study holds.

    Raises SettingsError for less than one draw, and TableError for whatever `outcomes` refuses.
    """
    if draws < 1:
        raise SettingsError(f"draws: {draws} is not a number of bootstrap draws. Set 1 or more, 10000 by the protocol")
    joined = outcomes(views, answers, audits, complete_orbits_only=complete_orbits_only)
    bases = profiles(joined.frame)
    counted = [tally for layer in Layer for tally in tallies(bases, ratios(layer)) if tally.denominator]
    gaps = [tally for tally in counted if tally.ratio.measure.is_gap]
    rates = [tally for tally in counted if tally.ratio.measure in RATES]

    resampled = iter(resample(bases, gaps, draws=draws, generator=generator_for(seed, joined.system)))
    wilson = iter(wilson_intervals([rate.numerator for rate in rates], [rate.denominator for rate in rates]))
    rows = []
    for tally in counted:
        if tally.ratio.measure.is_gap:
            found = next(resampled)
            rows.append(_row(tally, found.interval, Method.BOOTSTRAP, draws, found.dropped_draws))
        elif tally.ratio.measure in RATES:
            rows.append(_row(tally, next(wilson), Method.WILSON, None, None))
    return pl.DataFrame([row | {"system": joined.system} for row in rows], schema=INTERVALS)


def generator_for(seed: int, system: str) -> "np.random.Generator":
    """The system's own stream of random numbers, from the study's seed and the system's name alone."""
    import numpy as np

    digest = hashlib.sha256(f"bootstrap\n{seed}\n{system}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def resample(
    bases: pl.DataFrame, gaps: Sequence[Tally], *, draws: int, generator: "np.random.Generator"
) -> list[Bootstrapped]:
    """Bootstrap ratios of the profiles' patterns, one result a tally, all from the same draws."""
    import numpy as np

    if not gaps:
        return []
    patterns = bases.group_by(PATTERN_COLUMNS).len("bases").sort(PATTERN_COLUMNS, nulls_last=False)
    observed = patterns["bases"].to_numpy()
    # Whole numbers far below 2^53: sums in float64 are exact, and the matrix product is fast.
    weights = generator.multinomial(observed.sum(), observed / observed.sum(), size=draws).astype(np.float64)
    numerators = weights @ _pattern_matrix(patterns, gaps, [tally.ratio.numerator for tally in gaps])
    denominators = weights @ _pattern_matrix(patterns, gaps, [tally.ratio.denominator for tally in gaps])
    return [_percentiles(numerators[:, column], denominators[:, column]) for column in range(len(gaps))]


def _pattern_matrix(patterns: pl.DataFrame, gaps: Sequence[Tally], values: Sequence[pl.Expr]) -> "NDArray[np.float64]":
    """What one base of each pattern adds to each sum; shape (patterns, tallies)."""
    columns = [
        (value if tally.template is None else value * (pl.col("template") == tally.template).cast(pl.Int64))
        .cast(pl.Float64)
        .alias(str(index))
        for index, (tally, value) in enumerate(zip(gaps, values, strict=True))
    ]
    return patterns.select(columns).to_numpy()


def _percentiles(numerators: "NDArray[np.float64]", denominators: "NDArray[np.float64]") -> Bootstrapped:
    import numpy as np

    kept = denominators > 0
    dropped = int(np.count_nonzero(~kept))
    if dropped == len(kept):
        return Bootstrapped(interval=None, dropped_draws=dropped)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(numerators[kept] / denominators[kept], [tail, 100 - tail])
    return Bootstrapped(interval=Interval(low=float(low), high=float(high)), dropped_draws=dropped)


def _row(
    tally: Tally, interval: Interval | None, method: Method, draws: int | None, dropped_draws: int | None
) -> dict[str, object]:
    return {
        **tally.columns(),
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "draws": draws,
        "dropped_draws": dropped_draws,
        "method": method.value,
    }
