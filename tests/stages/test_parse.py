"""Stages parse and audit: one row a response, and a bad table is an error that says what and how many."""

from collections.abc import Callable

import polars as pl
import pytest

from samequantity.domain.rewriting import AsteriskBetweenDigits
from samequantity.errors import TableError
from samequantity.stages.audit import SCHEMA as AUDIT_SCHEMA
from samequantity.stages.audit import audit
from samequantity.stages.parse import SCHEMA, parse

TEXTS = {
    "right": "FINAL: 2500 milliliters",
    "marked": "**Final:** 2.5 `L`",
    "wrong": "FINAL: 25 L",
    "later": "FINAL: 25 L\n**FINAL:** 2.5 L",
    "careless": "FINAL: 2.5 L\nfinal: 3 L",
    "raised": "FINAL: 2.5 × 10³ L",
    "cut": "FINAL: 2.5 L",
    "silent": None,
    "power": "FINAL: 2**5 L",
}


def views(**changes: object) -> pl.DataFrame:
    """One view for each text: a volume of 5/2 liters."""
    frame = pl.DataFrame({"view_id": list(TEXTS)}).with_columns(
        dimension=pl.lit("volume"), canonical_unit=pl.lit("liters"), expected=pl.lit("5/2")
    )
    return frame.with_columns(**{name: pl.lit(value) for name, value in changes.items()})


def responses() -> pl.DataFrame:
    """In another order than the views, and with a column that nobody asked for."""
    reasons = ["length" if name == "cut" else "stop" for name in TEXTS]
    return pl.DataFrame(
        {"text": list(TEXTS.values()), "view_id": list(TEXTS), "finish_reason": reasons, "note": "x"}
    ).reverse()


def row(frame: pl.DataFrame, view: str) -> dict[str, object]:
    (found,) = frame.filter(pl.col("view_id") == view).to_dicts()
    return {name: value for name, value in found.items() if name not in ("system", "view_id")}


def test_parse_gives_one_row_a_response_in_their_order() -> None:
    answers = parse(views(), responses(), "toy")

    assert SCHEMA == answers.schema
    assert responses()["view_id"].to_list() == answers["view_id"].to_list()
    assert {"toy"} == set(answers["system"])
    assert {"status": "correct", "value": "5/2", "unit": "milliliters", "final_lines": 1} == row(answers, "right")
    assert {"status": "value_error", "value": "25", "unit": "liters", "final_lines": 1} == row(answers, "wrong")
    assert {"status": "format_error", "value": None, "unit": None, "final_lines": 0} == row(answers, "silent")
    assert {"status": "truncation_error", "value": None, "unit": None, "final_lines": 0} == row(answers, "cut")
    assert "parse_error" == row(answers, "power")["status"]


def test_audit_reads_failures_again_and_carries_successes_over() -> None:
    answers = parse(views(), responses(), "toy")
    audits = audit(views(), responses(), answers.sample(fraction=1, shuffle=True, seed=1), "toy")

    assert AUDIT_SCHEMA == audits.schema
    carried = {"recovered": False, "rewrites": [], "magnitude_k": None}
    assert {"status": "correct", "value": "5/2", "final_lines": 1} | carried == row(audits, "right")
    assert {"status": "correct", "value": "5/2", "final_lines": 1} | carried == row(audits, "careless"), (
        "not read again"
    )
    assert {
        "status": "correct",
        "value": "5/2",
        "final_lines": 1,
        "recovered": True,
        "rewrites": ["code", "emphasis", "tag_case"],
        "magnitude_k": None,
    } == row(audits, "marked")
    assert {"status": "value_error", "value": "25", "final_lines": 1} | carried | {"magnitude_k": -1} == row(
        audits, "wrong"
    )
    assert row(audits, "later")["recovered"] is True, "a wrong value is read again too (Q29)"
    assert 2 == row(audits, "later")["final_lines"]
    assert {
        "status": "value_error",
        "value": "2500",
        "final_lines": 1,
        "recovered": False,
        "rewrites": ["scientific"],
        "magnitude_k": -3,
    } == row(audits, "raised")
    assert {"status": "truncation_error", "value": None, "final_lines": 0} | carried == row(audits, "cut")
    assert {"status": "format_error", "value": None, "final_lines": 0} | carried == row(audits, "silent")


def test_the_order_of_the_answers_is_kept() -> None:
    answers = parse(views(), responses(), "toy").sample(fraction=1, shuffle=True, seed=3)

    assert answers["view_id"].to_list() == audit(views(), responses(), answers, "toy")["view_id"].to_list()


