"""Stage tables: a study's tables as CSV and Markdown, from the scores and intervals of its systems."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer, Status
from samequantity.reporting import captions
from samequantity.reporting.results import Key, Results, Row, gather
from samequantity.reporting.tabular import (
    ABSENT,
    Table,
    assembled,
    count_text,
    decimal_text,
    escaped,
    interval_text,
    p_text,
    rate_text,
    to_csv,
    to_markdown,
)
from samequantity.scoring.measures import FAILURES, Measure

TEXT: pl.DataType = pl.String()
COUNT: pl.DataType = pl.Int64()

ESTIMATE: dict[str, pl.DataType] = {
    "numerator": COUNT,
    "denominator": COUNT,
    "estimate": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
}
"""Rates and differences of rates, in CSV: 0.28 where a table for readers says 28 points."""

PAIRS: dict[str, pl.DataType] = {
    "canonical_correct": COUNT,
    "transformed_correct": COUNT,
    "canonical_only": COUNT,
    "transformed_only": COUNT,
}
TESTS: dict[str, pl.DataType] = {
    "p_value": pl.Float64(),
    "p_holm": pl.Float64(),
    "holm_tests": COUNT,
    "marked": pl.Boolean(),
    "supported": pl.Boolean(),
}
DECISION: dict[str, pl.DataType] = {"supported": pl.Boolean(), "numerator": COUNT, "denominator": COUNT, "absent": TEXT}

OUTCOME_ORDER = (Status.CORRECT, *FAILURES)
ORBIT_RATES = (Measure.ORBIT_CORRECTNESS, Measure.ORBIT_INVARIANCE, Measure.CONSISTENT_WRONG)


def tables(scores: pl.DataFrame, intervals: pl.DataFrame, *, systems: Sequence[str] | None = None) -> dict[str, bytes]:
    """Every table as the bytes of two files, `<name>.csv` and `<name>.md`, keyed by file name, sorted.

    `scores` and `intervals` are the concatenated results of `score` and `bootstrap`, in any order. `systems` names the
    study's systems in the order to show them, sorted by name without it; one without results is named in the captions.

    Raises TableError when the two do not fit each other (`samequantity.reporting.results.gather`).
    """
    results = gather(scores, intervals, systems)
    made = [
        _correctness(results, by_template=False),
        _correctness(results, by_template=True),
        _family_gaps(results, by_template=False),
        _family_gaps(results, by_template=True),
        _orbits(results, by_template=False),
        _orbits(results, by_template=True),
        _outcomes(results),
        _hypotheses(results),
    ]
    files = {f"{table.name}.csv": to_csv(table) for table in made}
    files |= {f"{table.name}.md": to_markdown(table) for table in made}
    return dict(sorted(files.items()))


def _correctness(results: Results, *, by_template: bool) -> Table:
    """The strict and the audited rate of each family, with what the audit recovered."""
    data, rows = [], []
    for strict in results.keys(Layer.STRICT, Measure.VIEW_CORRECTNESS, by_template=by_template):
        audited = replace(strict, layer=Layer.AUDITED)
        recovered = results.scores[replace(audited, measure=Measure.RECOVERED)]["numerator"]
        data.append(_datum(results, strict))
        data.append(_datum(results, audited) | {"recovered": recovered})
        cells = [_rate_cell(results, strict), _rate_cell(results, audited)]
        rows.append([*_place_cells(strict), *cells, count_text(recovered)])
    return assembled(
        name="correctness_by_template" if by_template else "correctness",
        caption=captions.correctness(results, by_template=by_template),
        place=["system", *(["template"] if by_template else []), "family"],
        numbers=["Strict", "Audited", "Recovered"],
        rows=rows,
        data=data,
        schema={"layer": TEXT} | ESTIMATE | {"recovered": COUNT},
    )


def _family_gaps(results: Results, *, by_template: bool) -> Table:
    """C, T, the gap, the discordance and, for pooled gaps, the tests; one layer after the other."""
    data, rows = [], []
    for layer in Layer:
        for key in results.keys(layer, Measure.FAMILY_GAP, by_template=by_template):
            gap = results.scores[key]
            data.append(_datum(results, key) | {column: gap[column] for column in PAIRS | TESTS})
            counts = [count_text(gap[column]) for column in ("denominator", "canonical_correct", "transformed_correct")]
            discordance = f"{count_text(gap['canonical_only'])}/{count_text(gap['transformed_only'])}"
            tests = [] if by_template else [p_text(gap["p_value"]), p_text(gap["p_holm"]), _mark(gap)]
            rows.append([*_place_cells(key), layer.value, *counts, _gap_cell(results, key), discordance, *tests])
    return assembled(
        name="family_gaps_by_template" if by_template else "family_gaps",
        caption=captions.family_gaps(results, by_template=by_template),
        place=["system", *(["template"] if by_template else []), "family", "layer"],
        numbers=["n", "C", "T", "Gap, points", "c/t", *([] if by_template else ["p", "Holm p", "Mark"])],
        rows=rows,
        data=data,
        schema=ESTIMATE | PAIRS | ({} if by_template else TESTS),
    )


def _orbits(results: Results, *, by_template: bool) -> Table:
    """The three rates over all bases, and the orbit gap."""
    data, rows = [], []
    for layer in Layer:
        for gap in results.keys(layer, Measure.ORBIT_GAP, by_template=by_template):
            rates = [replace(gap, measure=measure) for measure in ORBIT_RATES]
            data += [_datum(results, key) for key in (*rates, gap)]
            cells = [_rate_cell(results, key) for key in rates]
            rows.append([*_place_cells(gap), layer.value, *cells, _gap_cell(results, gap)])
    return assembled(
        name="orbits_by_template" if by_template else "orbits",
        caption=captions.orbits(results),
        place=["system", *(["template"] if by_template else []), "layer"],
        numbers=["Correct", "Invariant", "Consistent-wrong", "Orbit gap, points"],
        rows=rows,
        data=data,
        schema={"measure": TEXT} | ESTIMATE,
    )


def _outcomes(results: Results) -> Table:
    """How many views of each family ended in each outcome."""
    data, rows = [], []
    for layer in Layer:
        for correct in results.keys(layer, Measure.VIEW_CORRECTNESS, by_template=False):
            keys = {Status.CORRECT: correct} | {
                failure: replace(correct, measure=Measure(failure.value)) for failure in FAILURES
            }
            counts = {status.value: results.scores[key]["numerator"] for status, key in keys.items()}
            views = results.scores[correct]["denominator"]
            data.append(_datum(results, correct) | counts | {"views": views})
            numbers = [views, *(counts[status.value] for status in OUTCOME_ORDER)]
            rows.append([*_place_cells(correct), layer.value, *(count_text(number) for number in numbers)])
    return assembled(
        name="outcomes",
        caption=captions.outcomes(results),
        place=["system", "family", "layer"],
        numbers=["Views", *(status.value.replace("_", " ").capitalize() for status in OUTCOME_ORDER)],
        rows=rows,
        data=data,
        schema=dict.fromkeys(("views", *OUTCOME_ORDER), COUNT),
    )


def _hypotheses(results: Results) -> Table:
    """H1 and H2 of each system, with the numbers that decide them."""
    data, rows = [], []
    for system in results.systems:
        for measure in (Measure.H1, Measure.H2):
            row = results.scores[Key(system=system, layer=Layer.STRICT, measure=measure)]
            data.append({"system": system, "hypothesis": measure.value} | {column: row[column] for column in DECISION})
            rows.append([escaped(system), measure.value.upper(), _verdict(row), _reason(measure, row)])
    return assembled(
        name="hypotheses",
        caption=captions.hypotheses(results),
        place=["system", "hypothesis", "supported"],
        numbers=["Decided by"],
        rows=rows,
        data=data,
        schema=DECISION,
    )


def _datum(results: Results, key: Key) -> dict[str, object]:
    """A result as tidy data: where it belongs, its counts, its estimate and the two ends of its interval."""
    row, interval = results.scores[key], results.intervals[key]
    return {
        "system": key.system,
        "template": key.template,
        "family": key.family and key.family.value,
        "layer": key.layer.value,
        "measure": key.measure.value,
        "numerator": row["numerator"],
        "denominator": row["denominator"],
        "estimate": row["numerator"] / row["denominator"],
        "low": interval["low"],
        "high": interval["high"],
    }


def _place_cells(key: Key) -> list[str]:
    return [escaped(part) for part in (key.system, key.template, key.family) if part is not None]


def _rate_cell(results: Results, key: Key) -> str:
    row, interval = results.scores[key], results.intervals[key]
    ends = interval_text(interval["low"], interval["high"], places=3)
    return f"{rate_text(row['numerator'], row['denominator'])} {ends}"


def _gap_cell(results: Results, key: Key) -> str:
    """A gap in percentage points, with its interval."""
    row, interval = results.scores[key], results.intervals[key]
    points = decimal_text(100 * Fraction(row["numerator"], row["denominator"]), 1)
    return f"{points} {interval_text(interval['low'], interval['high'], places=1, scale=100)}"


def _mark(gap: Row) -> str:
    if gap["marked"]:
        return "\\*"
    return "H1" if gap["supported"] else ""


def _verdict(row: Row) -> str:
    if row["supported"] is None:
        return ABSENT
    return "supported" if row["supported"] else "not supported"


def _reason(measure: Measure, row: Row) -> str:
    if row["absent"] is not None:
        return str(row["absent"])
    if measure is Measure.H1:
        return f"{row['numerator']} of {row['denominator']} family gaps"
    points = decimal_text(100 * Fraction(row["numerator"], row["denominator"]), 1)
    return f"orbit gap {count_text(row['numerator'])}/{count_text(row['denominator'])} = {points} points"
