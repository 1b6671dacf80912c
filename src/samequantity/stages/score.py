"""Stage score: every count, rate, gap and test of one system, exact (PROTOCOL, section 6)."""

from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.scoring.columns import NO_VIEW, SCORES, place
from samequantity.scoring.counts import counts
from samequantity.scoring.measures import Measure, finished_ratios, profiles, ratios
from samequantity.scoring.outcomes import outcomes
from samequantity.scoring.statistics import ALPHA, THRESHOLD_POINTS, holm_adjusted, mcnemar_p_value
from samequantity.scoring.tallies import Tally, tallies

NONE_FINISHED = "no response of this family ended before the cap"
NO_TEST = "no family test in the sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """What the tests say of a family gap, or a hypothesis of a layer; the fields are columns of the scores."""

    p_value: float | None = None
    p_holm: float | None = None
    holm_tests: int | None = None
    marked: bool | None = None
    supported: bool | None = None


UNTESTED = Test()


def score(
    views: pl.DataFrame,
    answers: pl.DataFrame,
    audits: pl.DataFrame,
    responses: pl.DataFrame | None = None,
    *,
    complete_orbits_only: bool = False,
) -> pl.DataFrame:
    """Score one system in both layers; see `SCORES` for the result and `outcomes` for what the frames must hold.

    Completion tokens and responses at the cap are counted where `responses` are given.

    Raises TableError for a missing, repeated or unknown view and for anything else that `outcomes` refuses.
    """
    joined = outcomes(views, answers, audits, responses, complete_orbits_only=complete_orbits_only)
    bases = profiles(joined.frame)
    rows = counts(joined.frame)
    for layer in Layer:
        measured = ratios(layer) if responses is None else (*ratios(layer), *finished_ratios(layer))
        rows += _layer_rows(tallies(bases, measured), layer)
    beside = {"system": joined.system, "dropped_bases": joined.dropped_bases}
    return pl.DataFrame([row | beside for row in sorted(rows, key=place)], schema=SCORES)


def _layer_rows(counted: Sequence[Tally], layer: Layer) -> list[dict[str, object]]:
    tests = _tests(counted)
    shown = {
        tally.ratio.family for tally in counted if tally.ratio.measure is Measure.VIEW_CORRECTNESS and tally.denominator
    }
    rows = [
        _row(tally, tests.get(index, UNTESTED)) | {"absent": _reason_of_absence(tally, shown)}
        for index, tally in enumerate(counted)
    ]
    if layer is Layer.AUDITED:
        return rows
    return [*rows, _h1_row(list(tests.values())), _h2_row(counted)]


def _tests(counted: Sequence[Tally]) -> dict[int, Test]:
    """McNemar and Holm on the pooled family gaps of one layer, by the position of the gap."""
    tested = {index: tally for index, tally in enumerate(counted) if _is_tested(tally)}
    p_values = [
        mcnemar_p_value(tally.pairs["canonical_only"], tally.pairs["transformed_only"]) for tally in tested.values()
    ]
    return {
        index: _test(tally, p_value, p_holm, len(tested))
        for (index, tally), p_value, p_holm in zip(tested.items(), p_values, holm_adjusted(p_values), strict=True)
    }


def _is_tested(tally: Tally) -> bool:
    return tally.ratio.measure is Measure.FAMILY_GAP and tally.is_pooled and tally.denominator > 0


def _test(gap: Tally, p_value: float, p_holm: float, tests: int) -> Test:
    """H1 asks for a gap that reaches the threshold; the mark, descriptive, for one that exceeds it."""
    significant = p_holm < ALPHA
    audited = gap.ratio.layer is Layer.AUDITED
    return Test(
        p_value=p_value,
        p_holm=p_holm,
        holm_tests=tests,
        marked=significant and _exceeds_threshold(gap) if audited else None,
        supported=significant and _reaches_threshold(gap) if not audited else None,
    )


def _reaches_threshold(gap: Tally) -> bool:
    return gap.estimate is not None and 100 * gap.estimate >= THRESHOLD_POINTS


def _exceeds_threshold(gap: Tally) -> bool:
    return gap.estimate is not None and 100 * gap.estimate > THRESHOLD_POINTS


def _row(tally: Tally, test: Test) -> dict[str, object]:
    return {
        **tally.columns(),
        "numerator": tally.numerator,
        "denominator": tally.denominator,
        **tally.pairs,
        **asdict(test),
    }


def _reason_of_absence(tally: Tally, shown: Set[Family | None]) -> str | None:
    """Why nothing could be counted; `shown` are the families that have a view."""
    if tally.denominator:
        return None
    return NONE_FINISHED if tally.ratio.family in shown else NO_VIEW


def _h1_row(tests: Sequence[Test]) -> dict[str, object]:
    """H1: some strict family gap reaches the threshold with an adjusted p below .05."""
    supporting = sum(test.supported is True for test in tests)
    return {
        "layer": Layer.STRICT.value,
        "measure": Measure.H1.value,
        "numerator": supporting,
        "denominator": len(tests),
        "estimate": str(Fraction(supporting, len(tests))) if tests else None,
        "holm_tests": len(tests),
        "supported": supporting > 0 if tests else None,
        "absent": None if tests else NO_TEST,
    }


def _h2_row(strict: Sequence[Tally]) -> dict[str, object]:
    """H2: the strict orbit gap reaches the threshold."""
    gap = next(tally for tally in strict if tally.ratio.measure is Measure.ORBIT_GAP and tally.is_pooled)
    return _row(gap, Test(supported=_reaches_threshold(gap))) | {"measure": Measure.H2.value}
