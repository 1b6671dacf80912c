"""What the stages parse and audit need of the views: for each view the unit asked for and the exact answer."""

import re
from collections.abc import Mapping
from fractions import Fraction

import polars as pl

from samequantity.domain.answers import Question
from samequantity.domain.units import UnknownUnitError, unit_named
from samequantity.errors import TableError
from samequantity.messages import counted, some

VIEW_COLUMNS = pl.Schema(dict.fromkeys(("view_id", "dimension", "canonical_unit", "expected"), pl.String()))
RESPONSE_COLUMNS = pl.Schema(dict.fromkeys(("view_id", "text", "finish_reason"), pl.String()))
ANSWER_COLUMNS = pl.Schema(
    {"view_id": pl.String(), "status": pl.String(), "value": pl.String(), "final_lines": pl.Int64()}
)

# As Python prints a Fraction, lowest terms or not; the bound is far above any answer and below what int() refuses.
_RATIONAL = re.compile(r"-?[0-9]{1,2000}(?:/(?!0+\Z)[0-9]{1,2000})?")


def questions(views: pl.DataFrame) -> dict[str, Question]:
    """The question of each view, from the columns of `VIEW_COLUMNS`; TableError for a repeated or unusable view."""
    named(views, "views")
    repeated = views.filter(pl.col("view_id").is_duplicated())["view_id"].unique(maintain_order=True).to_list()
    if repeated:
        raise TableError(f"views: {counted(repeated, 'view')} more than once: {some(repeated)}")
    rows = views.select(*VIEW_COLUMNS).iter_rows()
    return {view: _question(view, dimension, unit, expected) for view, dimension, unit, expected in rows}


def named(rows: pl.DataFrame, table: str) -> None:
    """TableError that counts the rows without a view id."""
    if nameless := rows["view_id"].null_count():
        raise TableError(f"{table}: {nameless} of {len(rows)} rows have no view_id")


def known(rows: pl.DataFrame, asked: Mapping[str, Question], table: str) -> None:
    """TableError that counts and names the view ids that no view has."""
    named(rows, table)
    unknown = sorted(set(rows["view_id"]) - asked.keys())
    if unknown:
        raise TableError(f"{table}: {counted(unknown, 'view id')} that the views table does not hold: {some(unknown)}")


def with_system(table: pl.DataFrame, system: str) -> pl.DataFrame:
    """The table itself, or with a `system` column of this name where it has none (someone else's responses)."""
    return table if "system" in table.columns else table.with_columns(system=pl.lit(system, pl.String))


def _question(view: str, dimension: str, unit_name: str, expected: str) -> Question:
    try:
        unit = unit_named(unit_name)
    except UnknownUnitError as error:
        raise TableError(f"views: {view}: {error}") from None
    if unit.dimension != dimension:
        raise TableError(f"views: {view}: {unit_name} measure {unit.dimension}, not {dimension}")
    if expected is None or not _RATIONAL.fullmatch(expected):
        raise TableError(f"views: {view}: the expected value {expected!r} is no rational such as 37/4 or 12")
    return Question(unit=unit, expected=Fraction(expected))
