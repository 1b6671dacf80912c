"""The repeat check is counted by system, and every pair that differs can be read, whatever was written."""

from functools import cache
from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.latex import to_latex
from samequantity.reporting.layouts.repeats import WIDTH, excerpts, repeat_check, repeat_differences
from samequantity.reporting.results import Results, gather
from samequantity.reporting.tabular import Table, to_csv, to_markdown
from samequantity.scoring.columns import REPEATS
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.score import score
from samequantity.stages.tables import tables
from studies import pairs, study

SYSTEMS = ["mistral", "qwen|4b", "unrepeated"]
TINY = pairs(Family.WORDS, both=2, canonical_only=1, transformed_only=0, neither=0)


@cache
def scored() -> tuple[pl.DataFrame, pl.DataFrame]:
    studies = [study(TINY, system) for system in SYSTEMS]
    scores = pl.concat([score(*one.tables) for one in studies])
    return scores, pl.concat([bootstrap(*one.tables, seed=1, draws=5) for one in studies])


@cache
def results() -> Results:
    """Three systems with scores, shown in this order, and one without."""
    return gather(*scored(), [*SYSTEMS, "absent"])


def repeats(system: str, *differing: dict[str, object], again: str | None = None, prompts: int = 10) -> pl.DataFrame:
    """A repeat check in which all pairs are the same but for these."""
    same = {
        "system": system,
        "again": again or system,
        "byte_identical": True,
        "reasoning_identical": True,
        "answer_identical": True,
        "text": "FINAL: 1 km",
        "text_again": "FINAL: 1 km",
        "status": "correct",
        "status_again": "correct",
        "value": "1",
        "value_again": "1",
    }
    changes = [*differing, *[{}] * (prompts - len(differing))]
    return pl.DataFrame(
        [same | {"view_id": f"a-{order:04}/words", "order": order} | change for order, change in enumerate(changes)],
        schema=REPEATS,
    )


MISTRAL = {
    "byte_identical": False,
    "answer_identical": False,
    "status_again": "value_error",
    "text": "It is 33.79.\nFINAL: 33.79 km",
    "text_again": "It is 33.7925.\nFINAL: 33.7925 km",
    "value": "3379/100",
    "value_again": "13517/400",
}
CHECKED = pl.concat([repeats("qwen|4b"), repeats("mistral", MISTRAL)])


def cells(table: Table) -> list[dict[str, str]]:
    return [dict(zip([heading.text for heading in table.headings], row, strict=True)) for row in table.rows]


def test_the_papers_nine_of_ten_are_counted_and_the_tenth_is_shown() -> None:
    table, differences = repeat_check(CHECKED, results()), repeat_differences(CHECKED, results())

    assert [["mistral", "mistral", "10", "9/10", "10/10", "9/10"], ["qwen|4b", "qwen|4b", "10", *["10/10"] * 3]] == [
        list(row) for row in table.rows
    ]
    assert [("mistral", 10, 9, 10, 9), ("qwen|4b", 10, 10, 10, 10)] == table.data.drop("again").rows()
    assert "Not asked again: unrepeated." in table.caption
    assert cells(differences) == [
        {
            "System": "mistral",
            "Again": "mistral",
            "View id": "a-0000/words",
            "Differs in": "text, answer",
            "First text": "…FINAL: 33.79 km",
            "Second text": "…FINAL: 33.7925 km",
            "First answer": "33.79",
            "Second answer": "33.7925",
        }
    ]
    (datum,) = differences.data.rows(named=True)
    assert (MISTRAL["text"], "13517/400", "text, answer") == (datum["text"], datum["value_again"], datum["differs_in"])


def test_a_pair_that_differs_in_anything_is_listed_with_what() -> None:
    kinds = [
        {"byte_identical": False, "text_again": "FINAL: 1 km."},
        {"reasoning_identical": False},
        {"answer_identical": False, "status_again": "truncation_error", "value_again": None},
        {"answer_identical": False, "value": "1/3"},
    ]
    rows = cells(repeat_differences(repeats("mistral", *kinds), results()))

    assert ["text", "reasoning", "answer", "answer"] == [row["Differs in"] for row in rows]
    assert ["1", "1", "truncation_error", "1"] == [row["Second answer"] for row in rows]
    assert "1/3" == rows[3]["First answer"], "a value without a finite decimal"


