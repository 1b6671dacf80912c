"""The shipped file holds what the paper published, a mistyped key is named, and a study's table stands beside it."""

from fractions import Fraction
from functools import cache

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shipped
from samequantity.cli.inputs import read_yaml
from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import SettingsError
from samequantity.reporting.layouts.published import SCHEMA, published
from samequantity.reporting.paper.publication import (
    Figure,
    Holds,
    Pair,
    Printed,
    Published,
    Range,
)
from samequantity.reporting.paper.published import read_published
from samequantity.reporting.results import Key, Results, gather
from samequantity.reporting.tabular import to_csv, to_markdown
from samequantity.scoring.measures import Measure
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.score import score
from studies import random_orbits, study, with_details

SYSTEMS = ("qwen3.5-4b-q4", "qwen3.5-9b-q4", "qwen3.5-9b-q8", "gpt-oss-20b", "mistral-small-4")
QWEN_4B, QWEN_9B_Q4, QWEN_9B_Q8, GPT_OSS, MISTRAL = SYSTEMS
QWEN = (QWEN_4B, QWEN_9B_Q4, QWEN_9B_Q8)
SHIPPED = "resources/published.yaml"

PUBLISHED = {
    "canonical_correctness_audited": dict.fromkeys(SYSTEMS, ".969–.996"),
    "orbit_correctness_strict": dict.fromkeys(SYSTEMS, ".574–.785"),
    "orbit_correctness_audited": dict.fromkeys(SYSTEMS, ".848–.981"),
    "orbit_invariance_audited": dict.fromkeys(SYSTEMS, ".851–.981"),
    "consistent_wrong_audited": dict.fromkeys(SYSTEMS, "–.003"),
    "h1": dict.fromkeys(SYSTEMS, "holds"),
    "h2": dict.fromkeys(SYSTEMS, "holds"),
    "marked_cells": dict.fromkeys(SYSTEMS, "7"),
    "orbit_gap_audited": dict(zip(SYSTEMS, ("3.0", "5.3", "6.0", "1.5", "12.1"), strict=True)),
    "fraction_gap_audited": dict.fromkeys(QWEN, "6.1–8.0"),
    "fraction_correctness_audited": dict(zip(SYSTEMS, (".915", ".928", ".910", ".995", ".874"), strict=True)),
    "words_correctness_audited": dict.fromkeys(SYSTEMS, ".997–1.000"),
    "scientific_gap_audited": {QWEN_9B_Q4: "9.6", QWEN_9B_Q8: "11.3"},
    "scientific_correctness_strict": dict(zip(QWEN, (".347", ".145", ".226"), strict=True)),
    "scientific_correctness_strict_range": dict.fromkeys(SYSTEMS, ".005–.347"),
    "scientific_correctness_audited": dict(zip(QWEN, (".985", ".902", ".886"), strict=True)),
    "scientific_correctness_audited_range": dict.fromkeys(SYSTEMS, ".886–.996"),
    "scientific_recovered": dict.fromkeys(SYSTEMS, "638–991"),
    "scientific_length_finished": dict(zip(QWEN, ("13", "85", "110"), strict=True)),
    "scientific_without_length_finished": dict(zip(QWEN, ("985/987", "902/915", "886/890"), strict=True)),
    "unit_correctness_audited": {MISTRAL: ".699"},
    "unit_gap_audited": {MISTRAL: "28.1"},
    "unit_residual_errors": {MISTRAL: "301"},
    "unit_magnitude_drops": {MISTRAL: "265"},
    "unit_magnitude_drops_10": {MISTRAL: "96"},
    "unit_magnitude_drops_100": {MISTRAL: "70"},
    "unit_magnitude_drops_1000": {MISTRAL: "99"},
    "fraction_lengthens": dict.fromkeys(SYSTEMS, "holds"),
    "scientific_lengthens": dict.fromkeys(QWEN, "holds"),
}
"""PROTOCOL, section 9, as far as scores have it: what is printed for each system."""

