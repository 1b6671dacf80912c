"""The paper's published figures beside a study's own, for the systems that the paper ran."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import polars as pl

from samequantity.reporting import captions, sentences
from samequantity.reporting.paper.agreement import Agreement, Ours, agreements
from samequantity.reporting.paper.publication import Holds, Pair, Printed, Published, Range, Statement, Unit
from samequantity.reporting.results import Results
from samequantity.reporting.tabular import (
    ABSENT,
    Heading,
    Table,
    assembled,
    count_text,
    decimal_text,
    interval_text,
    share_text,
)

SCHEMA: Mapping[str, pl.DataType] = {
    "family": pl.String(),
    "unit": pl.String(),
    "published": pl.String(),
    "published_low": pl.Float64(),
    "published_high": pl.Float64(),
    "estimate": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "numerator": pl.Int64(),
    "denominator": pl.Int64(),
    "verdict": pl.String(),
}
"""What is published as it is printed and, both ends alike where it is one value, as numbers; then ours.

The numbers of a row are in its unit, all but its numerator and denominator.
"""

NAMES = "A system is taken for the paper's by its name."
OURS = (
    "Ours are answers to other prompts of the same protocol: the allocation of bases and the surface forms are ours "
    "(listed under “Differences from the paper”), so that a difference is not by itself an error of either."
)
VERDICTS = (
    f"A single value is held against our {sentences.COVERAGE} interval, ends included and before rounding; the "
    "interval does not cover the error of the published value, and of many figures some disagree by chance. A range is "
    "held against our estimate with as many digits. Counts are compared only over as many items as the paper's. "
    "Completions are longer where their median number of tokens is above that of the canonical views."
)


def published(results: Results, known: Published) -> Table:
    """One row a published figure and system that the paper ran; `known` is what `resources/published.yaml` says."""
    found = agreements(known, results)
    return assembled(
        name="published",
        caption=_caption(known, found, results),
        place=["figure", "layer", "system"],
        results=[Heading(text="Published"), Heading(text="Ours"), Heading(text="Verdict")],
        rows=[_cells(agreement) for agreement in found],
        data=[_datum(agreement) for agreement in found],
        schema=SCHEMA,
    )


def _caption(known: Published, found: Sequence[Agreement], results: Results) -> str:
    paper = known.paper
    source = f"Published: “{paper.title}” (arXiv {paper.arxiv}, {paper.year})."
    parts = ["Published and measured figures side by side.", source, NAMES]
    if not found:
        ran = "; ".join(f"{name} ({paper_name})" for name, paper_name in known.systems.items())
        return captions.caption([*parts, f"No system with results is one that the paper ran: {ran}."], results)
    gaps = [key for key in results.intervals if key.measure.is_gap and (key.template, key.orbit_size) == (None, None)]
    limits = [sentences.LAYERS, sentences.WILSON, captions.gap_note(results, gaps), sentences.MIXTURE, sentences.HOLM]
    more = [sentences.RECOVERED, sentences.CAP, sentences.TOKENS]
    return captions.caption([*parts, OURS, VERDICTS, _tally(found), *limits, *more], results)


def _tally(found: Sequence[Agreement]) -> str:
    """How many rows agree."""
    agreeing = Counter(agreement.verdict.agrees for agreement in found)
    agree, differ, rest = (count_text(agreeing[answer]) for answer in (True, False, None))
    return f"Rows: {count_text(len(found))}, of which {agree} agree, {differ} do not, and {rest} are not compared."


def _datum(agreement: Agreement) -> dict[str, object]:
    figure = agreement.figure
    return {
        "figure": figure.name,
        "layer": figure.layer and figure.layer.value,
        "system": agreement.system,
        "family": figure.family and figure.family.value,
        "unit": figure.unit.value,
        "published": _published_text(agreement.statement),
        **_published_ends(agreement.statement),
        **(_ours_datum(agreement.ours, figure.unit) if agreement.ours else {}),
        "verdict": agreement.verdict.value,
    }


def _published_ends(statement: Statement) -> dict[str, float]:
    """The ends of a published range, of which one can be absent, or one value twice; none of what is no number."""
    low: Fraction | None
    high: Fraction | None
    match statement:
        case Printed():
            low = high = statement.value
        case Range():
            low, high = (None if end is None else end.value for end in (statement.low, statement.high))
        case Pair():
            low = high = Fraction(statement.numerator, statement.denominator)
        case Holds():
            low = high = None
    ends = {"published_low": low, "published_high": high}
    return {name: float(end) for name, end in ends.items() if end is not None}


def _published_text(statement: Statement) -> str:
    match statement:
        case Printed():
            return statement.text
        case Range(low=None, high=Printed(text=high)):
            return f"at most {high}"
        case Range(low=Printed(text=low), high=None):
            return f"at least {low}"
        case Range():
            return f"{statement.low and statement.low.text}–{statement.high and statement.high.text}"
        case Pair():
            return f"{statement.numerator}/{statement.denominator}"
        case Holds():
            return "holds"


def _ours_datum(ours: Ours, unit: Unit) -> dict[str, object]:
    ends = {"low": ours.low, "high": ours.high}
    return {
        "estimate": None if ours.number is None else float(ours.number),
        **{name: None if end is None else float(Fraction(end) * unit.scale) for name, end in ends.items()},
        "numerator": ours.numerator,
        "denominator": ours.denominator,
    }


def _cells(agreement: Agreement) -> list[str]:
    figure, ours = agreement.figure, agreement.ours
    points = " points" if figure.unit is Unit.POINTS and not isinstance(agreement.statement, Holds) else ""
    return [
        figure.label,
        figure.layer.value if figure.layer else ABSENT,
        agreement.system or ABSENT,
        _published_text(agreement.statement) + points,
        ABSENT if ours is None else _ours_text(ours, figure.unit),
        agreement.verdict.value,
    ]


def _ours_text(ours: Ours, unit: Unit) -> str:
    """Our number in the unit of the figure, with its counts and its interval where it has them."""
    counted = ABSENT
    if ours.numerator is not None and ours.denominator is not None:
        counted = share_text(ours.numerator, ours.denominator)
    if ours.number is None:
        return counted
    match unit:
        case Unit.RATE:
            interval = "" if ours.low is None else f" {interval_text(ours.low, ours.high, places=3)}"
            return f"{counted} = {decimal_text(ours.number, 3)}{interval}"
        case Unit.POINTS:
            interval = interval_text(ours.low, ours.high, places=1, scale=unit.scale)
            return f"{counted} = {decimal_text(ours.number, 1)} points {interval}"
        case Unit.TOKENS:
            return f"{'+' if ours.number > 0 else ''}{decimal_text(ours.number, 1)} tokens"
        case Unit.TESTS:
            return f"{counted} family gaps"
        case Unit.COUNT:
            return counted
