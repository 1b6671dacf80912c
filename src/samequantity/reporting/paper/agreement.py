"""A study's results beside the published ones: what was found here, and whether the two agree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.reporting.paper.publication import (
    Figure,
    Holds,
    MarkedCells,
    Pair,
    Printed,
    Published,
    Range,
    Statement,
    Unit,
)
from samequantity.reporting.results import Key, Results
from samequantity.scoring.measures import Measure


class Verdict(StrEnum):
    """What the comparison of a published figure with ours comes to."""

    INSIDE_INTERVAL = "inside our interval"
    OUTSIDE_INTERVAL = "outside our interval"
    INSIDE_RANGE = "inside the published range"
    OUTSIDE_RANGE = "outside the published range"
    EQUAL = "equal"
    DIFFERS = "differs"
    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    OTHER_ITEMS = "another number of items"
    """Counts over another number of views or bases than the paper's are not compared."""
    NO_INTERVAL = "no interval"
    """Every draw was dropped."""
    NOT_MEASURED = "not measured"

    @property
    def agrees(self) -> bool | None:
        """Whether the two agree; None where they were not compared."""
        if self in (Verdict.OTHER_ITEMS, Verdict.NO_INTERVAL, Verdict.NOT_MEASURED):
            return None
        return self in (Verdict.INSIDE_INTERVAL, Verdict.INSIDE_RANGE, Verdict.EQUAL, Verdict.HOLDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """What a study found.

    `items` is the number of views asked (bases, for whole orbits). `number` is exact and in the figure's unit: a gap in
    percentage points, a count, by how many tokens completions are longer. The other fields are those of the scores and
    intervals, None where there are none; `holds` is given where that is in question.
    """

    items: int
    number: Fraction | None
    numerator: int | None = None
    denominator: int | None = None
    low: float | None = None
    high: float | None = None
    holds: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One published figure and ours, for one system, or (None) for the study; `ours` is None when not measured."""

    figure: Figure | MarkedCells
    system: str | None
    statement: Statement
    ours: Ours | None
    verdict: Verdict


def agreements(published: Published, results: Results) -> Sequence[Agreement]:
    """Every published figure of every system with results that the paper ran, by figure, then system.

    Systems are known by their names. What is about all of the paper's systems together stands once, for the study,
    when at least one of them has results.
    """
    return tuple(_agreements(published, results))


def _agreements(published: Published, results: Results) -> Iterator[Agreement]:
    ran = [system for system in results.systems if system in published.systems]
    for figure in published.figures:
        if isinstance(figure, MarkedCells):
            if ran:
                yield _marked(figure, results)
        else:
            yield from (_compared(figure, system, results) for system in ran if system in figure.statements)


def _compared(figure: Figure, system: str, results: Results) -> Agreement:
    ours = _ours(figure, system, results)
    return Agreement(
        figure=figure,
        system=system,
        statement=figure.statements[system],
        ours=ours,
        verdict=Verdict.NOT_MEASURED if ours is None else _verdict(figure, figure.statements[system], ours),
    )


def _verdict(figure: Figure, statement: Statement, ours: Ours) -> Verdict:
    """What is published against what was found."""
    if figure.items not in (None, ours.items):
        return Verdict.OTHER_ITEMS
    match statement:
        case Holds():
            return Verdict.HOLDS if ours.holds else Verdict.DOES_NOT_HOLD
        case Pair():
            return _equality((statement.numerator, statement.denominator) == (ours.numerator, ours.denominator))
        case Range():
            return Verdict.INSIDE_RANGE if _is_within(statement, ours.number) else Verdict.OUTSIDE_RANGE
        case Printed() if figure.unit is Unit.COUNT:
            return _equality(statement.value == ours.numerator)
        case Printed():
            return _coverage(statement.value / figure.unit.scale, ours)


def _equality(is_equal: bool) -> Verdict:
    return Verdict.EQUAL if is_equal else Verdict.DIFFERS


def _is_within(statement: Range, number: Fraction | None) -> bool:
    """Whether a range holds our number with as many digits as it is printed with, ties to even, exactly."""
    return number is not None and statement.holds(round(number, statement.places))


def _coverage(value: Fraction, ours: Ours) -> Verdict:
    """Whether our interval, ends included, holds a value.

    The ends are floats, the nearest ones to exact ratios. So is the value here: else it could miss an end that is equal
    to it by a rounding.
    """
    if ours.low is None or ours.high is None:
        return Verdict.NO_INTERVAL
    return Verdict.INSIDE_INTERVAL if ours.low <= float(value) <= ours.high else Verdict.OUTSIDE_INTERVAL


def _ours(figure: Figure, system: str, results: Results) -> Ours | None:
    """What was found of a system; None when it was not asked, or when the scores lack what decides it."""
    family = figure.family or Family.CANONICAL
    asked = Key(system=system, layer=Layer.STRICT, measure=Measure.VIEW_CORRECTNESS, family=family)
    items = results.scores[asked]["denominator"] if asked in results.scores else 0
    if not items:
        return None
    if figure.unit is Unit.COUNT:
        return _count(figure, system, results, items)
    if figure.unit is Unit.TOKENS:
        return _lengthening(figure, system, results, items)
    return _ratio(figure, system, results, items)


def _ratio(figure: Figure, system: str, results: Results, items: int) -> Ours | None:
    """A rate, a gap or a hypothesis; H2 has the interval of the gap that decides it."""
    (measure,) = figure.measures
    key = Key(system=system, layer=figure.layer, measure=measure, family=figure.family)
    row = results.scores.get(key)
    if row is None or (figure.unit is Unit.TESTS and row["supported"] is None):
        return None
    covered = Key(system=system, layer=figure.layer, measure=Measure.ORBIT_GAP) if measure is Measure.H2 else key
    interval = results.intervals.get(covered, {"low": None, "high": None})
    return Ours(
        items=items,
        numerator=row["numerator"],
        denominator=row["denominator"],
        number=None if row["estimate"] is None else Fraction(row["estimate"]) * figure.unit.scale,
        low=interval["low"],
        high=interval["high"],
        holds=row["supported"],
    )


def _count(figure: Figure, system: str, results: Results, items: int) -> Ours | None:
    """The views counted for any of the measures; a power of ten that does not occur has no row."""
    keys = [
        Key(system=system, layer=figure.layer, measure=measure, family=figure.family) for measure in figure.measures
    ]
    if any(key not in results.scores for key in keys):
        return None
    rows = [results.scores[key] for key in keys]
    if figure.magnitude is not None:
        either = (str(figure.magnitude), str(-figure.magnitude))
        rows = [row for key in keys for k, row in results.categories(key).items() if k in either]
    counted = sum(row["numerator"] for row in rows)
    return Ours(items=items, number=Fraction(counted), numerator=counted, denominator=items)


def _lengthening(figure: Figure, system: str, results: Results, items: int) -> Ours | None:
    """By how many tokens the median completion of the family is longer than that of the canonical views."""
    medians = []
    for family in (figure.family, Family.CANONICAL):
        key = Key(system=system, layer=None, measure=Measure.COMPLETION_TOKENS, family=family)
        if (median := results.categories(key).get("median")) is None:
            return None
        medians.append(Fraction(median["estimate"]))
    longer = medians[0] - medians[1]
    return Ours(items=items, number=longer, holds=longer > 0)


def _marked(figure: MarkedCells, results: Results) -> Agreement:
    """The marked audited family gaps of all its systems; not measured unless each family of each system is tested."""
    keys = [
        Key(system=system, layer=Layer.AUDITED, measure=Measure.FAMILY_GAP, family=family)
        for system in figure.systems
        for family in TRANSFORMATIONS
    ]
    cells = [results.scores[key] for key in keys if key in results.scores and results.scores[key]["denominator"]]
    ours, verdict = None, Verdict.NOT_MEASURED
    if len(cells) == len(keys):
        marked, items = sum(cell["marked"] for cell in cells), {cell["denominator"] for cell in cells}
        ours = Ours(items=max(items), number=Fraction(marked), numerator=marked, denominator=len(cells))
        verdict = _equality(marked == figure.cells.value) if items == {figure.items} else Verdict.OTHER_ITEMS
    return Agreement(figure=figure, system=None, statement=figure.cells, ours=ours, verdict=verdict)
