"""Numbers are rounded from exact values, and plain text survives CSV and Markdown."""

import csv
import io
import re
from fractions import Fraction
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.reporting.tabular import (
    Heading,
    Table,
    assembled,
    decimal_text,
    interval_text,
    markdown_escaped,
    p_text,
    points_interval_text,
    points_text,
    quarter_text,
    rate_text,
    to_csv,
    to_markdown,
)


def table(*names: str) -> Table:
    """A column of names and one of a number each."""
    return assembled(
        name="toy",
        caption="Toys.",
        place=["system"],
        results=["Gap, points", Heading(text="Mark")],
        rows=[[name, "1 [0, 2]", "*"] for name in names],
        data=[{"system": name, "gap": 0.01, "left_out": None} for name in names],
        schema={"gap": pl.Float64(), "marked": pl.Boolean()},
    )


@given(st.fractions(-100, 100, max_denominator=10_000))
def test_decimals_are_nearest_and_have_no_negative_zero(value: Fraction) -> None:
    text = decimal_text(value, 3)

    assert abs(Fraction(text) - value) <= Fraction(1, 2000)
    assert text != "-0.000"


@given(st.text(max_size=20))
def test_escaped_text_has_no_bare_mark(text: str) -> None:
    """Brackets with nothing but numbers in them may stand, unless a link could follow."""
    cell = re.sub(r"(?<!\\)\[[-−0-9., Q]+\](?![(\[:])", "", markdown_escaped(text))

    assert "\n" not in cell
    assert not any(second in "|*`<[" and first != "\\" for first, second in pairwise(" " + cell))


@given(st.lists(st.text()))
def test_csv_gives_every_name_back_up_to_the_guard_against_formulas(names: list[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(table(*names)).decode(), newline="")))

    assert names == [found["system"][found["system"] != name :] for name, found in zip(names, rows, strict=True)]
    assert not any(row["system"].startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for row in rows)


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "\ta", "＝1"])
def test_a_name_that_a_spreadsheet_would_run_is_text_in_csv_and_stays_itself_elsewhere(name: str) -> None:
    (row,) = csv.DictReader(io.StringIO(to_csv(table(name)).decode()))

    assert "'" + name == row["system"]
    assert [name] == table(name).data["system"].to_list()


def test_a_name_with_a_bar_keeps_the_columns_of_markdown() -> None:
    lines = [line for line in to_markdown(table("a|b\nc")).decode().splitlines() if line.startswith("|")]

    assert r"| a\|b c | 1 [0, 2] | \* |" == lines[-1]
    assert 1 == len({line.replace(r"\|", "").count("|") for line in lines})


def test_the_data_have_the_same_columns_with_and_without_rows() -> None:
    schema = pl.Schema({"system": pl.String(), "gap": pl.Float64(), "marked": pl.Boolean()})

    assert schema == table().data.schema == table("a").data.schema
    assert ["System", "Gap, points", "Mark"] == [heading.text for heading in table().headings]
    assert [False, True, False] == [heading.is_number for heading in table().headings]


def test_rates_and_intervals_are_printed_as_published() -> None:
    assert "985/1,000 = 0.985" == rate_text(985, 1000)
    assert "[0.0, 28.1]" == interval_text(-0.0004, 0.2812, places=1, scale=100)
    assert "[no interval]" == interval_text(None, None, places=1)


@given(st.integers(-10_000, 10_000))
def test_a_quartile_is_printed_exactly(quarters: int) -> None:
    assert Fraction(quarters, 4) == Fraction(quarter_text(Fraction(quarters, 4)).replace(",", ""))


def test_a_quartile_has_the_decimals_that_it_needs() -> None:
    found = [quarter_text(value) for value in (Fraction(2000), Fraction(3, 2), Fraction(4007, 4))]

    assert ["2,000", "1.5", "1,001.75"] == found
    with pytest.raises(ValueError, match="1/3 is no multiple of a quarter"):
        quarter_text(Fraction(1, 3))


def test_differences_are_printed_in_points() -> None:
    assert "28.1" == points_text(Fraction(281, 1000))
    assert "-0.6 [-1.2, 0.0]" == points_interval_text(Fraction(-6, 1000), -0.012, 0.0)
    assert "0.0 [no interval]" == points_interval_text(Fraction(0), None, None)


@given(st.floats(0, 1))
def test_a_printed_p_is_near_and_on_the_same_side_of_the_threshold(p_value: float) -> None:
    text = p_text(p_value)

    if p_value < 1e-300:
        assert "< 1e-300" == text
    else:
        assert abs(float(text) - p_value) <= max(0.0005, 0.05 * p_value)
        assert (float(text) < 0.05) == (p_value < 0.05)
