"""Two systems on the same prompts: the differences of their rates and gaps, with intervals and exact tests."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import COUNT, DRAWS, NUMBER, TEXT, name
from samequantity.reporting.results import Key, Results, Row
from samequantity.reporting.tabular import (
    ABSENT,
    Table,
    assembled,
    count_text,
    decimal_text,
    interval_text,
    p_text,
    rate_text,
)
from samequantity.scoring.columns import COMPARISONS
from samequantity.scoring.measures import RATES, Measure
from samequantity.scoring.statistics import ALPHA, POWER

ORBITS = {
    Measure.ORBIT_CORRECTNESS: "orbits correct",
    Measure.ORBIT_INVARIANCE: "orbits invariant",
    Measure.CONSISTENT_WRONG: "orbits consistent-wrong",
    Measure.ORBIT_GAP: "orbit gap",
}

PAIRED_RATES: dict[str, pl.DataType] = {
    "measure": TEXT,
    "family": TEXT,
    "denominator": COUNT,
    "system_numerator": COUNT,
    "system_estimate": NUMBER,
    "reference_numerator": COUNT,
    "reference_estimate": NUMBER,
    "difference": NUMBER,
    "low": NUMBER,
    "high": NUMBER,
    "system_only": COUNT,
    "reference_only": COUNT,
}
TESTS: dict[str, pl.DataType] = {"p_value": NUMBER, "p_holm": NUMBER, "holm_tests": COUNT, "detectable": NUMBER}

EXACT = ("system_estimate", "reference_estimate", "difference")
"""Columns of exact text, which the data give as the nearest float."""

TITLE = "Paired comparison of two systems on the same prompts: system − reference"
DIFFERENCE = (
    "Difference: in percentage points, of the rates or, where the measure is a gap, of the gaps. "
    "Only/only: bases that count for the system alone / for the reference alone."
)
PAIRED = (
    "percentiles; a draw takes both systems' answers to a base along, so that they stay paired. Wilson intervals, "
    "which know no pairs, are not used."
)
TEST = "p: exact two-sided McNemar test of the discordant pairs."
RAW = f"{captions.HOLM} The p of orbit measures are not adjusted, nor is one comparison for another."
DETECTABLE = (
    "Detectable: the minimum detectable effect, that is, the smallest difference in points that the exact McNemar test "
    f"finds with {round(100 * POWER)} % power at α = {str(ALPHA).lstrip('0')}, before Holm's adjustment and given as "
    f"many discordant pairs as were observed; {ABSENT} with fewer than six, since no result reaches α then."
)
BESIDE = f"The data files hold the failure codes and the recovered answers besides. {captions.RECOVERED}"


def comparisons(frame: pl.DataFrame, results: Results, *, by_template: bool) -> Table:
    """The concatenated results of `compare`, in any row order: pooled with the tests, or by template without them.

    Raises TableError when columns are missing, a row is repeated, a system has no scores, or the comparison was not
    made from the same answers as the scores.
    """
    compared = _ordered(frame, results)
    placed = [row for row in compared if (row["template"] is not None) is by_template and row["denominator"]]
    tests = {} if by_template else TESTS
    return assembled(
        name=name("comparisons", by_template=by_template),
        caption=_caption(compared, by_template=by_template),
        place=["comparison", "layer", *(["template"] if by_template else []), "measure"],
        results=[
            "System",
            "Reference",
            "Difference, points",
            "Only/only",
            *(["p", "Holm p", "Detectable, points"] if tests else []),
        ],
        rows=[_cells(row, by_template=by_template) for row in placed if _is_shown(row)],
        data=[_datum(row) for row in placed],
        schema={"system": TEXT, "reference": TEXT, "layer": TEXT, **PAIRED_RATES, **tests, **DRAWS},
    )


def _ordered(frame: pl.DataFrame, results: Results) -> list[Row]:
    """The checked rows: by system and reference as the study shows them, then layer, template, measure, family."""
    absent = [column for column in COMPARISONS if column not in frame.columns]
    if absent:
        raise TableError(
            f"comparisons: column {', '.join(absent)} is missing. Make the table again: samequantity compare"
        )
    placed: dict[tuple[object, ...], Row] = {}
    for row in frame.select(COMPARISONS.names()).rows(named=True):
        place = _place(row, results)
        if place in placed:
            raise TableError(f"comparisons: two rows for {_named(row)}. Pass each pair's table once")
        placed[place] = row
    compared = [placed[place] for place in sorted(placed)]
    _refuse_misfits(compared, results)
    return compared


def _place(row: Row, results: Results) -> tuple[int | str, ...]:
    if strange := [row[role] for role in ("system", "reference") if row[role] not in results.systems]:
        raise TableError(f"comparisons: {strange[0]} has no scores. Name it in the study, or leave it out")
    try:
        return (
            results.systems.index(row["system"]),
            results.systems.index(row["reference"]),
            list(Layer).index(row["layer"]),
            row["template"] or "",
            list(Measure).index(row["measure"]),
            -1 if row["family"] is None else list(Family).index(row["family"]),
        )
    except ValueError as error:
        raise TableError(f"comparisons: {error}. Make the table again with this version of samequantity") from error


def _refuse_misfits(compared: Sequence[Row], results: Results) -> None:
    """Where no base was left out of a comparison, each system has the estimate of its scores."""
    misfits = [
        row
        for row in compared
        if not row["dropped_bases"]
        for role in ("system", "reference")
        if (scored := results.scores.get(_key(row, role))) is None or scored["estimate"] != row[f"{role}_estimate"]
    ]
    if misfits:
        raise TableError(
            f"comparisons: {len(misfits)} rates do not belong to the scores, for instance {_named(misfits[0])}. "
            "Make both again from the same answers: samequantity score, samequantity compare"
        )


def _key(row: Row, role: str) -> Key:
    return Key(
        system=row[role],
        layer=Layer(row["layer"]),
        measure=Measure(row["measure"]),
        family=None if row["family"] is None else Family(row["family"]),
        template=row["template"],
    )


def _is_shown(row: Row) -> bool:
    """Whether readers see a row: failure codes and recovered answers stand in the data alone."""
    measure = Measure(row["measure"])
    return measure in RATES or measure.is_gap


def _datum(row: Row) -> dict[str, object]:
    exact = {column: float(Fraction(row[column])) for column in EXACT}
    return {**row, "comparison": _pair(row), **exact}


def _cells(row: Row, *, by_template: bool) -> list[str]:
    points = decimal_text(100 * Fraction(row["difference"]), 1)
    only = (
        ABSENT
        if row["system_only"] is None
        else f"{count_text(row['system_only'])}/{count_text(row['reference_only'])}"
    )
    cells = [
        *(_pair(row), row["layer"], *([row["template"]] if by_template else []), _measured(row)),
        *(rate_text(row[f"{role}_numerator"], row["denominator"]) for role in ("system", "reference")),
        f"{points} {interval_text(row['low'], row['high'], places=1, scale=100)}",
        only,
    ]
    return cells if by_template else [*cells, p_text(row["p_value"]), p_text(row["p_holm"]), _detectable(row)]


def _measured(row: Row) -> str:
    measure = Measure(row["measure"])
    if row["family"] is None:
        return ORBITS[measure]
    return f"{row['family']} {'gap' if measure.is_gap else 'correct'}"


def _detectable(row: Row) -> str:
    return ABSENT if row["detectable"] is None else decimal_text(100 * Fraction(row["detectable"]), 1)


def _caption(compared: Sequence[Row], *, by_template: bool) -> str:
    title = f"{TITLE}{', by template' if by_template else ''}."
    parts = [title, DIFFERENCE, captions.LAYERS, captions.ORBITS, _draws_note(compared)]
    if by_template:
        parts += [captions.STRATA]
    else:
        parts += [TEST, _holm_note(compared), RAW, DETECTABLE, captions.MIXTURE, BESIDE]
    return " ".join([*parts, captions.FIXED, *_absences(compared)])


def _draws_note(compared: Sequence[Row]) -> str:
    draws = " or ".join(count_text(number) for number in sorted({row["draws"] for row in compared} - {None})) or "no"
    dropped = [row["dropped_draws"] for row in compared if row["dropped_draws"]]
    note = f"95 % intervals of differences in brackets: {draws} base-clustered bootstrap draws, {PAIRED}"
    if not dropped:
        return note
    said = f"Draws without a base in the denominator were dropped: up to {count_text(max(dropped))} of one difference."
    return f"{note} {said}"


def _holm_note(compared: Sequence[Row]) -> str:
    """Over how many tests Holm's adjustment went, by comparison, shortened where all agree."""
    tests = {_pair(row): row["holm_tests"] for row in compared if row["holm_tests"] is not None}
    numbers = sorted(set(tests.values()))
    if len(numbers) == 1:
        return f"Holm adjustment over the {numbers[0]} view families of one layer and comparison."
    listed = "; ".join(f"{pair}: {number}" for pair, number in tests.items())
    return f"Holm adjustment over the view families of one layer and comparison ({listed or 'none'})."


def _absences(compared: Sequence[Row]) -> Iterator[str]:
    for pair, bases in {_pair(row): row["dropped_bases"] for row in compared}.items():
        if bases:
            yield f"{pair}: {count_text(bases)} bases without an answer of both systems to each view are left out."
    absent = [
        f"{_pair(row)}, {row['family']}: {row['absent']}"
        for row in compared
        if row["absent"] is not None and (row["measure"], row["layer"]) == (Measure.VIEW_CORRECTNESS, Layer.STRICT)
    ]
    if absent:
        yield f"Absent: {'; '.join(absent)}."


def _pair(row: Row) -> str:
    return f"{row['system']} − {row['reference']}"


def _named(row: Row) -> str:
    parts = (_pair(row), *(row[column] for column in ("layer", "measure", "family", "template")))
    return ", ".join(part for part in parts if part is not None)
