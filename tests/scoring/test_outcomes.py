"""Stage scoring starts from a complete join, or not at all."""

import re
from dataclasses import replace

import polars as pl
import pytest

from samequantity.domain.exchange import FinishReason
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.scoring.outcomes import SCHEMA, outcomes
from studies import OK, RECOVERED, Study, answer, random_orbits, study

TWO_VIEWS = {Family.CANONICAL: OK, Family.FRACTION: RECOVERED}
SMALL = study({f"a-{number:04d}": TWO_VIEWS for number in range(1, 8)})
FRACTIONS = pl.col("view_id").str.ends_with("/fraction")
NO_SYSTEM = SMALL.responses.drop("system")


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
        "strict_final_lines": 1,
        "audited_status": "correct",
        "audited_value": "7/2",
        "audited_final_lines": 1,
        "recovered": True,
        "rewrites": [],
        "magnitude_k": None,
        "finish_reason": None,
        "completion_tokens": None,
    }


@pytest.mark.parametrize(
    "responses", [SMALL.responses, NO_SYSTEM, NO_SYSTEM.with_columns(pl.lit(None).alias("system"))]
)
@pytest.mark.parametrize("tokens", [pl.lit(None), pl.when(FRACTIONS).then(12)], ids=["no tokens", "some tokens"])
def test_responses_lend_how_they_ended_and_their_tokens_where_they_say_so(
    responses: pl.DataFrame, tokens: pl.Expr
) -> None:
    """Somebody else's responses need not name their system, and need not count tokens."""
    joined = outcomes(*SMALL.tables, responses.with_columns(tokens.alias("completion_tokens")))

    assert joined.frame.schema == SCHEMA
    assert joined.frame.drop("finish_reason", "completion_tokens").equals(
        outcomes(*SMALL.tables).frame.drop("finish_reason", "completion_tokens")
    )
    assert joined.frame["finish_reason"].to_list() == ["stop"] * 14
    assert joined.frame["completion_tokens"].null_count() in (7, 14)
    assert set(joined.frame.filter(~FRACTIONS)["completion_tokens"]) == {None}


@pytest.mark.parametrize("table", ["answers", "audits", "responses"])
def test_missing_views_are_counted_and_five_are_named(table: str) -> None:
    cut = replace(SMALL, **{table: getattr(SMALL, table).filter(~FRACTIONS)})

    with pytest.raises(TableError, match=rf"^{table} of toy: 7 views are missing: a-0001/fraction, ") as raised:
        outcomes(*cut.all_tables)

    assert str(raised.value).count("/fraction") == 5
    assert re.search(r"…\. (Run|Pass) ", str(raised.value))


@pytest.mark.parametrize("table", ["views", "answers", "audits", "responses"])
def test_repeated_views_are_counted_once_each(table: str) -> None:
    whole: pl.DataFrame = getattr(SMALL, table)
    doubled = replace(SMALL, **{table: pl.concat([whole, whole.filter(FRACTIONS).head(2), whole.head(1)])})

    with pytest.raises(
        TableError,
        match=rf"^{table}: 3 views are (answered|listed) more than once: a-0001/canonical, a-0001/fraction, a-",
    ):
        outcomes(*doubled.all_tables)


@pytest.mark.parametrize("table", ["answers", "audits", "responses"])
def test_unknown_views_are_named(table: str) -> None:
    whole: pl.DataFrame = getattr(SMALL, table)
    stray = whole.head(1).with_columns(pl.lit("a-9999/unit").alias("view_id"))

    with pytest.raises(TableError, match=rf"^{table}: 1 views are not in the views table: a-9999/unit\. "):
        outcomes(*replace(SMALL, **{table: pl.concat([whole, stray])}).all_tables)


@pytest.mark.parametrize(
    ("answered", "ended"),
    [("correct", "length"), ("correct", "other"), ("correct", None), ("truncation_error", "stop")],
)
def test_responses_that_end_otherwise_than_the_answers_say_are_counted_and_named(
    answered: str, ended: str | None
) -> None:
    """Truncated is what ended for another reason than `stop`, or for an unknown one."""
    whole = study({f"a-{number:04d}": {Family.CANONICAL: answer(answered)} for number in range(1, 8)})
    odd = pl.col("view_id").is_in(["a-0002/canonical", "a-0005/canonical"])
    responses = whole.responses.with_columns(
        pl.when(odd).then(pl.lit(ended, pl.String)).otherwise("finish_reason").alias("finish_reason")
    )

    with pytest.raises(
        TableError, match=r"^responses of toy: 2 views are cut off where .* a-0002/canonical, a-0005/canonical\. Pass"
    ):
        outcomes(*whole.tables, responses)


