"""What the layouts share: a result as tidy data, and as cells for readers."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.errors import TableError
from samequantity.reporting.results import Key, Results, Row, Strata
from samequantity.reporting.tabular import (
    ABSENT,
    count_text,
    decimal_text,
    interval_text,
    points_interval_text,
    rate_text,
    share_text,
)
from samequantity.scoring.measures import Measure

TEXT: pl.DataType = pl.String()
COUNT: pl.DataType = pl.Int64()
NUMBER: pl.DataType = pl.Float64()
FLAG: pl.DataType = pl.Boolean()

SHARE: dict[str, pl.DataType] = {"numerator": COUNT, "denominator": COUNT, "estimate": NUMBER}
"""A count of so many, and what it is a share of: 0.28 where a table for readers says 28 points."""

ESTIMATE: dict[str, pl.DataType] = SHARE | {"low": NUMBER, "high": NUMBER}
"""A rate, or a difference of rates, with the two ends of its interval."""

DRAWS: dict[str, pl.DataType] = {"draws": COUNT, "dropped_draws": COUNT}
PAIRS: dict[str, pl.DataType] = {
    "canonical_correct": COUNT,
    "transformed_correct": COUNT,
    "canonical_only": COUNT,
    "transformed_only": COUNT,
}


def refuse_unfit(
    frame: pl.DataFrame,
    results: Results,
    *,
    name: str,
    command: str,
    columns: Collection[str],
    nullable: Collection[str],
    place: Sequence[str],
) -> None:
    """Refuse a table beside the scores, of which `command` makes a system's share and `place` names a row.

    TableError when columns are missing, values of any but the `nullable` ones are, a system is not of the study, or a
    row is there twice.
    """
    cure = f"Make the table again: samequantity {command}"
    if absent := [column for column in columns if column not in frame.columns]:
        raise TableError(f"{name}: column {', '.join(absent)} is missing. {cure}")
    if holey := [column for column in columns if column not in nullable and frame[column].null_count()]:
        raise TableError(f"{name}: column {', '.join(holey)} is empty in places. {cure}")
    if strange := sorted(set(frame["system"]) - {*results.systems, *results.absent}):
        raise TableError(f"{name}: {', '.join(strange)} is no system of this study. Name it there, or leave it out")
    if twice := len(frame) - frame.n_unique(place):
        raise TableError(f"{name}: {twice} rows are there twice. Pass each system's table once")


def place_columns(strata: Strata, *, layer: bool = False, family: bool = True) -> list[str]:
    """The columns that say where a row of a table belongs, those that are asked for."""
    return ["system", *(["layer"] if layer else []), *strata.columns, *(["family"] if family else [])]


def place_data(key: Key) -> dict[str, object]:
    """Where a result belongs."""
    return {
        "system": key.system,
        "template": key.template,
        "orbit_size": key.orbit_size,
        "family": key.family and key.family.value,
        "layer": key.layer and key.layer.value,
        "measure": key.measure.value,
    }


def place_cells(key: Key, layer: Layer | None = None) -> list[str]:
    """System, layer if given, template and family, as far as the key has them."""
    return [part for part in (key.system, layer, key.template, key.family) if part is not None]


def datum(results: Results, key: Key) -> dict[str, object]:
    """A result as tidy data: where it belongs, its counts, its estimate, and its interval where it has one."""
    return place_data(key) | share_data(results.scores[key]) | interval_data(results, key)


def interval_data(results: Results, key: Key) -> dict[str, object]:
    """The two ends of a result's interval and the draws that it rests on; nothing where it has none."""
    interval = results.intervals.get(key)
    return {} if interval is None else {column: interval[column] for column in ("low", "high", *DRAWS)}


def share_data(row: Row) -> dict[str, object]:
    """A row's counts and the nearest float to their ratio, null over an empty denominator."""
    numerator, denominator = row["numerator"], row["denominator"]
    estimate = numerator / denominator if denominator else None
    return {"numerator": numerator, "denominator": denominator, "estimate": estimate}


def rate_cell(results: Results, key: Key) -> str:
    """k/n = rate, with its interval."""
    row, interval = results.scores[key], results.intervals[key]
    ends = interval_text(interval["low"], interval["high"], places=3)
    return f"{rate_text(row['numerator'], row['denominator'])} {ends}"


def counted_cell(results: Results, key: Key) -> str:
    """A count (its rate [and interval]), where another column has the n of several rates."""
    row, interval = results.scores[key], results.intervals[key]
    rate = decimal_text(Fraction(row["numerator"], row["denominator"]), 3)
    return f"{count_text(row['numerator'])} ({rate} {interval_text(interval['low'], interval['high'], places=3)})"


def gap_cell(results: Results, key: Key) -> str:
    """A gap in percentage points, with its interval."""
    row, interval = results.scores[key], results.intervals[key]
    return points_interval_text(Fraction(row["numerator"], row["denominator"]), interval["low"], interval["high"])


def counted_gap_cell(results: Results, key: Key) -> str:
    """A difference of counts (the gap in percentage points, with its interval), where another column has the n."""
    return f"{count_text(results.scores[key]['numerator'])} ({gap_cell(results, key)})"


def share_cell(row: Row) -> str:
    """k/n, or `ABSENT` for what is not known."""
    return ABSENT if row["numerator"] is None else share_text(row["numerator"], row["denominator"])


def shown_views(results: Results, strata: Strata) -> Iterator[Key]:
    """The strict correctness of each family, and template, that has a view: one row a reader sees."""
    return results.keys(Layer.STRICT, Measure.VIEW_CORRECTNESS, strata)


def both_layers(results: Results, measure: Measure, strata: Strata) -> list[Key]:
    """The results of a measure in both layers: by system, then layer, then as `Results.keys` has them."""
    found = [key for layer in Layer for key in results.keys(layer, measure, strata)]
    return sorted(found, key=lambda key: results.systems.index(key.system))


def audited_key(key: Key, measure: Measure) -> Key:
    """A measure of the audited layer in the same place."""
    return replace(key, layer=Layer.AUDITED, measure=measure)
