"""A study's results get the verdict that their numbers deserve beside the published ones, also at the very edges."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shipped
from samequantity.domain.verdicts import Layer
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.reporting.paper.agreement import Agreement, Verdict, agreements
from samequantity.reporting.paper.publication import Figure, Printed, Published, Unit
from samequantity.reporting.paper.published import read_published
from samequantity.reporting.results import Key, Results, Row
from samequantity.scoring.measures import Measure

SYSTEMS = ("qwen3.5-4b-q4", "qwen3.5-9b-q4", "qwen3.5-9b-q8", "gpt-oss-20b", "mistral-small-4")
QWEN_4B, _, _, GPT_OSS, MISTRAL = SYSTEMS
STRICT, AUDITED = Layer
SHIPPED = "resources/published.yaml"
AGREEING = {Verdict.INSIDE_INTERVAL, Verdict.INSIDE_RANGE, Verdict.EQUAL, Verdict.HOLDS}


@cache
def known() -> Published:
    return read_published(shipped.content(SHIPPED))


def row(numerator: int | None, denominator: int, **beside: object) -> Row:
    """The columns of the scores that comparisons read."""
    estimate = str(Fraction(numerator, denominator)) if numerator is not None and denominator else None
    empty = {"supported": None, "marked": None}
    return {"numerator": numerator, "denominator": denominator, "estimate": estimate} | empty | beside


def asked(system: str, family: Family, items: int) -> dict[Key, Row]:
    key = Key(system=system, layer=STRICT, measure=Measure.VIEW_CORRECTNESS, family=family)
    return {key: row(0, items)}


def results(
    *scores: Mapping[Key, Row], intervals: Mapping[Key, tuple[float | None, float | None]] | None = None
) -> Results:
    """The results of hand-made rows."""
    together = {key: found for part in scores for key, found in part.items()}
    parts: dict[Key, dict[str, Row]] = {}
    for key, found in together.items():
        if key.category is not None:
            parts.setdefault(replace(key, category=None), {})[key.category] = found
    return Results(
        systems=tuple(dict.fromkeys(key.system for key in together)),
        absent=(),
        scores={key: found for key, found in together.items() if key.category is None},
        intervals={key: {"low": low, "high": high} for key, (low, high) in (intervals or {}).items()},
        parts=parts,
    )


def compared(name: str, system: str | None, found: Results) -> Agreement:
    (one,) = [one for one in agreements(known(), found) if (one.figure.name, one.system) == (name, system)]
    return one


def rate(system: str, family: Family, numerator: int, denominator: int, layer: Layer = AUDITED) -> dict[Key, Row]:
    key = Key(system=system, layer=layer, measure=Measure.VIEW_CORRECTNESS, family=family)
    return asked(system, family, denominator) | {key: row(numerator, denominator)}


SINGLE_VALUES = [
    (figure, system, statement)
    for figure in known().figures
    if isinstance(figure, Figure) and figure.unit in (Unit.RATE, Unit.POINTS)
    for system, statement in figure.statements.items()
    if isinstance(statement, Printed)
]


@pytest.mark.parametrize(
    ("figure", "system", "statement"), [pytest.param(*one, id=f"{one[0].name}-{one[1]}") for one in SINGLE_VALUES]
)
def test_a_value_at_an_end_of_our_interval_is_inside_and_the_next_float_is_not(
    figure: Figure, system: str, statement: Printed
) -> None:
    value = int(statement.text.replace(".", "")) / 1000  # three digits of a rate, or one of percentage points
    key = Key(system=system, layer=figure.layer, measure=figure.measures[0], family=figure.family)
    scores = asked(system, figure.family or Family.CANONICAL, 1000) | {key: row(1, 1000)}

    def verdict(low: float | None, high: float | None) -> Verdict:
        return compared(figure.name, system, results(scores, intervals={key: (low, high)})).verdict

    assert verdict(value, value) is Verdict.INSIDE_INTERVAL
    assert verdict(value, 1.0) is Verdict.INSIDE_INTERVAL
    assert verdict(-1.0, value) is Verdict.INSIDE_INTERVAL
    assert verdict(math.nextafter(value, 2), 1.0) is Verdict.OUTSIDE_INTERVAL
    assert verdict(-1.0, math.nextafter(value, -2)) is Verdict.OUTSIDE_INTERVAL
    assert verdict(None, None) is Verdict.NO_INTERVAL


def test_the_values_tried_are_all_of_them() -> None:
    assert len(SINGLE_VALUES) == 5 + 5 + 2 + 3 + 3 + 1 + 1


@pytest.mark.parametrize(
    ("numerator", "denominator", "verdict"),
    [
        (969, 1000, Verdict.INSIDE_RANGE),
        (996, 1000, Verdict.INSIDE_RANGE),
        (997, 1000, Verdict.OUTSIDE_RANGE),
        (9685, 10000, Verdict.OUTSIDE_RANGE),  # halfway: .968, which is even
        (96851, 100000, Verdict.INSIDE_RANGE),
        (9965, 10000, Verdict.INSIDE_RANGE),  # halfway: .996, which is even
        (99651, 100000, Verdict.OUTSIDE_RANGE),
        (3488, 3600, Verdict.INSIDE_RANGE),  # .9689 is .969
    ],
)
def test_an_estimate_is_rounded_as_a_published_range_is_before_it_is_compared(
    numerator: int, denominator: int, verdict: Verdict
) -> None:
    found = results(rate(GPT_OSS, Family.CANONICAL, numerator, denominator))

    assert compared("canonical_correctness_audited", GPT_OSS, found).verdict is verdict


@given(st.integers(-1000, 1000), st.integers(1, 1000))
def test_a_gap_is_within_published_points_exactly_when_its_rounded_points_are(numerator: int, denominator: int) -> None:
    key = Key(system=QWEN_4B, layer=AUDITED, measure=Measure.FAMILY_GAP, family=Family.FRACTION)
    found = results(asked(QWEN_4B, Family.FRACTION, 1000), {key: row(numerator, denominator)})
    tenths = round(Fraction(1000 * numerator, denominator))

    expected = Verdict.INSIDE_RANGE if 61 <= tenths <= 80 else Verdict.OUTSIDE_RANGE
    assert expected is compared("fraction_gap_audited", QWEN_4B, found).verdict


def test_a_range_with_one_end_is_open_at_the_other() -> None:
    def verdict(numerator: int) -> Verdict:
        key = Key(system=MISTRAL, layer=AUDITED, measure=Measure.CONSISTENT_WRONG)
        found = results(asked(MISTRAL, Family.CANONICAL, 3600), {key: row(numerator, 3600)})
        return compared("consistent_wrong_audited", MISTRAL, found).verdict

    assert verdict(0) is verdict(12) is Verdict.INSIDE_RANGE  # 12/3600 is .003
    assert verdict(13) is Verdict.OUTSIDE_RANGE


def counted(
    system: str, measure: Measure, family: Family, number: int, items: int, layer: Layer | None
) -> dict[Key, Row]:
    key = Key(system=system, layer=layer, measure=measure, family=family)
    return asked(system, family, items) | {key: row(number, items)}


@pytest.mark.parametrize(
    ("number", "items", "verdict"),
    [
        (13, 1000, Verdict.EQUAL),
        (14, 1000, Verdict.DIFFERS),
        (0, 1000, Verdict.DIFFERS),
        (13, 999, Verdict.OTHER_ITEMS),
        (0, 10, Verdict.OTHER_ITEMS),
    ],
)
def test_a_count_is_compared_over_the_papers_number_of_items_alone(number: int, items: int, verdict: Verdict) -> None:
    found = results(counted(QWEN_4B, Measure.LENGTH_FINISHED, Family.SCIENTIFIC, number, items, None))

    assert compared("scientific_length_finished", QWEN_4B, found).verdict is verdict


@pytest.mark.parametrize(
    ("number", "items", "verdict"),
    [
        (638, 1000, Verdict.INSIDE_RANGE),
        (991, 1000, Verdict.INSIDE_RANGE),
        (637, 1000, Verdict.OUTSIDE_RANGE),
        (992, 1000, Verdict.OUTSIDE_RANGE),
        (700, 1001, Verdict.OTHER_ITEMS),
    ],
)
def test_a_count_is_within_a_published_range_of_counts(number: int, items: int, verdict: Verdict) -> None:
    found = results(counted(GPT_OSS, Measure.RECOVERED, Family.SCIENTIFIC, number, items, AUDITED))

    assert compared("scientific_recovered", GPT_OSS, found).verdict is verdict


@pytest.mark.parametrize(
    ("numerator", "denominator", "items", "verdict"),
    [
        (985, 987, 1000, Verdict.EQUAL),
        (985, 988, 1000, Verdict.DIFFERS),
        (0, 0, 1000, Verdict.DIFFERS),
        (985, 987, 987, Verdict.OTHER_ITEMS),
    ],
)
def test_k_of_n_is_compared_as_two_counts(numerator: int, denominator: int, items: int, verdict: Verdict) -> None:
    key = Key(system=QWEN_4B, layer=AUDITED, measure=Measure.FINISHED_CORRECTNESS, family=Family.SCIENTIFIC)
    found = results(asked(QWEN_4B, Family.SCIENTIFIC, items), {key: row(numerator, denominator)})

    assert compared("scientific_without_length_finished", QWEN_4B, found).verdict is verdict


def test_residual_errors_are_all_failures_and_drops_count_in_either_direction() -> None:
    codes = ("truncation_error", "format_error", "parse_error", "unit_error", "value_error")
    failures = [
        counted(MISTRAL, Measure(code), Family.UNIT, 60 + place // 4, 1000, AUDITED) for place, code in enumerate(codes)
    ]
    drops = Key(system=MISTRAL, layer=AUDITED, measure=Measure.MAGNITUDE_DROP, family=Family.UNIT)
    by_k = {"1": 56, "-1": 40, "2": 70, "-3": 98, "12": 1}
    split = {
        Key(system=MISTRAL, layer=AUDITED, measure=Measure.MAGNITUDE_DROP, family=Family.UNIT, category=k): row(
            number, 1000
        )
        for k, number in by_k.items()
    }
    found = results(*failures, {drops: row(265, 1000)}, split)

    verdicts = {
        one.figure.name: one.verdict for one in agreements(known(), found) if one.figure.name.startswith("unit_")
    }
    assert verdicts == {
        "unit_correctness_audited": Verdict.NOT_MEASURED,
        "unit_gap_audited": Verdict.NOT_MEASURED,
        "unit_residual_errors": Verdict.EQUAL,
        "unit_magnitude_drops": Verdict.EQUAL,
        "unit_magnitude_drops_10": Verdict.EQUAL,
        "unit_magnitude_drops_100": Verdict.EQUAL,
        "unit_magnitude_drops_1000": Verdict.DIFFERS,
    }


@pytest.mark.parametrize(
    ("supported", "verdict"),
    [(True, Verdict.HOLDS), (False, Verdict.DOES_NOT_HOLD), (None, Verdict.NOT_MEASURED)],
)
def test_h1_holds_where_the_scores_support_it(supported: bool | None, verdict: Verdict) -> None:
    key = Key(system=MISTRAL, layer=STRICT, measure=Measure.H1)
    tests = 0 if supported is None else 5
    found = results(asked(MISTRAL, Family.CANONICAL, 3600), {key: row(0, tests, supported=supported)})

    assert compared("h1", MISTRAL, found).verdict is verdict


@pytest.mark.parametrize(
    ("canonical", "fraction", "verdict"),
    [
        ("64", "129/2", Verdict.HOLDS),
        ("64", "64", Verdict.DOES_NOT_HOLD),
        ("64", "63", Verdict.DOES_NOT_HOLD),
        (None, "64", Verdict.NOT_MEASURED),
        ("64", None, Verdict.NOT_MEASURED),
    ],
)
def test_completions_are_longer_where_their_median_is(
    canonical: str | None, fraction: str | None, verdict: Verdict
) -> None:
    medians = {
        Key(system=MISTRAL, layer=None, measure=Measure.COMPLETION_TOKENS, family=family, category="median"): row(
            None, 10, estimate=median
        )
        for family, median in ((Family.CANONICAL, canonical), (Family.FRACTION, fraction))
        if median is not None
    }

    found = results(asked(MISTRAL, Family.FRACTION, 10), medians)
    assert compared("fraction_lengthens", MISTRAL, found).verdict is verdict


def cells(marked: int, systems: tuple[str, ...] = SYSTEMS, items: int = 1000) -> dict[Key, Row]:
    """The audited family gaps, the first so many of them marked."""
    places = [(system, family) for system in systems for family in TRANSFORMATIONS]
    return {
        Key(system=system, layer=AUDITED, measure=Measure.FAMILY_GAP, family=family): row(
            50, items, marked=number < marked
        )
        for number, (system, family) in enumerate(places)
    }


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (cells(7), Verdict.EQUAL),
        (cells(6), Verdict.DIFFERS),
        (cells(7, items=999), Verdict.OTHER_ITEMS),
        (cells(7, SYSTEMS[:4]), Verdict.NOT_MEASURED),
        (cells(7) | cells(0, SYSTEMS[4:], items=0), Verdict.NOT_MEASURED),
    ],
)
def test_marked_cells_are_counted_over_all_five_systems_or_not_at_all(found: dict[Key, Row], verdict: Verdict) -> None:
    assert compared("marked_cells", None, results(found)).verdict is verdict


def test_a_system_without_rows_was_not_measured_and_other_systems_are_left_out() -> None:
    found = results(rate(GPT_OSS, Family.CANONICAL, 99, 100), rate("other", Family.CANONICAL, 1, 100))

    verdicts = {(one.figure.name, one.system): one.verdict for one in agreements(known(), found)}
    assert {system for _, system in verdicts} == {GPT_OSS, None}
    assert {Verdict.NOT_MEASURED} == {
        verdict for (name, _), verdict in verdicts.items() if name != "canonical_correctness_audited"
    }


def test_every_verdict_says_whether_it_agrees() -> None:
    assert AGREEING == {verdict for verdict in Verdict if verdict.agrees}
    assert {verdict for verdict in Verdict if verdict.agrees is None} == {
        Verdict.OTHER_ITEMS,
        Verdict.NO_INTERVAL,
        Verdict.NOT_MEASURED,
    }