def test_the_setting_of_the_asterisk_reaches_the_rewrite() -> None:
    answers = parse(views(), responses(), "toy")
    kept = audit(views(), responses(), answers, "toy", AsteriskBetweenDigits.KEEP)
    removed = audit(views(), responses(), answers, "toy", AsteriskBetweenDigits.REMOVE)

    assert (None, []) == (row(kept, "power")["value"], row(kept, "power")["rewrites"])
    assert ("25", ["emphasis"]) == (row(removed, "power")["value"], row(removed, "power")["rewrites"])


def test_a_system_column_is_kept_and_keeps_systems_apart() -> None:
    two = pl.concat([responses().with_columns(system=pl.lit(name)) for name in ("one", "two")])
    answers = parse(views(), two, "ignored")
    audits = audit(views(), two, answers, "ignored")

    assert two["system"].to_list() == answers["system"].to_list() == audits["system"].to_list()
    assert (
        audits.filter(pl.col("system") == "one")
        .drop("system")
        .equals(audits.filter(pl.col("system") == "two").drop("system"))
    )


def test_no_response_is_no_row() -> None:
    none = responses().clear()

    assert SCHEMA == parse(views(), none, "toy").schema
    assert AUDIT_SCHEMA == audit(views(), none, parse(views(), none, "toy"), "toy").schema


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expected": "2.5"}, r"right: the expected value '2\.5' is no rational"),
        ({"expected": "5/0"}, r"'5/0' is no rational"),
        ({"expected": "5/00"}, r"'5/00' is no rational"),
        ({"expected": ""}, r"'' is no rational"),
        ({"expected": None}, r"None is no rational"),
        ({"expected": "٥"}, r"is no rational"),
        ({"expected": "1" * 5000}, r"is no rational"),
        ({"expected": "5/2\n"}, r"is no rational"),
        ({"canonical_unit": "gallons"}, r"right: unknown unit 'gallons'; the registry holds"),
        ({"canonical_unit": None}, r"right: unknown unit None"),
        ({"canonical_unit": "meters"}, r"right: meters measure length, not volume"),
        ({"dimension": "length"}, r"right: liters measure volume, not length"),
        ({"view_id": "right"}, r"views: 1 view more than once: right"),
        ({"view_id": None}, r"views: 9 of 9 rows have no view_id"),
    ],
)
def test_a_view_that_cannot_be_used_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(TableError, match=message):
        parse(views(**changes), responses().clear(), "toy")


def test_a_response_to_no_view_is_counted_and_named() -> None:
    with pytest.raises(TableError, match=r"responses: 2 view ids that the views table does not hold: cut, wrong"):
        parse(views().filter(~pl.col("view_id").is_in(["cut", "wrong"])), responses(), "toy")
    nameless = responses().with_columns(view_id=pl.lit(None, pl.String))
    with pytest.raises(TableError, match="responses: 9 of 9 rows have no view_id"):
        parse(views(), nameless, "toy")


ANSWERS = parse(views(), responses(), "toy")


@pytest.mark.parametrize(
    ("asked", "answered", "judged", "message"),
    [
        (lambda frame: frame.head(8), None, None, "answers: 1 view id that the views table does not hold: power"),
        (None, lambda frame: frame.head(7), None, "responses: 2 answers without a response: marked, right"),
        (None, lambda frame: frame.vstack(frame.head(1)), None, "responses: 1 view answered more than once: power"),
        (None, None, lambda frame: frame.head(7), "answers: 2 responses that were not parsed: marked, right"),
        (None, None, lambda frame: frame.vstack(frame.head(1)), "answers: 1 view answered more than once: power"),
        (None, None, lambda frame: frame.with_columns(status=pl.lit("ok")), "answers: unknown status ok; there are"),
        (None, None, lambda frame: frame.with_columns(system=pl.lit("tiny")), "9 answers without a response"),
        (None, None, lambda frame: frame.with_columns(view_id=None), "answers: 9 of 9 rows have no view_id"),
    ],
)
def test_tables_that_do_not_belong_together_are_an_error(
    asked: Callable[[pl.DataFrame], pl.DataFrame] | None,
    answered: Callable[[pl.DataFrame], pl.DataFrame] | None,
    judged: Callable[[pl.DataFrame], pl.DataFrame] | None,
    message: str,
) -> None:
    tables = [
        frame if change is None else change(frame)
        for frame, change in ((views(), asked), (responses(), answered), (ANSWERS, judged))
    ]
    with pytest.raises(TableError, match=message):
        audit(*tables, "toy")
