"""Family gaps of each layer with their tests, and the two hypotheses."""

from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import (
    COUNT,
    DRAWS,
    ESTIMATE,
    FLAG,
    NUMBER,
    PAIRS,
    SHARE,
    TEXT,
    datum,
    gap_cell,
    place_cells,
    place_columns,
    share_data,
)
from samequantity.reporting.results import Key, Results, Row, Strata
from samequantity.reporting.tabular import (
    ABSENT,
    Heading,
    Table,
    assembled,
    count_text,
    p_text,
    points_text,
    share_text,
)
from samequantity.scoring.measures import Measure

VERDICT = {Layer.AUDITED: "marked", Layer.STRICT: "supported"}
"""The column that says what the tests of a layer come to."""

TESTS: dict[str, pl.DataType] = {"p_value": NUMBER, "p_holm": NUMBER, "holm_tests": COUNT}
COUNTED = ("denominator", "canonical_correct", "transformed_correct")


def gaps(results: Results, layer: Layer, strata: Strata) -> Table:
    """C, T, the gap, the discordance and, for pooled gaps, the tests with the mark or what they say for H1."""
    tests = {} if strata.by_template else TESTS | {VERDICT[layer]: FLAG}
    data, rows = [], []
    for key in results.keys(layer, Measure.FAMILY_GAP, strata):
        gap = results.scores[key]
        data.append(datum(results, key) | {column: gap[column] for column in (*PAIRS, *tests)})
        counts = [count_text(gap[column]) for column in COUNTED]
        discordance = f"{count_text(gap['canonical_only'])}/{count_text(gap['transformed_only'])}"
        tested = [p_text(gap["p_value"]), p_text(gap["p_holm"]), _verdict(gap, layer)]
        rows.append(
            [*place_cells(key), *counts, gap_cell(results, key), discordance, *(tested if tests else [])],
        )
    last = Heading(text="Mark" if layer is Layer.AUDITED else "H1")
    headings: list[str | Heading] = ["n", "C", "T", "Gap, points", "c/t", *(["p", "Holm p"] if tests else [])]
    return assembled(
        name=f"{layer}_gaps{strata.suffix}",
        caption=captions.gaps(results, layer, strata),
        place=place_columns(strata),
        results=[*headings, *([last] if tests else [])],
        rows=rows,
        data=data,
        schema=ESTIMATE | PAIRS | tests | DRAWS,
    )


def _verdict(gap: Row, layer: Layer) -> str:
    if layer is Layer.AUDITED:
        return "*" if gap["marked"] else ""
    return "supports" if gap["supported"] else ""


def hypotheses(results: Results) -> Table:
    """H1 and H2 of each system, with the numbers that decide them."""
    data, rows = [], []
    for system in results.systems:
        for measure in (Measure.H1, Measure.H2):
            row = results.scores[Key(system=system, layer=Layer.STRICT, measure=measure)]
            where = {"system": system, "hypothesis": measure.value}
            data.append(where | {column: row[column] for column in ("supported", "absent")} | share_data(row))
            rows.append([system, measure.value.upper(), decision(row["supported"]), _reason(measure, row)])
    return assembled(
        name="hypotheses",
        caption=captions.hypotheses(results),
        place=["system", "hypothesis"],
        results=[Heading(text="Supported"), Heading(text="Decided by")],
        rows=rows,
        data=data,
        schema={"supported": FLAG} | SHARE | {"absent": TEXT},
    )


def decision(is_supported: bool | None) -> str:
    """What is said of a hypothesis."""
    if is_supported is None:
        return ABSENT
    return "supported" if is_supported else "not supported"


def _reason(measure: Measure, row: Row) -> str:
    if row["absent"] is not None:
        return str(row["absent"])
    if measure is Measure.H1:
        return f"{row['numerator']} of {row['denominator']} family gaps"
    points = points_text(Fraction(row["numerator"], row["denominator"]))
    return f"orbit gap {share_text(row['numerator'], row['denominator'])} = {points} points"