CONSENSUS = [
    ("aurc", ["paraphrase"], None, None, 10, ("0", "0"), None),
    ("aurc_difference", ["representation", "paraphrase"], None, None, 9, ("0", "0"), None),
    (
        "aurc_difference",
        ["representation", "paraphrase"],
        "stochastic",
        MISTRAL,
        1,
        (".000069", ".000069"),
        {"low": "0", "high": ".000419"},
    ),
    ("non_unanimous", ["representation"], None, None, None, ("122", "122"), None),
    ("non_unanimous", ["paraphrase"], None, None, None, ("15", "15"), None),
    ("useful_flags", None, None, None, None, ("1", "2"), None),
    ("false_alarms", None, None, None, None, ("120", "121"), None),
    ("selective_risk", ["paraphrase", "representation"], None, None, 10, ("0", "0"), None),
    ("wrong_unanimous", None, None, None, None, ("0", "0"), None),
]


def read() -> Published:
    return read_published(shipped.content(SHIPPED))


def text(statement: object) -> str:
    match statement:
        case Printed():
            return statement.text
        case Range():
            return "–".join("" if end is None else end.text for end in (statement.low, statement.high))
        case Pair():
            return f"{statement.numerator}/{statement.denominator}"
        case _:
            assert statement == Holds()
            return "holds"


def test_the_shipped_file_holds_every_figure_that_scores_have_and_no_other() -> None:
    found = {
        figure.name: {system: text(statement) for system, statement in figure.statements.items()}
        if isinstance(figure, Figure)
        else dict.fromkeys(figure.systems, text(figure.cells))
        for figure in read().figures
    }

    assert found == PUBLISHED


def test_the_shipped_file_holds_what_is_not_about_scores_too() -> None:
    repeat, *consensus = shipped.content(SHIPPED)["other_figures"].values()

    assert {system: "9/10" if system == MISTRAL else "10/10" for system in SYSTEMS} == repeat["published"]
    assert {MISTRAL: {"first": "33.79", "second": "33.7925"}} == repeat["changed"]
    columns = ("statistic", "arms", "tier", "system", "cells")
    assert CONSENSUS == [
        (*(figure[column] for column in columns), (figure["low"], figure["high"]), figure["interval"])
        for figure in consensus
    ]


def test_the_shipped_file_says_where_its_figures_come_from() -> None:
    found = read()

    assert found.paper.title == (
        "Same Quantity, Different Answer: Numerical Representation Invariance in Language Models"
    )
    assert (found.paper.arxiv, found.paper.year) == ("2609.25009", 2026)
    assert tuple(found.systems) == SYSTEMS


def test_the_shipped_file_writes_no_key_twice() -> None:
    assert read_yaml(shipped.ROOT / SHIPPED) == shipped.content(SHIPPED)


