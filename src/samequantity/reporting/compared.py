"""Comparisons of two systems, checked against the scores of both and put in the order in which tables show them."""

from collections.abc import Sequence

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.results import Key, Results, Row
from samequantity.scoring.columns import COMPARISONS
from samequantity.scoring.measures import Measure


def ordered(frame: pl.DataFrame, results: Results) -> list[Row]:
    """The rows: by system and reference as the study shows them, then layer, template, measure, family.

    Raises TableError when columns are missing, a row is repeated, a system has no scores, or the comparison was not
    made from the same answers as the scores.
    """
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


def pair_name(row: Row) -> str:
    """The two systems of a row as readers see them."""
    return f"{row['system']} − {row['reference']}"


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


def _named(row: Row) -> str:
    parts = (pair_name(row), *(row[column] for column in ("layer", "measure", "family", "template")))
    return ", ".join(part for part in parts if part is not None)
