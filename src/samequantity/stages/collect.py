"""Stage collect: tables of single systems, or of pairs, become one of the study; shards become one of a system."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from samequantity.errors import TableError
from samequantity.messages import counted, some

OWNERS = ("system", "reference", "again")
"""The columns that say whose results a row holds, as far as a table has them."""


def collect(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of all tables, in the order given; TableError when a system, or a pair of systems, comes in two of them.

    Tables of pairs have a column `reference` beside `system`, and repeats a column `again`.
    """
    stacked = _stacked(frames)
    seen: set[tuple[str, ...]] = set()
    for frame in frames:
        owners = set(frame.select(name for name in OWNERS if name in frame.columns).unique().rows())
        if twice := sorted(owners & seen):
            named = ", ".join(" − ".join(owner) for owner in twice)
            raise TableError(f"system {named} comes in two of the tables")
        seen |= owners
    return stacked


def merge(parts: Sequence[pl.DataFrame], views: pl.DataFrame) -> pl.DataFrame:
    """The responses of all shards in request order; TableError unless every view is answered exactly once."""
    merged = _stacked(parts).sort("order")
    expected, answered = views["view_id"].to_list(), merged["view_id"].to_list()
    if expected != answered:
        missing, extra = sorted(set(expected) - set(answered)), sorted(set(answered) - set(expected))
        twice = sorted(view for view, times in Counter(answered).items() if times > 1)
        raise TableError(
            f"the shards do not make up the views: {counted(missing, 'view')} missing ({some(missing) or '-'}),"
            f" {len(extra)} unknown ({some(extra) or '-'}), {len(twice)} more than once ({some(twice) or '-'}),"
            f" {len(answered)} responses in all" + ("" if missing or extra or twice else ", in another order")
        )
    return merged


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The tables one under the other; a column without a value in one of them has the type of the others."""
    for number, frame in enumerate(frames[1:], start=2):
        if frame.columns != frames[0].columns:
            other = sorted(set(frame.columns) ^ set(frames[0].columns))
            raise TableError(
                f"the tables differ in their columns, 1 and {number} in {', '.join(other) or 'their order'}. "
                "Make both again with the same version of samequantity"
            )
    for name in frames[0].columns:
        kinds = {str(frame.schema[name]): number for number, frame in enumerate(frames, start=1)}
        kinds.pop(str(pl.Null()), None)
        if len(kinds) > 1:
            found = ", ".join(f"{kind} in table {number}" for kind, number in kinds.items())
            raise TableError(
                f"the tables differ in their columns: {name} is {found}. Make them again, or write each as Parquet"
            )
    return pl.concat(frames, how="vertical_relaxed")
