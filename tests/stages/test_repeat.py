"""Stage repeat: what came back the same, in bytes and in answers, is counted; other questions are refused."""

from collections.abc import Callable, Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.domain.rewriting import AsteriskBetweenDigits
from samequantity.errors import TableError
from samequantity.scoring.columns import REPEATS
from samequantity.stages.audit import audit
from samequantity.stages.collect import collect
from samequantity.stages.parse import parse
from samequantity.stages.repeat import COLUMNS, repeat
from transcripts import GRAMMAR

TEN = [f"a-{number:04}/canonical" for number in range(1, 11)]


def views(expected: str = "3379/100") -> pl.DataFrame:
    """Ten questions for a distance of 33.79 km."""
    return pl.DataFrame({"view_id": TEN}).with_columns(
        dimension=pl.lit("length"), canonical_unit=pl.lit("kilometers"), expected=pl.lit(expected)
    )


def responses(texts: Sequence[str] = ("FINAL: 33.79 km",) * 10, system: str = "m", **columns: str) -> pl.DataFrame:
    """Answers to the ten, all finished, without reasoning, each to a prompt of its own."""
    others = {"reasoning": "", "finish_reason": "stop"} | columns
    return (
        pl.DataFrame({"view_id": TEN[: len(texts)], "text": texts}, schema_overrides={"text": pl.String()})
        .with_row_index("order")
        .with_columns(pl.lit(system).alias("system"), ("sha of " + pl.col("view_id")).alias("prompt_sha256"))
        .with_columns(pl.lit(value).alias(name) for name, value in others.items())
        .select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
    )


def kinds(frame: pl.DataFrame) -> list[tuple[bool, bool, bool]]:
    """Whether text, reasoning and answer stayed, by row."""
    return frame.select("byte_identical", "reasoning_identical", "answer_identical").rows()


def test_the_papers_one_of_ten_that_did_not_stay() -> None:
    """33.79 became 33.7925: nine of ten are the same, in bytes and in answers."""
    first = ["FINAL: 33.79 km"] * 10
    found = repeat(views(), responses(first), responses([*first[:6], "FINAL: 33.7925 km", *first[7:]]))

    assert REPEATS == found.schema
    assert TEN == found["view_id"].to_list()
    assert (9, 9, 10) == (found["byte_identical"].sum(), found["answer_identical"].sum(), len(found))
    (row,) = found.filter(~pl.col("byte_identical")).rows(named=True)
    assert row == {
        "system": "m",
        "again": "m",
        "view_id": TEN[6],
        "order": 6,
        "byte_identical": False,
        "reasoning_identical": True,
        "answer_identical": False,
        "text": "FINAL: 33.79 km",
        "text_again": "FINAL: 33.7925 km",
        "status": "correct",
        "status_again": "value_error",
        "value": "3379/100",
        "value_again": "13517/400",
    }


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("FINAL: 33.79 km", "FINAL: 33.79 km", (True, True, True)),
        ("FINAL: 33.79 km", "So:\nFINAL: 33.79 km", (False, True, True)),
        ("FINAL: 33.79 km", "**FINAL:** 33790 m", (False, True, True)),
        ("FINAL: 33.79 km", "FINAL: 33.79 km ", (False, True, True)),
        ("FINAL: 33.79 km", "FINAL: 33.79", (False, True, False)),
        ("I do not know", "Nor do I", (False, True, True)),
        ("", "", (True, True, True)),
        ("none", "FINAL: x km", (False, True, False)),
        ("FINAL: 1 km", "FINAL: 2 km", (False, True, False)),
    ],
)
def test_answers_are_the_same_when_the_audit_finds_the_same(
    first: str, second: str, kind: tuple[bool, bool, bool]
) -> None:
    assert [kind] == kinds(repeat(views(), responses([first]), responses([second])))


def test_reasoning_and_the_end_are_compared_too() -> None:
    thought = responses(["FINAL: 1 km"], reasoning="hm")
    cut = responses(["FINAL: 1 km"], finish_reason="length")

    assert [(True, False, True)] == kinds(repeat(views(), responses(["FINAL: 1 km"]), thought))
    assert [(True, True, False)] == kinds(repeat(views(), responses(["FINAL: 1 km"]), cut))


