"""Stage scoring starts from a complete join, or not at all."""

import polars as pl
import pytest

from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.scoring.outcomes import SCHEMA, outcomes
from studies import OK, RECOVERED, Study, answer, random_orbits, study

TWO_VIEWS = {Family.CANONICAL: OK, Family.FRACTION: RECOVERED}
SMALL = study({f"a-{number:04d}": TWO_VIEWS for number in range(1, 8)})
FRACTIONS = pl.col("view_id").str.ends_with("/fraction")


def test_every_view_has_one_row_with_both_layers() -> None:
    joined = outcomes(*SMALL.tables)

    assert joined.system == "toy"
    assert joined.dropped_bases == 0
    assert joined.frame.schema == SCHEMA
    assert joined.frame["view_id"].to_list() == sorted(SMALL.views["view_id"])
    assert joined.frame.row(1, named=True) == {
        "system": "toy",
        "view_id": "a-0001/fraction",
        "base_id": "a-0001",
        "template": "a",
        "family": "fraction",
        "strict_status": "parse_error",
        "strict_value": None,
        "final_lines": 1,
        "audited_status": "correct",
        "audited_value": "7/2",
        "recovered": True,
        "rewrites": [],
        "magnitude_k": None,
    }


@pytest.mark.parametrize("table", ["answers", "audits"])
def test_missing_views_are_counted_and_five_are_named(table: str) -> None:
    tables = {name: getattr(SMALL, name) for name in ("views", "answers", "audits")}
    tables[table] = tables[table].filter(~FRACTIONS)

    with pytest.raises(TableError, match=rf"^{table} of toy: 7 views are missing: a-0001/fraction, ") as raised:
        outcomes(**tables)

    assert str(raised.value).count("/fraction") == 5
    assert "Run " in str(raised.value)


@pytest.mark.parametrize("table", ["views", "answers", "audits"])
def test_repeated_views_are_counted_once_each(table: str) -> None:
    tables = {name: getattr(SMALL, name) for name in ("views", "answers", "audits")}
    tables[table] = pl.concat([tables[table], tables[table].filter(FRACTIONS).head(2), tables[table].head(1)])

    with pytest.raises(TableError, match=rf"^{table}: 3 views are .* more than once|^{table}: 3 views are listed more"):
        outcomes(**tables)


@pytest.mark.parametrize("table", ["answers", "audits"])
def test_unknown_views_are_named(table: str) -> None:
    tables = {name: getattr(SMALL, name) for name in ("views", "answers", "audits")}
    stray = tables[table].head(1).with_columns(pl.lit("a-9999/unit").alias("view_id"))
    tables[table] = pl.concat([tables[table], stray])

    with pytest.raises(TableError, match=rf"^{table}: 1 views are not in the views table: a-9999/unit\. "):
        outcomes(**tables)


def test_whole_bases_are_dropped_and_counted_when_asked() -> None:
    answers = SMALL.answers.filter(pl.col("view_id") != "a-0003/fraction")
    audits = SMALL.audits.filter(pl.col("view_id") != "a-0005/canonical")

    joined = outcomes(SMALL.views, answers, audits, complete_orbits_only=True)

    assert joined.dropped_bases == 2
    assert joined.frame["base_id"].unique().sort().to_list() == ["a-0001", "a-0002", "a-0004", "a-0006", "a-0007"]
    assert joined.frame.height == 10


def test_no_complete_orbit_is_an_error_not_an_empty_score() -> None:
    with pytest.raises(TableError, match="no base has an answer to each of its views"):
        outcomes(SMALL.views, SMALL.answers.filter(~FRACTIONS), SMALL.audits, complete_orbits_only=True)


def test_two_systems_in_one_table_are_refused() -> None:
    other = SMALL.answers.with_columns(
        pl.when(FRACTIONS).then(pl.lit("other")).otherwise(pl.col("system")).alias("system")
    )

    with pytest.raises(TableError, match="one system was expected, found other, toy"):
        outcomes(SMALL.views, other, SMALL.audits)


def test_audits_of_another_system_are_refused() -> None:
    with pytest.raises(TableError, match="answers are of system toy, audits of other"):
        outcomes(SMALL.views, SMALL.answers, SMALL.audits.with_columns(pl.lit("other").alias("system")))


def test_no_answer_at_all_is_refused() -> None:
    with pytest.raises(TableError, match="answers: one system was expected, found none"):
        outcomes(SMALL.views, SMALL.answers.clear(), SMALL.audits)


@pytest.mark.parametrize(
    "changed",
    [
        pl.when(FRACTIONS).then(False).otherwise(pl.col("recovered")).alias("recovered"),
        pl.when(FRACTIONS).then(pl.lit("correct")).otherwise(pl.lit("format_error")).alias("status"),
    ],
    ids=["recovered not set", "a strict success lost"],
)
def test_audits_that_contradict_the_answers_are_refused(changed: pl.Expr) -> None:
    with pytest.raises(TableError, match="7 views contradict the strict answers"):
        outcomes(SMALL.views, SMALL.answers, SMALL.audits.with_columns(changed))


def test_a_value_error_without_a_value_is_refused() -> None:
    broken = study({"a-0001": {Family.CANONICAL: answer("value_error")}})

    with pytest.raises(TableError, match="1 views have no value"):
        outcomes(broken.views, broken.answers.with_columns(pl.lit(None).alias("value")), broken.audits)


def test_numbers_instead_of_exact_text_are_refused() -> None:
    with pytest.raises(TableError, match="column value has type Float64"):
        outcomes(SMALL.views, SMALL.answers.with_columns(pl.lit(3.5).alias("value")), SMALL.audits)


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(TableError, match="14 views have a status that is none of truncation_error"):
        outcomes(SMALL.views, SMALL.answers.with_columns(pl.lit("fine").alias("status")), SMALL.audits)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(TableError, match="audits: column recovered is missing"):
        outcomes(SMALL.views, SMALL.answers, SMALL.audits.drop("recovered"))


@pytest.mark.parametrize(
    ("views", "said"),
    [
        (SMALL.views.filter(FRACTIONS), "7 bases have no canonical view"),
        (SMALL.views.with_columns(pl.lit("unit").alias("family")), "14 views are not named"),
        (SMALL.views.with_columns(pl.col("family").alias("template")), "7 bases belong to several templates"),
        (SMALL.views.clear(), "the table has no row"),
    ],
)
def test_views_that_are_no_orbits_are_refused(views: pl.DataFrame, said: str) -> None:
    with pytest.raises(TableError, match=said):
        outcomes(views, SMALL.answers, SMALL.audits)


def test_row_order_does_not_matter() -> None:
    orbits = study(random_orbits(3, 30))
    mixed: Study = orbits.shuffled(1)

    assert not mixed.views.equals(orbits.views)
    assert outcomes(*mixed.tables).frame.equals(outcomes(*orbits.tables).frame)
