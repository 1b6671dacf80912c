"""Verdicts of other tools are taken only as exact texts and possible counts: else equal values would not be equal."""

import polars as pl
import pytest

from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.scoring.outcomes import outcomes
from studies import OK, study

SMALL = study({"a-0001": {Family.CANONICAL: OK, Family.UNIT: OK}})


@pytest.mark.parametrize("value", ["3.0", "14/2", "07/2", "+7/2", "7/2 ", "7/-2", "7/0", "abc", "", "-0", "1e3", "٣"])
def test_a_value_that_is_not_in_lowest_terms_is_refused(value: str) -> None:
    audits = SMALL.audits.with_columns(value=pl.lit(value))

    with pytest.raises(TableError, match=r"^audits: 2 views have a value that is no text in lowest terms .*a-0001/"):
        outcomes(SMALL.views, SMALL.answers, audits)


@pytest.mark.parametrize("value", ["0", "-3", "7/2", "-1/1000000", "9" * 1100])
def test_a_value_in_lowest_terms_is_taken(value: str) -> None:
    answers, audits = (table.with_columns(value=pl.lit(value)) for table in (SMALL.answers, SMALL.audits))

    assert outcomes(SMALL.views, answers, audits).frame["audited_value"].to_list() == [value, value]


def test_less_than_no_final_line_is_refused() -> None:
    with pytest.raises(TableError, match="answers: 2 views have less than no FINAL line"):
        outcomes(SMALL.views, SMALL.answers.with_columns(final_lines=pl.lit(-3)), SMALL.audits)


@pytest.mark.parametrize("rewrites", [["foo"], [None], ["code", "Code"]])
def test_a_rewrite_that_the_audit_does_not_know_is_refused(rewrites: list[str | None]) -> None:
    audits = SMALL.audits.with_columns(rewrites=pl.lit(rewrites, dtype=pl.List(pl.String)))

    with pytest.raises(TableError, match="audits of toy: 2 views name a rewrite that is none of code, emphasis"):
        outcomes(SMALL.views, SMALL.answers, audits)


def test_less_than_no_token_is_refused() -> None:
    responses = SMALL.views.select("view_id", finish_reason=pl.lit("stop"), completion_tokens=pl.lit(-500))

    with pytest.raises(TableError, match="responses: 2 views have less than no token"):
        outcomes(SMALL.views, SMALL.answers, SMALL.audits, responses)
