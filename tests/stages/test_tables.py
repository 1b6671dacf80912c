"""Tables say what the scores say, in four forms that agree, whatever the results are."""

import io
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from math import isfinite
from typing import Any

import polars as pl
import pytest

import shipped
import tex
from pages import Files, Results, caption, cells, frame, headings, page, results, together
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.paper.published import read_published
from samequantity.stages.compare import Verdicts, compare
from samequantity.stages.tables import tables
from studies import OK, RECOVERED, UNREAD, Orbits, answer, random_orbits, study, with_details

FORMS = ("csv", "md", "parquet", "tex")
TWINS = (
    "audited_gaps",
    "strict_gaps",
    "correctness",
    "scientific",
    "magnitude_drops",
    "completion_tokens",
    "failures",
    "final_lines",
    "rewrites",
)
ORBITS = ("orbits", "orbits_by_template", "orbits_by_size", "orbits_by_size_and_template")
NAMES = sorted([*TWINS, *(f"{name}_by_template" for name in TWINS), *ORBITS, "unit_by_template", "hypotheses"])

PLACE = ("system", "layer", "measure", "family", "template", "orbit_size", "category")
NUMBERS = {
    "numerator",
    "denominator",
    "canonical_correct",
    "transformed_correct",
    "canonical_only",
    "transformed_only",
    "p_value",
    "p_holm",
    "holm_tests",
    "marked",
    "low",
    "high",
    "draws",
    "dropped_draws",
}

# What a table is about where its columns do not say so.
ABOUT: Mapping[str, dict[str, object]] = {
    "audited_gaps": {"layer": "audited", "measure": "family_gap"},
    "strict_gaps": {"layer": "strict", "measure": "family_gap"},
    "correctness": {"measure": "view_correctness"},
    "scientific": {"family": "scientific"},
    "magnitude_drops": {"layer": "audited"},
    "failures": {},
    "final_lines": {"measure": "final_lines"},
    "unit": {"family": "unit"},
    "hypotheses": {"layer": "strict"},
    "orbits": {},
}


@cache
def mixed() -> Results:
    """Two systems of three templates; the second one's responses were not given to score."""
    told = results(with_details(random_orbits(4, 60), 7), "small")
    return together(told, results(random_orbits(9, 60), "large", with_responses=False))


@cache
def made() -> dict[str, bytes | pl.DataFrame]:
    return tables(*mixed())


def place(row: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(row.get(column) for column in PLACE)


def about(name: str, row: Mapping[str, Any]) -> tuple[object, ...]:
    """Which row of the scores a row of a table repeats."""
    found = dict(row) | ABOUT[name.partition("_by_")[0]]
    if "status" in row:
        found["measure"] = "view_correctness" if row["status"] == "correct" else row["status"]
    if "hypothesis" in row:
        found["measure"] = row["hypothesis"]
    category = row.get("k", row.get("final_lines"))
    return place(found | {"category": None if category is None else str(category)})


def test_every_table_is_there_in_four_forms() -> None:
    assert sorted(f"{name}.{form}" for name, form in product(NAMES, FORMS)) == list(made())


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(("rewrites", "completion_tokens"))])
def test_every_number_is_that_of_the_scores_and_intervals(name: str) -> None:
    scores, intervals = ({place(row): row for row in given.rows(named=True)} for given in mixed())
    found = frame(made(), name).rows(named=True)

    assert len(found) > 3
    for row in found:
        key = about(name, row)
        if key not in scores:  # what is not known, or had nothing to count
            assert (row["numerator"], row["denominator"], row["estimate"]) in [(None, None, None), (0, 0, None)]
            continue
        told = scores[key] | dict.fromkeys(("low", "high", "draws", "dropped_draws")) | intervals.get(key, {})
        shown = row.keys() & NUMBERS
        assert {column: told[column] for column in shown} == {column: row[column] for column in shown}
        assert float(Fraction(told["estimate"])) == row["estimate"]


@pytest.mark.parametrize(
    ("name", "measure", "layers"),
    [
        ("audited_gaps", "family_gap", ["audited"]),
        ("strict_gaps_by_template", "family_gap", ["strict"]),
        ("correctness_by_template", "view_correctness", ["strict", "audited"]),
        ("orbits_by_template", "consistent_wrong", ["strict", "audited"]),
        ("failures", "value_error", ["strict", "audited"]),
    ],
)
def test_no_result_with_a_view_is_left_out(name: str, measure: str, layers: list[str]) -> None:
    by_template = pl.col("template").is_not_null() == name.endswith("_by_template")
    wanted = mixed()[0].filter(
        (pl.col("measure") == measure) & pl.col("layer").is_in(layers) & by_template & (pl.col("denominator") > 0)
    )
    rows = [row for row in frame(made(), name).rows(named=True) if about(name, row)[2] == measure]

    assert wanted.filter(pl.col("orbit_size").is_null()).height == len(rows) > 0


def test_markdown_and_latex_have_the_same_cells_and_captions() -> None:
    for name in NAMES:
        markdown, latex = page(made(), name), tex.read(page(made(), name, "tex"))

        assert (caption(markdown).replace("−", "-"), headings(markdown)) == (latex.caption, latex.headings)
        assert cells(markdown) == latex.rows
        assert name == latex.label
        assert latex.alignment == "".join("r" if rule == "---:" else "l" for rule in cells_of_rule(markdown))


def cells_of_rule(markdown: str) -> list[str]:
    (rule,) = [line for line in markdown.splitlines() if line.startswith("| ---")]
    return rule.strip("| ").split(" | ")


def test_csv_and_parquet_hold_the_same_data() -> None:
    for name in NAMES:
        data = frame(made(), name)
        read = pl.read_csv(io.StringIO(page(made(), name, "csv")), schema=data.schema)

        assert data.equals(read), name


