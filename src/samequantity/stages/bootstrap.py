"""Stage bootstrap: intervals of one system, base-clustered draws for gaps, Wilson for rates (PROTOCOL, section 6).

A draw resamples all bases of the study, unstratified, and takes all views of a base along. Bases with the same
template and the same outcomes in both layers are one *pattern*, so that a draw is one multinomial over the sorted
patterns. One matrix of draws serves every measure of the system, which keeps them paired.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.errors import SettingsError
from samequantity.scoring.columns import INTERVALS
from samequantity.scoring.measures import PATTERN_COLUMNS, RATES, profiles, ratios
from samequantity.scoring.outcomes import outcomes
from samequantity.scoring.resampling import Resampled, draw_weights, generator_for, resampled_ratios
from samequantity.scoring.statistics import Interval, wilson_intervals
from samequantity.scoring.tallies import Tally, tallies

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 10_000


class Method(StrEnum):
    """How an interval was made."""

    BOOTSTRAP = "bootstrap"
    WILSON = "wilson"


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

    generator = generator_for("bootstrap", seed, joined.system)
    resampled = iter(resample(bases, gaps, draws=draws, generator=generator))
    wilson = iter(wilson_intervals([rate.numerator for rate in rates], [rate.denominator for rate in rates]))
    rows = []
    for tally in counted:
        if tally.ratio.measure.is_gap:
            found = next(resampled)
            rows.append(_row(tally, found.interval, Method.BOOTSTRAP, draws, found.dropped_draws))
        elif tally.ratio.measure in RATES:
            rows.append(_row(tally, next(wilson), Method.WILSON, None, None))
    return pl.DataFrame([row | {"system": joined.system} for row in rows], schema=INTERVALS)


def resample(
    bases: pl.DataFrame, gaps: Sequence[Tally], *, draws: int, generator: "np.random.Generator"
) -> Sequence[Resampled]:
    """Bootstrap ratios of the profiles' patterns, one result a tally, all from the same draws."""
    patterns = bases.group_by(PATTERN_COLUMNS).len("bases").sort(PATTERN_COLUMNS, nulls_last=False)
    weights = draw_weights(patterns["bases"].cast(pl.Int64).to_numpy(), draws=draws, generator=generator)
    numerators, denominators = _added(patterns, gaps)
    return resampled_ratios(weights, numerators, denominators)


def _added(patterns: pl.DataFrame, gaps: Sequence[Tally]) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """What one base of each pattern adds to the numerators and to the denominators; shape (patterns, tallies) each."""
    columns = [
        pl.when(tally.stratum).then(value).otherwise(0).cast(pl.Float64).alias(f"{name}{index}")
        for name in ("numerator", "denominator")
        for index, tally in enumerate(gaps)
        for value in (getattr(tally.ratio, name),)
    ]
    both = patterns.select(columns).to_numpy()
    return both[:, : len(gaps)], both[:, len(gaps) :]


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
