"""Two systems on the same prompts: the differences of their rates and gaps, with intervals and exact tests."""

from fractions import Fraction

import polars as pl

from samequantity.reporting import captions
from samequantity.reporting.compared import ordered, pair_name
from samequantity.reporting.layouts.entries import COUNT, DRAWS, NUMBER, TEXT
from samequantity.reporting.results import Results, Row, Strata
from samequantity.reporting.tabular import (
    ABSENT,
    Table,
    assembled,
    count_text,
    p_text,
    points_interval_text,
    points_text,
    rate_text,
)
from samequantity.scoring.measures import Measure

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


def comparisons(frame: pl.DataFrame, results: Results, strata: Strata) -> Table:
    """The concatenated results of `compare`, in any row order: pooled with the tests, or by template without them.

    Raises TableError when they do not fit the scores (`samequantity.reporting.compared.ordered`).
    """
    compared = ordered(frame, results)
    placed = [row for row in compared if (row["template"] is not None) is strata.by_template and row["denominator"]]
    tests = {} if strata.by_template else TESTS
    return assembled(
        name=f"comparisons{strata.suffix}",
        caption=captions.comparisons(compared, strata),
        place=["comparison", "layer", *strata.columns, "measure"],
        results=[
            "System",
            "Reference",
            "Difference, points",
            "Only/only",
            *(["p", "Holm p", "Detectable, points"] if tests else []),
        ],
        rows=[_cells(row, strata) for row in placed if _is_shown(row)],
        data=[_datum(row) for row in placed],
        schema={"system": TEXT, "reference": TEXT, "layer": TEXT, **PAIRED_RATES, **tests, **DRAWS},
    )


def _is_shown(row: Row) -> bool:
    """Whether readers see a row: failure codes and recovered answers stand in the data alone."""
    return Measure(row["measure"]).has_interval


def _datum(row: Row) -> dict[str, object]:
    exact = {column: float(Fraction(row[column])) for column in EXACT}
    return {**row, "comparison": pair_name(row), **exact}


def _cells(row: Row, strata: Strata) -> list[str]:
    only = (
        ABSENT
        if row["system_only"] is None
        else f"{count_text(row['system_only'])}/{count_text(row['reference_only'])}"
    )
    cells = [
        *(pair_name(row), row["layer"], *(row[column] for column in strata.columns), _measured(row)),
        *(rate_text(row[f"{role}_numerator"], row["denominator"]) for role in ("system", "reference")),
        points_interval_text(Fraction(row["difference"]), row["low"], row["high"]),
        only,
    ]
    if strata.by_template:
        return cells
    detectable = ABSENT if row["detectable"] is None else points_text(Fraction(row["detectable"]))
    return [*cells, p_text(row["p_value"]), p_text(row["p_holm"]), detectable]


def _measured(row: Row) -> str:
    measure = Measure(row["measure"])
    if row["family"] is None:
        return ORBITS[measure]
    return f"{row['family']} {'gap' if measure.is_gap else 'correct'}"