def test_bytes_do_not_depend_on_the_order_of_rows() -> None:
    scores, intervals = (given.sample(fraction=1, shuffle=True, seed=3) for given in mixed())

    assert_equal(made(), tables(scores, intervals))


def assert_equal(expected: Files, actual: Files) -> None:
    assert list(expected) == list(actual)
    for name, content in expected.items():
        other = actual[name]
        if isinstance(content, pl.DataFrame):
            assert isinstance(other, pl.DataFrame)
            assert content.equals(other), name
        else:
            assert content == other, name


def test_systems_stand_in_the_order_asked_and_apart() -> None:
    asked = tables(*mixed(), systems=["small", "gone", "large"])

    for name in NAMES:
        assert ["small", "large"] == list(dict.fromkeys(row[0] for row in cells(page(asked, name))))
        assert ["large", "small"] == list(dict.fromkeys(frame(made(), name)["system"]))
        assert "Without results: gone." in caption(page(asked, name))


def test_another_system_changes_no_row_of_the_first() -> None:
    scores, intervals = (given.filter(pl.col("system") == "small") for given in mixed())

    alone = tables(scores, intervals)

    for name in NAMES:
        assert frame(alone, name).equals(frame(made(), name).filter(pl.col("system") == "small"))


WRONG, CUT = answer("format_error"), answer("truncation_error")
DEGENERATE: Mapping[str, Callable[[], Results]] = {
    "one base, all wrong": lambda: results({"a-0001": dict.fromkeys(Family, WRONG)}, "toy"),
    "one base, all right": lambda: results({"a-0001": dict.fromkeys(Family, OK)}, "toy"),
    "canonical views alone": lambda: results({"a-0001": {Family.CANONICAL: OK}}, "toy"),
    "no responses given": lambda: results({"a-0001": dict.fromkeys(Family, RECOVERED)}, "toy", with_responses=False),
    "every response of a template cut off": lambda: results(
        {"a-0001": dict.fromkeys(Family, CUT), "b-0001": dict.fromkeys(Family, OK)}, "toy"
    ),
    "every response cut off": lambda: results({"a-0001": dict.fromkeys(Family, CUT)}, "toy"),
    "no system": lambda: (mixed()[0].clear(), mixed()[1].clear()),
}


@pytest.mark.parametrize("given", DEGENERATE.values(), ids=DEGENERATE.keys())
def test_any_results_give_every_table_with_the_same_columns_and_no_nan(given: Callable[[], Results]) -> None:
    found = tables(*given())

    assert list(made()) == list(found)
    for name in NAMES:
        data = frame(found, name)
        assert frame(made(), name).schema == data.schema
        assert all(isfinite(value) for row in data.rows() for value in row if isinstance(value, float))
        assert "nan" not in page(found, name, "csv").lower()
        assert "None" not in page(found, name)
        assert cells(page(found, name)) == tex.read(page(found, name, "tex")).rows


@pytest.mark.parametrize("name", ["a|b", "=1+1", "50 % & more_of_it #1", "\\x{y}$z$", "[a](b)", "<b>~^`*", "* a"])
def test_a_name_is_itself_in_every_form(name: str) -> None:
    found = tables(*results({"a-0001": {Family.CANONICAL: OK, Family.UNIT: UNREAD}}, name))

    for table in ("correctness", "strict_gaps", "hypotheses"):
        latex = tex.read(page(found, table, "tex"))
        data = pl.read_csv(io.StringIO(page(found, table, "csv")))["system"]
        assert {name} == set(frame(found, table)["system"])
        assert {name} == {row[0] for row in latex.rows}
        assert {"'" + name if name == "=1+1" else name} == set(data)
        assert len(headings(page(found, table))) == len(latex.headings)
    assert f"H1 is not supported in {name} (0 of 1)." in tex.read(page(found, "strict_gaps", "tex")).caption


def test_comparisons_and_published_figures_stand_beside_where_they_are_given() -> None:
    orbits: Orbits = random_orbits(4, 20)
    one, other = (study(orbits, system) for system in ("small", "large"))
    sides = [Verdicts(answers=side.answers, audits=side.audits) for side in (one, other)]
    compared = compare(one.views, sides[0], sides[1], seed=1, draws=20)
    known = read_published(shipped.content("resources/published.yaml"))

    found = tables(*results(orbits, "small", "large"), comparisons=compared, published=known)

    beside = ("comparisons", "comparisons_by_template", "published")
    assert {f"{name}.{form}" for name, form in product(beside, FORMS)} == found.keys() - made().keys()
    for name in beside:
        # The sign between the names of a pair is a minus.
        assert [[cell.replace("−", "-") for cell in row] for row in cells(page(found, name))] == [
            list(row) for row in tex.read(page(found, name, "tex")).rows
        ]


def test_a_row_twice_is_refused() -> None:
    scores, intervals = mixed()
    with pytest.raises(TableError, match="scores: two rows for large, strict, view_correctness, canonical"):
        tables(pl.concat([scores, scores.filter(pl.col("system") == "large")]), intervals)


def test_intervals_of_other_answers_are_refused() -> None:
    scores, _ = mixed()
    _, other = results(random_orbits(5, 60), "small", "large")
    with pytest.raises(TableError, match=r"intervals: \d+ do not belong to the scores, for instance large, "):
        tables(scores, other)


def test_a_system_outside_the_study_is_refused() -> None:
    with pytest.raises(TableError, match="scores: large is no system of this study"):
        tables(*mixed(), systems=["small"])


def test_a_missing_column_is_named() -> None:
    scores, intervals = mixed()
    with pytest.raises(TableError, match="intervals: column low is missing"):
        tables(scores, intervals.drop("low"))
