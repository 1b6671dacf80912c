"""Tables say what the scores say, with numerators, intervals and limits, and survive any system's name."""

import csv
import io
from fractions import Fraction
from itertools import pairwise
from math import comb

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.tabular import decimal_text, escaped, interval_text, rate_text
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.score import score
from samequantity.stages.tables import tables
from studies import OK, UNREAD, Orbits, pairs, random_orbits, study

pytestmark = pytest.mark.usefixtures("quick_holm")

SEED = 20260725
NAMES = ("correctness", "family_gaps", "orbits")


def results(orbits: Orbits, *systems: str, draws: int = 400) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores and intervals of systems that gave the same answers."""
    studies = [study(orbits, system) for system in systems]
    return (
        pl.concat([score(*one.tables) for one in studies]),
        pl.concat([bootstrap(*one.tables, seed=SEED, draws=draws) for one in studies]),
    )


MIXED = results(random_orbits(4, 60), "small", "large")
LOSING = pairs(Family.FRACTION, both=1200, canonical_only=290, transformed_only=9, neither=1)


def csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_every_table_is_there_in_both_forms() -> None:
    expected = {*NAMES, *(f"{name}_by_template" for name in NAMES), "outcomes", "hypotheses"}

    assert list(tables(*MIXED)) == sorted(f"{name}.{suffix}" for name in expected for suffix in ("csv", "md"))


def test_counts_in_csv_are_those_of_the_scores() -> None:
    scores, _ = MIXED
    pooled = scores.filter(
        (pl.col("measure") == "family_gap") & pl.col("template").is_null() & (pl.col("denominator") > 0)
    )

    found = csv_rows(tables(*MIXED)["family_gaps.csv"])

    assert len(found) == pooled.height > 10
    for row in pooled.rows(named=True):
        (mine,) = [
            line for line in found if all(line[column] == row[column] for column in ("system", "layer", "family"))
        ]
        assert int(mine["numerator"]) == row["numerator"]
        assert int(mine["transformed_only"]) == row["transformed_only"]
        assert float(mine["estimate"]) == float(Fraction(row["estimate"]))
        assert float(mine["p_holm"]) == row["p_holm"]


def test_a_gap_is_printed_with_everything_that_decides_it() -> None:
    scores, intervals = results(LOSING, "toy")
    page = tables(scores, intervals)["family_gaps.md"].decode()
    gap = (pl.col("measure") == "family_gap") & (pl.col("layer") == "strict") & pl.col("template").is_null()
    low, high = intervals.filter(gap).select("low", "high").row(0)
    strict = next(line for line in page.splitlines() if "| strict |" in line)
    cells = [cell.strip() for cell in strict.strip("|").split("|")]

    assert cells[:6] == ["toy", "fraction", "strict", "1,500", "1,490", "1,209"]
    assert cells[6] == f"18.7 [{100 * low:.1f}, {100 * high:.1f}]"
    assert cells[7] == "290/9"
    assert cells[8] == cells[9] == f"{2 * sum(comb(299, k) for k in range(10)) / 2**299:.1e}"
    assert cells[10] == "H1"
    assert r"| \* |" in page
    assert "Holm adjustment over 1 family tests of one layer and system" in page


def test_captions_carry_the_wording_and_the_limits() -> None:
    made = {name: content.decode() for name, content in tables(*MIXED).items() if name.endswith(".md")}

    for page in made.values():
        assert "strict-parser compatibility" in page
        assert "reasoning" not in page
        assert "protocol-fixed, not preregistered" in page
    assert "A pooled gap describes its template mixture, not a cause." in made["family_gaps.md"]
    assert "Holm covers neither systems nor orbit summaries nor strata." in made["family_gaps.md"]
    assert "400 base-clustered bootstrap draws" in made["orbits.md"]
    assert "not how it was computed" in made["correctness.md"]
    assert "they cover items, not templates or checkpoints" in made["correctness.md"]


def test_dropped_draws_are_said() -> None:
    orbits: Orbits = {
        "a-0001": {Family.CANONICAL: OK, Family.UNIT: UNREAD},
        "a-0002": {Family.CANONICAL: OK},
        "a-0003": {Family.CANONICAL: OK},
    }
    found = results(orbits, "toy")
    dropped = max(found[1]["dropped_draws"].drop_nulls().to_list())

    assert dropped > 0
    assert f"were dropped: up to {dropped} of one gap" in tables(*found)["family_gaps.md"].decode()


def test_what_is_absent_is_named() -> None:
    whole = study(pairs(Family.WORDS, both=4, canonical_only=1, transformed_only=0, neither=0))
    cut = whole.answers.filter(pl.col("view_id") != "a-0002/words")
    scores = score(whole.views, cut, whole.audits, complete_orbits_only=True)
    intervals = bootstrap(whole.views, cut, whole.audits, seed=SEED, draws=50, complete_orbits_only=True)

    page = tables(scores, intervals, systems=["toy", "gone"])["correctness.md"].decode()

    assert "toy: 1 bases without an answer to each view are left out." in page
    assert "toy, unit: no view of this family in the sample" in page
    assert "Without results: gone." in page
    assert "| unit |" not in page
    assert "| toy | words |" in page


def test_systems_stand_in_the_order_asked_and_rows_in_one_order() -> None:
    scores, intervals = MIXED
    found = tables(scores, intervals, systems=["small", "large"])
    shuffled = tables(
        scores.sample(fraction=1, shuffle=True, seed=1),
        intervals.sample(fraction=1, shuffle=True, seed=2),
        systems=["small", "large"],
    )

    assert found == shuffled
    systems = [row["system"] for row in csv_rows(found["correctness.csv"])]
    assert list(dict.fromkeys(systems)) == ["small", "large"]
    assert list(dict.fromkeys(row["system"] for row in csv_rows(tables(*MIXED)["correctness.csv"]))) == [
        "large",
        "small",
    ]


def test_another_system_changes_no_row_of_the_first() -> None:
    alone = csv_rows(tables(*results(random_orbits(4, 60), "small"))["family_gaps.csv"])

    assert [row for row in csv_rows(tables(*MIXED)["family_gaps.csv"]) if row["system"] == "small"] == alone


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "\ta"])
def test_a_name_that_a_spreadsheet_would_run_is_made_text(name: str) -> None:
    found = csv_rows(tables(*results({"a-0001": {Family.CANONICAL: OK}}, name))["correctness.csv"])

    assert {row["system"] for row in found} == {"'" + name}


def test_a_name_with_a_bar_keeps_the_columns_of_markdown() -> None:
    page = tables(*results({"a-0001": {Family.CANONICAL: OK}}, "a|b\nc"))["correctness.md"].decode()
    lines = [line for line in page.splitlines() if line.startswith("|")]

    assert r"a\|b c" in page
    assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1


def test_a_row_twice_is_refused() -> None:
    scores, intervals = MIXED
    with pytest.raises(TableError, match="scores: two rows for large, strict, view_correctness, canonical"):
        tables(pl.concat([scores, scores.filter(pl.col("system") == "large")]), intervals)


def test_intervals_of_other_answers_are_refused() -> None:
    scores, _ = MIXED
    _, other = results(random_orbits(9, 60), "small", "large")
    with pytest.raises(TableError, match=r"intervals: \d+ do not belong to the scores, for instance large, "):
        tables(scores, other)


def test_a_system_outside_the_study_is_refused() -> None:
    with pytest.raises(TableError, match="scores: large is no system of this study"):
        tables(*MIXED, systems=["small"])


def test_a_missing_column_is_named() -> None:
    scores, intervals = MIXED
    with pytest.raises(TableError, match="intervals: column low is missing"):
        tables(scores, intervals.drop("low"))


@given(st.fractions(-100, 100, max_denominator=10_000))
def test_decimals_are_nearest_and_have_no_negative_zero(value: Fraction) -> None:
    text = decimal_text(value, 3)

    assert abs(Fraction(text) - value) <= Fraction(1, 2000)
    assert text != "-0.000"


@given(st.text(max_size=20))
def test_escaped_text_has_no_bare_mark(text: str) -> None:
    cell = escaped(text)

    assert "\n" not in cell
    assert not any(second in "|*`<[" and first != "\\" for first, second in pairwise(" " + cell))


def test_rates_and_intervals_are_printed_as_published() -> None:
    assert rate_text(985, 1000) == "985/1,000 = 0.985"
    assert interval_text(-0.0004, 0.2812, places=1, scale=100) == "[0.0, 28.1]"
    assert interval_text(None, None, places=1) == "[no interval]"