def test_a_response_that_ended_nobody_knows_why_did_not_run_into_the_cap() -> None:
    whole = study({"a-0001": {Family.CANONICAL: answer("truncation_error")}})
    unknown = whole.responses.with_columns(pl.lit(None, pl.String).alias("finish_reason"))

    assert [FinishReason.OTHER] == outcomes(*whole.tables, unknown).frame["finish_reason"].to_list()


def test_responses_of_another_system_are_refused() -> None:
    other = SMALL.responses.with_columns(pl.when(FRACTIONS).then(pl.lit("other")).otherwise("system").alias("system"))

    with pytest.raises(TableError, match=r"^responses: 7 views are answered by another system than toy: a-0001/frac"):
        outcomes(*SMALL.tables, other)


def test_responses_to_incomplete_orbits_are_left_out_with_them() -> None:
    answers = SMALL.answers.filter(pl.col("view_id") != "a-0003/fraction")

    joined = outcomes(SMALL.views, answers, SMALL.audits, SMALL.responses, complete_orbits_only=True)

    assert joined.dropped_bases == 1
    assert joined.frame["finish_reason"].to_list() == ["stop"] * 12


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
        (
            pl.when(FRACTIONS).then(pl.lit("truncation_error")).otherwise("status").alias("status"),
            pl.lit(False).alias("recovered"),
        ),
    ],
    ids=["recovered not set", "a strict success lost", "cut off for the audit alone"],
)
def test_audits_that_contradict_the_answers_are_refused(changed: pl.Expr | tuple[pl.Expr, ...]) -> None:
    with pytest.raises(TableError, match="7 views contradict the strict answers"):
        outcomes(SMALL.views, SMALL.answers, SMALL.audits.with_columns(changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (pl.lit(3).alias("magnitude_k"), "14 views have a magnitude_k without a wrong value, or beyond ±1 to ±15"),
        (pl.lit(["code", "code"]).alias("rewrites"), "14 views name a rewrite twice"),
    ],
    ids=["a drop of a correct answer", "a rewrite twice"],
)
def test_counts_that_no_audit_gives_are_refused(changed: pl.Expr, message: str) -> None:
    with pytest.raises(TableError, match=message):
        outcomes(SMALL.views, SMALL.answers, SMALL.audits.with_columns(changed))


@pytest.mark.parametrize("k", [0, 16, -16])
def test_a_power_that_is_no_magnitude_drop_is_refused(k: int) -> None:
    wrong = study({"a-0001": {Family.CANONICAL: answer("value_error")}})

    with pytest.raises(TableError, match="1 views have a magnitude_k"):
        outcomes(wrong.views, wrong.answers, wrong.audits.with_columns(pl.lit(k).alias("magnitude_k")))


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


@pytest.mark.parametrize(
    ("table", "column"), [("answers", "final_lines"), ("audits", "final_lines"), ("audits", "rewrites")]
)
def test_counts_that_are_not_there_are_refused(table: str, column: str) -> None:
    whole: pl.DataFrame = getattr(SMALL, table)
    void = whole.with_columns(pl.when(~FRACTIONS).then(column).alias(column))

    with pytest.raises(TableError, match=rf"^{table}: 7 views have no {column}: a-0001/fraction, "):
        outcomes(*replace(SMALL, **{table: void}).tables)


@pytest.mark.parametrize(
    ("table", "column"),
    [("views", "template"), ("answers", "final_lines"), ("audits", "recovered"), ("responses", "finish_reason")],
)
def test_a_missing_column_is_named(table: str, column: str) -> None:
    with pytest.raises(TableError, match=f"^{table}: column {column} is missing; the table has "):
        outcomes(*replace(SMALL, **{table: getattr(SMALL, table).drop(column)}).all_tables)


@pytest.mark.parametrize(
    ("views", "said"),
    [
        (SMALL.views.filter(FRACTIONS), "7 bases have no canonical view"),
        (SMALL.views.with_columns(pl.lit("unit").alias("family")), "14 views are not named"),
        (SMALL.views.with_columns(pl.col("family").alias("template")), "7 bases belong to several templates"),
        (SMALL.views.with_columns(pl.when(FRACTIONS).then("template")), "7 views have no template: a-0001/canonical"),
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
    assert outcomes(*mixed.all_tables).frame.equals(outcomes(*orbits.all_tables).frame)
