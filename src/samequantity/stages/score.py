"""Stage score: every count, rate, gap and test of one system, exact (PROTOCOL, section 6)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.scoring.columns import SCORES
from samequantity.scoring.measures import Measure, Tally, profiles, ratios, tallies
from samequantity.scoring.outcomes import outcomes
from samequantity.scoring.statistics import holm_adjusted, mcnemar_p_value

THRESHOLD = Fraction(3, 100)
"""The practical threshold of a gap: 3 percentage points."""

ALPHA = 0.05
"""A Holm-adjusted p below this counts."""

NO_VIEW = "no view of this family in the sample"
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
    views: pl.DataFrame, answers: pl.DataFrame, audits: pl.DataFrame, *, complete_orbits_only: bool = False
) -> pl.DataFrame:
    """Score one system in both layers; see `SCORES` for the result and `outcomes` for what the frames must hold.

    Raises TableError for a missing, repeated or unknown view and for anything else that `outcomes` refuses.
    """
    joined = outcomes(views, answers, audits, complete_orbits_only=complete_orbits_only)
    bases = profiles(joined.frame)
    rows = [row for layer in Layer for row in _layer_rows(tallies(bases, ratios(layer)), layer)]
    beside = {"system": joined.system, "dropped_bases": joined.dropped_bases}
    return pl.DataFrame([row | beside for row in rows], schema=SCORES)


def _layer_rows(counted: Sequence[Tally], layer: Layer) -> list[dict[str, object]]:
    tests = _tests(counted)
    rows = [_row(tally, tests.get(index, UNTESTED)) for index, tally in enumerate(counted)]
    if layer is Layer.AUDITED:
        return rows
    return [*rows, _h1_row(list(tests.values())), _h2_row(counted)]


def _tests(counted: Sequence[Tally]) -> dict[int, Test]:
    """McNemar and Holm on the pooled family gaps of one layer, by the position of the gap."""
    tested = {index: tally for index, tally in enumerate(counted) if _is_tested(tally)}
    p_values = [
        mcnemar_p_value(canonical_only=tally.pairs["canonical_only"], transformed_only=tally.pairs["transformed_only"])
        for tally in tested.values()
    ]
    return {
        index: _test(tally, p_value, p_holm, len(tested))
        for (index, tally), p_value, p_holm in zip(tested.items(), p_values, holm_adjusted(p_values), strict=True)
    }


def _is_tested(tally: Tally) -> bool:
    return tally.ratio.measure is Measure.FAMILY_GAP and tally.template is None and tally.denominator > 0


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
    return gap.estimate is not None and gap.estimate >= THRESHOLD


def _exceeds_threshold(gap: Tally) -> bool:
    return gap.estimate is not None and gap.estimate > THRESHOLD


def _row(tally: Tally, test: Test) -> dict[str, object]:
    return {
        **tally.columns(),
        "numerator": tally.numerator,
        "denominator": tally.denominator,
        "absent": NO_VIEW if tally.denominator == 0 else None,
        **tally.pairs,
        **asdict(test),
    }


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
    gap = next(tally for tally in strict if tally.ratio.measure is Measure.ORBIT_GAP and tally.template is None)
    return _row(gap, Test(supported=_reaches_threshold(gap))) | {"measure": Measure.H2.value}