def test_itself_comes_before_others_and_rows_in_the_views_order() -> None:
    frame = pl.concat([repeats("mistral", MISTRAL, MISTRAL, again="a server"), CHECKED])
    shuffled = frame.sample(fraction=1, shuffle=True, seed=4)

    assert ["mistral", "a server", "qwen|4b"] == [row[1] for row in repeat_check(shuffled, results()).rows]
    for layout in (repeat_check, repeat_differences):
        assert layout(frame, results()).data.equals(layout(shuffled, results()).data)
        assert layout(frame, results()).rows == layout(shuffled, results()).rows


def test_both_tables_come_in_every_form_when_repeats_are_given() -> None:
    made = tables(*scored(), systems=SYSTEMS, repeats=CHECKED)

    names = product(("repeat_check", "repeat_differences"), ("csv", "md", "parquet", "tex"))
    assert {f"{name}.{form}" for name, form in names} == made.keys() - tables(*scored(), systems=SYSTEMS).keys()


def test_no_difference_is_an_empty_table_with_all_its_columns() -> None:
    table = repeat_differences(repeats("mistral"), results())

    assert (0, 0) == (len(table.rows), table.data.height)
    assert {*REPEATS, "differs_in"} == set(table.data.columns)
    assert 0 == len(repeat_check(CHECKED.clear(), results()).rows)


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("a", "b", ["a", "b"]),
        ("same\n", "same", [r"same\n", "same"]),
        ("x\nFINAL: 1", "y\nFINAL: 1", [r"x\nFINAL: 1", r"y\nFINAL: 1"]),
        ("x\nFINAL: 1", "y\nfinal: 2", ["…FINAL: 1", "…final: 2"]),
        ("FINAL: 1\nFINAL: 2", "", [r"FINAL: 1\nFINAL: 2", ""]),
        ("0" * 100 + "1" * 100, "0" * 100 + "2" * 100, [f"…{'0' * 15}{'1' * 45}…", f"…{'0' * 15}{'2' * 45}…"]),
        ("0" * 100, "0" * 99, [f"…{'0' * 60}", f"…{'0' * 60}"]),
        ("a\0\u2028b", "a×b", [r"a\x00\u2028b", "a×b"]),
    ],
)
def test_a_cell_shows_where_texts_differ(first: str, second: str, shown: list[str]) -> None:
    assert shown == excerpts(first, second)


@given(texts=st.lists(st.text(max_size=200).map(lambda text: text + "FINAL: 5"), min_size=2, max_size=2))
def test_any_text_fits_a_cell_of_every_form(texts: list[str]) -> None:
    for text in excerpts(*texts):
        assert text.isprintable()
        assert len(text.encode("unicode_escape")) <= 12 * (WIDTH + 2)
    pair = {"byte_identical": False, "text": texts[0], "text_again": texts[1]}
    table = repeat_differences(repeats("mistral", pair), results())
    assert 3 == to_markdown(table).decode().count("\n|")
    assert to_latex(table)
    assert to_csv(table)


def test_what_does_not_fit_the_study_is_refused() -> None:
    for frame, message in (
        (CHECKED.drop("text", "value"), "repeats: column text, value is missing. Make the table again"),
        (CHECKED.with_columns(system=pl.lit("guess")), "repeats: guess is no system of this study"),
        (pl.concat([CHECKED, CHECKED.head(2)]), "repeats: 2 rows are there twice"),
        (CHECKED.with_columns(text=pl.lit(None, pl.String)), "repeats: column text is empty in places"),
    ):
        for layout in (repeat_check, repeat_differences):
            with pytest.raises(TableError, match=message):
                layout(frame, results())
    assert "absent" == repeat_check(repeats("absent"), results()).rows[0][0], "named in the study, without scores"
