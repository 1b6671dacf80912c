"""Scores and intervals that no run of score and bootstrap gives are refused, not shown."""

from functools import cache

import polars as pl
import pytest

from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.results import gather
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.score import score
from studies import pairs, study

FIRST = pl.int_range(pl.len()) == 0


@cache
def made() -> tuple[pl.DataFrame, pl.DataFrame]:
    small = study(pairs(Family.UNIT, both=6, canonical_only=3, transformed_only=0, neither=1))
    return score(*small.tables), bootstrap(*small.tables, seed=1, draws=20)


@pytest.mark.parametrize("measure", ["h1", "h2", "recovered", "value_error", "magnitude_drop", "family_gap", "rewrite"])
def test_missing_rows_are_counted_and_one_is_named(measure: str) -> None:
    scores, intervals = made()

    with pytest.raises(TableError, match=rf"scores: \d+ rows are missing, for instance toy, .*{measure}.* score$"):
        gather(scores.filter(pl.col("measure") != measure), intervals)


def test_a_layer_alone_is_refused() -> None:
    scores, intervals = made()

    with pytest.raises(TableError, match="rows are missing"):
        gather(scores.filter(pl.col("layer") == "strict"), intervals.filter(pl.col("layer") == "strict"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (pl.when(FIRST).then(None).otherwise("numerator").alias("numerator"), "no count"),
        (pl.when(FIRST).then(None).otherwise("denominator").alias("denominator"), "no count"),
        (pl.when(FIRST).then(None).otherwise("system").alias("system"), "no system"),
        (pl.when(FIRST).then(pl.lit("1/7")).otherwise("estimate").alias("estimate"), "an estimate that is not"),
        (pl.when(pl.col("category").is_not_null()).then(pl.lit("many")).alias("category"), "category many"),
    ],
)
def test_a_row_of_the_scores_that_cannot_be_is_named(changed: pl.Expr, message: str) -> None:
    scores, intervals = made()

    with pytest.raises(TableError, match=rf"scores: {message}.* in the row for .*\. Make the table again"):
        gather(scores.with_columns(changed), intervals)


@pytest.mark.parametrize("end", [float("nan"), float("inf")])
def test_an_end_of_an_interval_that_is_no_number_is_refused(end: float) -> None:
    scores, intervals = made()

    with pytest.raises(TableError, match="intervals: an end that is no number in the row for toy, strict"):
        gather(scores, intervals.with_columns(pl.when(FIRST).then(end).otherwise("high").alias("high")))
