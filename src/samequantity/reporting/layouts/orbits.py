"""Orbit metrics, over all bases and by template, by orbit size and by both."""

from dataclasses import replace

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import (
    COUNT,
    DRAWS,
    ESTIMATE,
    FLAG,
    PAIRS,
    TEXT,
    both_layers,
    counted_cell,
    counted_gap_cell,
    datum,
    place_columns,
)
from samequantity.reporting.layouts.gaps import decision
from samequantity.reporting.results import POOLED, Key, Results, Strata
from samequantity.reporting.tabular import Heading, Table, assembled, count_text
from samequantity.scoring.measures import Measure

ORBIT_RATES = (Measure.ORBIT_CORRECTNESS, Measure.ORBIT_INVARIANCE, Measure.CONSISTENT_WRONG)


def orbits(results: Results, strata: Strata) -> Table:
    """The three rates over all bases of a row, and the orbit gap; the table of all orbits has H2."""
    data, rows = [], []
    for gap in both_layers(results, Measure.ORBIT_GAP, strata):
        rates = [replace(gap, measure=measure) for measure in ORBIT_RATES]
        data += [*(datum(results, key) for key in rates), _gap(results, gap)]
        where = [str(getattr(gap, column)) for column in place_columns(strata, layer=True, family=False)]
        cells = [*(counted_cell(results, key) for key in rates), counted_gap_cell(results, gap)]
        last = [decision(_supports(results, gap))] if strata == POOLED else []
        rows.append([*where, count_text(results.scores[gap]["denominator"]), *cells, *last])
    headings = ["Bases", "Correct", "Invariant", "Consistent-wrong", "Orbit gap, points"]
    return assembled(
        name=f"orbits{strata.suffix}",
        caption=captions.orbits(results, strata),
        place=place_columns(strata, layer=True, family=False),
        results=[*headings, *([Heading(text="H2")] if strata == POOLED else [])],
        rows=rows,
        data=data,
        schema=_schema(strata),
    )


def _schema(strata: Strata) -> dict[str, pl.DataType]:
    """What follows where a row belongs."""
    size: dict[str, pl.DataType] = {"orbit_size": COUNT} if strata.by_size else {}
    hypothesis: dict[str, pl.DataType] = {"supported": FLAG} if strata == POOLED else {}
    return size | {"measure": TEXT} | ESTIMATE | PAIRS | hypothesis | DRAWS


def _gap(results: Results, gap: Key) -> dict[str, object]:
    pairs = {column: results.scores[gap][column] for column in PAIRS}
    return datum(results, gap) | pairs | {"supported": _supports(results, gap)}


def _supports(results: Results, gap: Key) -> bool | None:
    """What the strict orbit gap of all bases says for H2; None for any other gap."""
    if gap.layer is not Layer.STRICT or gap.template is not None or gap.orbit_size is not None:
        return None
    found: bool | None = results.scores[replace(gap, measure=Measure.H2)]["supported"]
    return found