PLACES: list[tuple[str, object, str]] = [
    ("sistems", {}, "published: unknown key 'sistems' (did you mean systems?)"),
    ("paper.arxiv", 2609.25009, "published.paper.arxiv: text is wanted, not 2609.25009"),
    ("paper.year", True, "published.paper.year: a whole number above zero is wanted, not True"),
    ("figures", [], "published.figures: a mapping is wanted"),
    ("figures.h1", None, "published.figures.h1: a mapping is wanted, not None"),
    ("figures.h1.kind", "hypotesis", "published.figures.h1.kind: unknown 'hypotesis' (did you mean hypothesis?)"),
    ("figures.h1.low", "1", "published.figures.h1: unknown key 'low'"),
    ("figures.h1.measure", "h3", "published.figures.h1.measure: unknown 'h3'"),
    ("figures.h1.measure", "orbit_gap", "published.figures.h1.measure: orbit_gap is not of this kind"),
    ("figures.h1.systems", [], "published.figures.h1.systems: a list with at least one item is wanted"),
    ("figures.h1.systems", [MISTRAL, MISTRAL], "published.figures.h1.systems: 'mistral-small-4' stands twice"),
    ("figures.h1.systems", ["mistral"], "published.figures.h1.systems: unknown system 'mistral'"),
    ("figures.unit_gap_audited.layer", "lenient", "published.figures.unit_gap_audited.layer: unknown 'lenient'"),
    ("figures.unit_gap_audited.layer", None, "published.figures.unit_gap_audited.layer: the scores have no family_gap"),
    ("figures.unit_gap_audited.family", "units", "unit_gap_audited.family: unknown 'units' (did you mean unit?)"),
    ("figures.unit_gap_audited.family", "canonical", "unit_gap_audited.family: the scores have no family_gap"),
    ("figures.orbit_gap_audited.family", "unit", "orbit_gap_audited.family: the scores have no orbit_gap of family"),
    ("figures.unit_correctness_audited.family", None, "family: the scores have no view_correctness of family null"),
    ("figures.unit_correctness_audited.published", {"gpt": ".7"}, "published: unknown system 'gpt'"),
    ("figures.unit_correctness_audited.published", {MISTRAL: 0.699}, "mistral-small-4: 0.699 is no number as printed"),
    ("figures.unit_correctness_audited.published", {MISTRAL: "69.9"}, "69.9 is no number of rate; the largest is 1"),
    ("figures.unit_gap_audited.published", {MISTRAL: "281"}, "281 is no number of points; the largest is 100"),
    ("figures.unit_gap_audited.published", {MISTRAL: "-28.1"}, "'-28.1' is no number as printed"),
    ("figures.unit_residual_errors.published", {MISTRAL: "301.0"}, "301.0 is no count"),
    ("figures.unit_residual_errors.items", None, "unit_residual_errors.items: a whole number above zero is wanted"),
    ("figures.unit_residual_errors.magnitude", 1, "magnitude: only magnitude_drop alone is split by it"),
    ("figures.unit_residual_errors.measures", ["correct"], "unit_residual_errors.measures: unknown 'correct'"),
    ("figures.unit_residual_errors.measures", ["h1"], "unit_residual_errors.measures: h1 is not of this kind"),
    ("figures.scientific_length_finished.layer", "audited", "the scores have no length_finished of layer audited"),
    ("figures.scientific_recovered.layer", "strict", "the scores have no recovered of layer strict"),
    ("figures.scientific_recovered.low", "992", "published.figures.scientific_recovered: the range 992–991 is empty"),
    ("figures.consistent_wrong_audited.high", None, "published.figures.consistent_wrong_audited: a range without ends"),
    ("figures.scientific_without_length_finished.published", {QWEN_4B: "987/985"}, "'987/985' is not k/n"),
    ("figures.scientific_without_length_finished.published", {QWEN_4B: "985"}, "'985' is not k/n"),
    ("figures.marked_cells.cells", 7, "published.figures.marked_cells.cells: 7 is no number as printed"),
    ("figures.fraction_lengthens.family", "words ", "fraction_lengthens.family: unknown 'words '"),
    ("other_figures", None, "published.other_figures: a mapping is wanted, not None"),
    ("other_figures.repeat_check", "10/10", "published.other_figures.repeat_check: a mapping is wanted, not '10/10'"),
]


@pytest.mark.parametrize(("place", "value", "message"), PLACES)
def test_what_does_not_fit_is_an_error_that_names_its_place(place: str, value: object, message: str) -> None:
    content = shipped.content(SHIPPED)
    *folders, key = place.split(".")
    entry = content
    for folder in folders:
        entry = entry[folder]
    entry[key] = value

    with pytest.raises(SettingsError) as caught:
        read_published(content)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_key_of_a_figure_is_needed(name: str) -> None:
    for key in shipped.content(SHIPPED)["figures"][name]:
        content = shipped.content(SHIPPED)
        del content["figures"][name][key]
        with pytest.raises(SettingsError, match=rf"^published\.figures\.{name}: the key '{key}' is missing"):
            read_published(content)


@given(st.integers(0, 10**9 - 1), st.integers(0, 9))
def test_a_number_keeps_the_digits_with_which_it_is_printed(digits: int, places: int) -> None:
    whole, rest = divmod(digits, 10**places)
    number = Printed(text=f"{whole or ''}.{rest:0{places}d}" if places else str(whole))

    assert number.value == Fraction(digits, 10**places)
    assert number.places == places


