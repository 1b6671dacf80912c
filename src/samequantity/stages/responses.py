"""The table of responses, whoever made them: its columns, and which views a shard or a few of them are."""

import polars as pl

ORDER = "order"
"""The column of a view's position among all views of the study, the same in every shard."""

RESPONSES_SCHEMA = pl.Schema(
    {
        "system": pl.String,
        "view_id": pl.String,
        "order": pl.Int64,
        "prompt_sha256": pl.String,
        "text": pl.String,
        "reasoning": pl.String,
        "raw": pl.String,
        "finish_reason": pl.String,
        "raw_finish_reason": pl.String,
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
    }
)


def part(views: pl.DataFrame, *, index: int, count: int) -> pl.DataFrame:
    """The views of shard `index` of `count` (0 ≤ index < count), with their position among all views in `order`.

    A shard takes every `count`-th view: templates follow one another in the table and differ in the length of their
    answers, so a contiguous cut would leave one shard with most of the work. Raises ValueError on a wrong index.
    """
    if not 0 <= index < count:
        raise ValueError(f"shard {index} of {count} does not exist")
    return numbered(views).gather_every(count, offset=index)


def spread(views: pl.DataFrame, count: int) -> pl.DataFrame:
    """`count` of the views (all, if there are fewer) at equal distances, with their position among all in `order`."""
    chosen = min(count, views.height)
    return numbered(views)[[place * views.height // chosen for place in range(chosen)]]


def numbered(views: pl.DataFrame) -> pl.DataFrame:
    """The views with their position in `order`, which they may have already."""
    if ORDER in views.columns:
        return views
    return views.with_row_index(ORDER).with_columns(pl.col(ORDER).cast(pl.Int64))