def test_what_is_the_same_does_not_depend_on_the_order_of_rows_or_on_how_many_were_asked_again() -> None:
    first = responses([f"FINAL: {number} km" for number in range(10)])
    some = first.filter(pl.col("order").is_in([2, 5])).reverse()
    found = repeat(views(), first.sample(fraction=1, shuffle=True, seed=2), some)

    assert [2, 5] == found["order"].to_list()
    assert [(True, True, True)] * 2 == kinds(found)


@given(texts=st.lists(GRAMMAR.map(lambda text: text.replace("\ud800", "?")), min_size=2, max_size=2))
def test_status_and_value_are_those_of_the_stages_parse_and_audit(texts: list[str]) -> None:
    found = repeat(views(), responses(texts[:1]), responses(texts[1:]))
    for text, end in zip(texts, ("", "_again"), strict=True):
        judged = responses([text])
        audited = audit(views(), judged, parse(views(), judged, "m"), "m")
        assert audited.select("status", "value").row(0) == found.select(f"status{end}", f"value{end}").row(0)
    assert (texts[0] == texts[1]) is found["byte_identical"][0]


def test_the_setting_of_the_asterisk_reaches_the_rewrite() -> None:
    first, second = responses(["FINAL: 2**5 km"]), responses(["FINAL: 25 km"])

    assert [(False, True, False)] == kinds(repeat(views(), first, second))
    assert [(False, True, True)] == kinds(repeat(views(), first, second, asterisk=AsteriskBetweenDigits.REMOVE))


def test_another_system_can_be_the_second_and_both_kinds_can_be_collected() -> None:
    itself = repeat(views(), responses(), responses())
    other = repeat(views(), responses(), responses(["FINAL: 1 km"], system="server"))

    assert ("m", "server") == other.select("system", "again").row(0)
    assert 11 == collect([itself, other]).height
    with pytest.raises(TableError, match="m − m comes in two of the tables"):
        collect([itself, itself])


def test_another_prompt_is_an_error_unless_another_engine_asked() -> None:
    rendered = responses().with_columns(prompt_sha256=pl.col("view_id"))
    with pytest.raises(
        TableError, match=r"again: 10 views of 10 asked by another prompt .* a-0001/canonical,.*--other-engine"
    ):
        repeat(views(), responses(), rendered)

    assert [(True, True, True)] * 10 == kinds(repeat(views(), responses(), rendered, other_engine=True))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (None, lambda frame: frame.clear(), "again: holds no response"),
        (lambda frame: frame.clear(), None, "responses: holds no response"),
        (None, lambda frame: pl.concat([frame, frame[1:3]]), "again: 2 views answered more than once: a-0002/"),
        (lambda frame: pl.concat([frame, frame[:1]]), None, "responses: 1 view answered more than once: a-0001/"),
        (lambda frame: frame[2:], None, "again: 2 views that the responses do not answer: a-0001/canonical, a-0002/"),
        (None, lambda frame: frame.with_columns(view_id=pl.lit("x")).head(1), "again: 1 view id that the views table"),
        (None, lambda frame: frame.with_columns(view_id=pl.lit(None, pl.String)), "again: 10 of 10 rows have no view"),
        (None, lambda frame: frame.with_columns(system=pl.col("view_id")), "again: one system was expected, found a-"),
        (lambda frame: frame.with_columns(system=pl.lit(None, pl.String)), None, "responses: one system was expected"),
        (lambda frame: frame.with_columns(text=pl.lit(None, pl.String)), None, "responses: 10 responses without"),
        (None, lambda frame: frame[:1].with_columns(text=pl.lit(None, pl.String)), "again: 1 response without a text"),
    ],
)  # fmt: skip
def test_tables_that_do_not_belong_together_are_an_error(
    first: Callable[[pl.DataFrame], pl.DataFrame] | None,
    second: Callable[[pl.DataFrame], pl.DataFrame] | None,
    message: str,
) -> None:
    tables = [responses() if change is None else change(responses()) for change in (first, second)]
    with pytest.raises(TableError, match=message):
        repeat(views(), *tables)
