"""Stage compare: two systems on the same prompts, paired base by base (PROTOCOL, section 6)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.errors import TableError
from samequantity.scoring.columns import COMPARISONS, NO_VIEW
from samequantity.scoring.measures import RATES, Measure
from samequantity.scoring.outcomes import Outcomes, outcomes
from samequantity.scoring.pairing import Pair, pairs
from samequantity.scoring.resampling import DRAWS
from samequantity.scoring.statistics import holm_adjusted, mcnemar_p_value, minimum_detectable_difference
from samequantity.scoring.tallies import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What both layers made of one system's responses: the tables that parse and audit write."""

    answers: pl.DataFrame
    audits: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """McNemar's test of a pooled rate; the fields are columns of the comparisons."""

    p_value: float
    detectable: float | None
    p_holm: float | None = None
    holm_tests: int | None = None


def compare(
    views: pl.DataFrame,
    system: Verdicts,
    reference: Verdicts,
    *,
    seed: int,
    draws: int = DRAWS,
    complete_orbits_only: bool = False,
) -> pl.DataFrame:
    """Compare a system with a reference in both layers; see `COMPARISONS` for the result.

    `seed` is the study's; with the names of the two systems it decides every draw, whatever else the study holds. With
    `complete_orbits_only`, a base counts only where both systems answered each of its views.

    Raises SettingsError for less than one draw, and TableError when both tables are of the same system, when no base
    is complete in both, and for whatever `outcomes` refuses.
    """
    mine = _outcomes("system", views, system, complete_orbits_only=complete_orbits_only)
    other = _outcomes("reference", views, reference, complete_orbits_only=complete_orbits_only)
    if mine.system == other.system:
        raise TableError(f"both tables are of system {mine.system}. Pass the answers and audits of two systems")
    mine, other = _on_the_same_bases(mine, other)
    found = pairs(mine, other, seed=seed, draws=draws)
    tests = _tests(found)
    beside = {"system": mine.system, "reference": other.system, "dropped_bases": mine.dropped_bases}
    rows = [_row(pair, tests.get(index), draws) | beside for index, pair in enumerate(found)]
    return pl.DataFrame(rows, schema=COMPARISONS)


def _outcomes(role: str, views: pl.DataFrame, verdicts: Verdicts, *, complete_orbits_only: bool) -> Outcomes:
    """One system's outcomes; a TableError says whether it is about the system or the reference."""
    try:
        return outcomes(views, verdicts.answers, verdicts.audits, complete_orbits_only=complete_orbits_only)
    except TableError as error:
        raise TableError(f"{role}: {error}") from error


def _on_the_same_bases(mine: Outcomes, other: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Both systems' outcomes of the bases that are complete in both."""
    asked = mine.dropped_bases + mine.frame["base_id"].n_unique()
    frames = (
        mine.frame.join(other.frame, on="base_id", how="semi"),
        other.frame.join(mine.frame, on="base_id", how="semi"),
    )
    dropped = asked - frames[0]["base_id"].n_unique()
    if dropped == asked:
        raise TableError(
            f"{mine.system}, {other.system}: no base has an answer of both systems to each of its views. "
            "Run infer for the missing ones"
        )
    first, second = (
        replace(one, frame=frame, dropped_bases=dropped) for one, frame in zip((mine, other), frames, strict=True)
    )
    return first, second


def _tests(found: Sequence[Pair]) -> dict[int, Test]:
    """The tests of the pooled rates that have a base, by position, with Holm over the families of one layer."""
    tests = {index: _test(pair) for index, pair in enumerate(found) if _is_tested(pair.system)}
    for layer in Layer:
        views = [index for index in tests if _is_of_views(found[index].system, layer)]
        adjusted = holm_adjusted([tests[index].p_value for index in views])
        tests |= {
            index: replace(tests[index], p_holm=p_holm, holm_tests=len(views))
            for index, p_holm in zip(views, adjusted, strict=True)
        }
    return tests


def _is_tested(tally: Tally) -> bool:
    return tally.is_pooled and tally.ratio.measure in RATES and tally.denominator > 0


def _is_of_views(tally: Tally, layer: Layer) -> bool:
    return tally.ratio.measure is Measure.VIEW_CORRECTNESS and tally.ratio.layer is layer


def _test(pair: Pair) -> Test:
    discordant = pair.system_only + pair.reference_only
    return Test(
        p_value=mcnemar_p_value(pair.system_only, pair.reference_only),
        detectable=minimum_detectable_difference(discordant=discordant, bases=pair.system.denominator),
    )


def _row(pair: Pair, test: Test | None, draws: int) -> dict[str, object]:
    shared = pair.system.columns()
    is_gap = pair.system.ratio.measure.is_gap
    return {
        **{name: shared[name] for name in ("layer", "measure", "family", "template")},
        "denominator": pair.system.denominator,
        "system_numerator": pair.system.numerator,
        "system_estimate": shared["estimate"],
        "reference_numerator": pair.reference.numerator,
        "reference_estimate": pair.reference.columns()["estimate"],
        "difference": None if pair.difference is None else str(pair.difference),
        "system_only": None if is_gap else pair.system_only,
        "reference_only": None if is_gap else pair.reference_only,
        "absent": None if pair.system.denominator else NO_VIEW,
        **({} if pair.resampled is None else pair.resampled.columns(draws)),
        **({} if test is None else asdict(test)),
    }
