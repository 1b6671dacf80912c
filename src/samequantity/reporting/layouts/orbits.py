"""Orbit metrics, over all bases and by template, by orbit size and by both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    datum,
    gap_cell,
)
from samequantity.reporting.layouts.gaps import decision
from samequantity.reporting.results import Key, Results
from samequantity.reporting.tabular import Heading, Table, assembled, count_text
from samequantity.scoring.measures import Measure

RATES = (Measure.ORBIT_CORRECTNESS, Measure.ORBIT_INVARIANCE, Measure.CONSISTENT_WRONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """Which orbits a table tells apart; none of them is the table of all orbits, which has H2."""

    by_template: bool = False
    by_size: bool = False

    @property
    def name(self) -> str:
        """The table's name."""
        split = [name for name, is_split in (("size", self.by_size), ("template", self.by_template)) if is_split]
        return f"orbits_by_{'_and_'.join(split)}" if split else "orbits"

    @property
    def columns(self) -> list[str]:
        """The columns that say which orbits a row is about."""
        return [*(["template"] if self.by_template else []), *(["orbit_size"] if self.by_size else [])]

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """What follows where a row belongs."""
        size: dict[str, pl.DataType] = {"orbit_size": COUNT} if self.by_size else {}
        hypothesis: dict[str, pl.DataType] = {} if self.columns else {"supported": FLAG}
        return size | {"measure": TEXT} | ESTIMATE | PAIRS | hypothesis | DRAWS


def orbits(results: Results, *, by_template: bool = False, by_size: bool = False) -> Table:
    """The three rates over all bases of a row, and the orbit gap."""
    strata = Strata(by_template=by_template, by_size=by_size)
    data, rows = [], []
    for gap in both_layers(results, Measure.ORBIT_GAP, by_template=by_template, by_size=by_size):
        rates = [replace(gap, measure=measure) for measure in RATES]
        data += [*(datum(results, key) for key in rates), _gap(results, gap)]
        where = [str(getattr(gap, column)) for column in ("system", "layer", *strata.columns)]
        cells = [*(counted_cell(results, key) for key in rates), gap_cell(results, gap)]
        rows.append(
            [*where, count_text(results.scores[gap]["denominator"]), *cells, *_last(results, gap, strata.columns)]
        )
    headings = ["Bases", "Correct", "Invariant", "Consistent-wrong", "Orbit gap, points"]
    return assembled(
        name=strata.name,
        caption=captions.orbits(results, by_template=by_template, by_size=by_size),
        place=["system", "layer", *strata.columns],
        results=[*headings, *([] if strata.columns else [Heading(text="H2")])],
        rows=rows,
        data=data,
        schema=strata.schema,
    )


def _gap(results: Results, gap: Key) -> dict[str, object]:
    pairs = {column: results.scores[gap][column] for column in PAIRS}
    return datum(results, gap) | pairs | {"supported": _supports(results, gap)}


def _supports(results: Results, gap: Key) -> bool | None:
    """What the strict orbit gap of all bases says for H2; None for any other gap."""
    if gap.layer is not Layer.STRICT or gap.template is not None or gap.orbit_size is not None:
        return None
    found: bool | None = results.scores[replace(gap, measure=Measure.H2)]["supported"]
    return found


def _last(results: Results, gap: Key, strata: Sequence[str]) -> list[str]:
    return [] if strata else [decision(_supports(results, gap))]