@cache
def small(*systems: str, given: bool = True) -> Results:
    """Results of a sampled study, the same answers for every system, with or without the responses."""
    orbits = with_details(random_orbits(4, 60), 4)
    made = [study(orbits, system) for system in systems]
    return gather(
        pl.concat([score(*(one.all_tables if given else one.tables)) for one in made]),
        pl.concat([bootstrap(*one.tables, seed=1, draws=50) for one in made]),
        systems,
    )


def test_a_study_of_other_systems_has_an_empty_table_that_says_so() -> None:
    table = published(small("a", "b"), read())

    assert (table.data.height, table.rows) == (0, [])
    assert "No system with results is one that the paper ran: qwen3.5-4b-q4 (Qwen3.5-4B Q4_K_M); " in table.caption
    assert table.data.columns == ["figure", "layer", "system", *SCHEMA]
    assert to_csv(table).decode().count("\n") == 1


def test_a_sampled_study_is_compared_where_it_can_be() -> None:
    found = small(QWEN_4B, "a", MISTRAL)
    table = published(found, read())
    verdicts = dict(zip(table.data["figure"], table.data["verdict"], strict=True))

    assert set(table.data["system"]) == {QWEN_4B, MISTRAL, None}
    assert verdicts["marked_cells"] == "not measured"
    assert verdicts["unit_magnitude_drops_100"] == "another number of items"
    assert verdicts["scientific_without_length_finished"] == "another number of items"
    assert verdicts["fraction_lengthens"] in ("holds", "does not hold")
    assert table.data.schema == {"figure": pl.String(), "layer": pl.String(), "system": pl.String(), **SCHEMA}
    assert len(table.rows) == table.data.height
    assert {len(row) for row in table.rows} == {len(table.headings)}


def test_without_responses_what_they_say_is_not_measured() -> None:
    table = published(small(QWEN_4B, given=False), read())
    verdicts = dict(zip(table.data["figure"], table.data["verdict"], strict=True))

    unknown = {"scientific_length_finished", "scientific_without_length_finished"}
    unknown |= {"fraction_lengthens", "scientific_lengthens", "marked_cells"}
    assert unknown == {name for name, verdict in verdicts.items() if verdict == "not measured"}


def test_ours_are_in_the_unit_of_what_is_published() -> None:
    found = small(MISTRAL)
    data = published(found, read()).data

    gap = found.scores[Key(system=MISTRAL, layer=Layer.AUDITED, measure=Measure.FAMILY_GAP, family=Family.UNIT)]
    interval = found.intervals[Key(system=MISTRAL, layer=Layer.AUDITED, measure=Measure.FAMILY_GAP, family=Family.UNIT)]
    mine = data.row(by_predicate=pl.col("figure") == "unit_gap_audited", named=True)
    assert (mine["unit"], mine["published"], mine["published_low"], mine["published_high"]) == (
        "points",
        "28.1",
        28.1,
        28.1,
    )
    assert mine["estimate"] == float(100 * Fraction(gap["estimate"]))
    assert (mine["low"], mine["high"]) == pytest.approx((100 * interval["low"], 100 * interval["high"]))
    assert (mine["numerator"], mine["denominator"]) == (gap["numerator"], gap["denominator"])
    errors = data.row(by_predicate=pl.col("figure") == "unit_residual_errors", named=True)
    assert (errors["unit"], errors["estimate"], errors["low"]) == ("count", errors["numerator"], None)


def test_the_caption_says_where_both_sides_come_from_and_how_to_read_them() -> None:
    page = to_markdown(published(small(MISTRAL), read())).decode()

    for said in (
        "arXiv 2609.25009",
        "so that a difference is not by itself an error of either",
        "strict-parser compatibility",
        "protocol-fixed, not preregistered",
        "Token counts compare within a system only.",
        "Leaving out length-finished records does not predict a higher cap.",
        "not how it was computed",
    ):
        assert said in page
    assert "reasoning" not in page


def test_a_range_has_the_digits_of_its_longer_end() -> None:
    ends = [Printed(text=".9"), Printed(text="1.000")]

    assert Range(low=ends[0], high=ends[1]).places == Range(low=None, high=ends[1]).places == 3
    assert Range(low=ends[0], high=None).places == 1
