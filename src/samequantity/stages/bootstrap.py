"""Stage bootstrap: intervals of one system, base-clustered draws for gaps, Wilson for rates (PROTOCOL, section 6)."""

from enum import StrEnum

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.scoring.columns import INTERVALS, place
from samequantity.scoring.measures import RATES, profiles, ratios
from samequantity.scoring.outcomes import outcomes
from samequantity.scoring.resampling import DRAWS, generator_for, resample
from samequantity.scoring.statistics import wilson_interval
from samequantity.scoring.tallies import Tally, tallies


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

    A draw resamples all bases of the study, unstratified, and takes all views of a base along. `seed` is the study's;
    with the system's name it decides every draw, whatever else the study holds.

    Raises SettingsError for less than one draw, and TableError for whatever `outcomes` refuses.
    """
    joined = outcomes(views, answers, audits, complete_orbits_only=complete_orbits_only)
    bases = profiles(joined.frame)
    counted = [tally for layer in Layer for tally in tallies(bases, ratios(layer)) if tally.denominator]
    gaps = [tally for tally in counted if tally.ratio.measure.is_gap]
    resampled = resample(bases, gaps, draws=draws, generator=generator_for("bootstrap", seed, joined.system))
    rows = [
        gap.columns() | found.columns(draws) | {"method": Method.BOOTSTRAP.value}
        for gap, found in zip(gaps, resampled, strict=True)
    ]
    rows += [_wilson_row(tally) for tally in counted if tally.ratio.measure in RATES]
    return pl.DataFrame([row | {"system": joined.system} for row in sorted(rows, key=place)], schema=INTERVALS)


def _wilson_row(rate: Tally) -> dict[str, object]:
    interval = wilson_interval(rate.numerator, rate.denominator)
    return rate.columns() | {"low": interval.low, "high": interval.high, "method": Method.WILSON.value}
