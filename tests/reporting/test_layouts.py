"""What a reader finds in the tables of small studies in which every number can be counted by hand."""

from dataclasses import replace
from functools import cache
from math import comb

import polars as pl

from pages import Files, caption, cells, frame, headings, page, results, row_of, together
from samequantity.domain.rewriting import Rewrite
from samequantity.domain.views import Family
from samequantity.stages.tables import tables
from studies import OK, RECOVERED, Answer, Orbits, answer, pairs, random_orbits

LOSING = pairs(Family.FRACTION, both=1200, canonical_only=290, transformed_only=9, neither=1)
CUT = answer("truncation_error")


def off(power: int) -> Answer:
    """An answer that is wrong by a power of ten, which only the audit reads."""
    return replace(answer("parse_error", "value_error"), magnitude_k=power, rewrites=(Rewrite.SCIENTIFIC,))


def repaired(*rewrites: Rewrite) -> Answer:
    return replace(RECOVERED, rewrites=rewrites, strict_final_lines=0, audited_final_lines=2)


def lengthy(given: Answer, tokens: int) -> Answer:
    return replace(given, completion_tokens=tokens)


SCIENTIFIC: Orbits = {
    f"a-{number:04d}": {Family.CANONICAL: lengthy(OK, 10 * number), Family.SCIENTIFIC: second}
    for number, second in enumerate(
        (
            lengthy(OK, 1000),
            lengthy(repaired(Rewrite.SCIENTIFIC), 2000),
            lengthy(repaired(Rewrite.EMPHASIS, Rewrite.TAG_CASE), 1001),
            lengthy(off(-1), 1002),
            lengthy(CUT, 2048),
        ),
        start=1,
    )
}
UNIT: Orbits = {
    "a-0001": {Family.CANONICAL: OK, Family.UNIT: off(1)},
    "a-0002": {Family.CANONICAL: OK, Family.UNIT: off(-1)},
    "a-0003": {Family.CANONICAL: OK, Family.UNIT: off(3)},
    "a-0004": {Family.CANONICAL: OK, Family.UNIT: answer("value_error")},
    "b-0001": {Family.CANONICAL: OK, Family.UNIT: repaired(Rewrite.CODE)},
    "b-0002": {Family.CANONICAL: OK, Family.WORDS: OK, Family.UNIT: OK},
}


@cache
def made(name: str) -> Files:
    """The tables of one of the studies above."""
    if name == "losing":
        return tables(*results(LOSING, "toy", draws=400))
    return tables(*results({"scientific": SCIENTIFIC, "unit": UNIT}[name], "toy"))


def test_a_gap_is_printed_with_everything_that_decides_it() -> None:
    _, intervals = results(LOSING, "toy", draws=400)
    gap = (pl.col("measure") == "family_gap") & (pl.col("layer") == "audited") & pl.col("template").is_null()
    low, high = intervals.filter(gap).select("low", "high").row(0)
    p_value = f"{2 * sum(comb(299, k) for k in range(10)) / 2**299:.1e}"
    printed = ["toy", "fraction", "1,500", "1,490", "1,209", f"18.7 [{100 * low:.1f}, {100 * high:.1f}]", "290/9"]

    assert [[*printed, p_value, p_value, "*"]] == cells(page(made("losing"), "audited_gaps"))
    assert [[*printed, p_value, p_value, "supports"]] == cells(page(made("losing"), "strict_gaps"))
    assert [[printed[0], "a", *printed[1:]]] == cells(page(made("losing"), "audited_gaps_by_template"))


def test_h1_and_h2_stand_where_they_are_decided() -> None:
    files = made("losing")

    assert "Holm adjustment over 1 family tests of one layer and system." in caption(page(files, "strict_gaps"))
    assert "H1 is supported in toy (1 of 1)." in caption(page(files, "strict_gaps"))
    assert {"supported", "–"} == {row[-1] for row in cells(page(files, "orbits"))}
    assert [
        ["toy", "H1", "supported", "1 of 1 family gaps"],
        ["toy", "H2", "supported", "orbit gap 290/1,500 = 19.3 points"],
    ] == cells(page(files, "hypotheses"))
    supported = frame(files, "orbits").filter(pl.col("supported").is_not_null())
    assert [("strict", "orbit_gap", True)] == supported.select("layer", "measure", "supported").rows()


def test_orbits_are_counted_over_the_bases_of_their_row() -> None:
    strict = row_of(page(made("unit"), "orbits"), "toy", "strict")
    sized = page(made("unit"), "orbits_by_size_and_template")

    assert "6" == strict["Bases"]
    assert strict["Correct"].startswith("1 (0.167 [")
    assert strict["Orbit gap, points"].startswith("5 (83.3 [")
    assert [["a", "2", "4"], ["b", "2", "1"], ["b", "3", "1"]] == [
        row[2:5] for row in cells(sized) if row[1] == "strict"
    ]
    assert "Orbits hold from 2 to 3 views" in caption(sized)


def test_the_scientific_table_says_what_the_audit_recovers_and_the_cap_cuts_off() -> None:
    row = row_of(page(made("scientific"), "scientific"), "toy")

    assert row.pop("Strict").startswith("1 (0.200 [")
    assert row.pop("Audited").startswith("3 (0.600 [")
    assert {
        "System": "toy",
        "Views": "5",
        "Recovered": "2",
        "Magnitude drops": "1",
        "Length-finished": "1",
        "Without them": "3/4",
    } == row


def test_where_every_response_is_cut_off_nothing_is_left_to_be_correct() -> None:
    row = row_of(
        page(tables(*results({"a-0001": {Family.CANONICAL: OK, Family.SCIENTIFIC: CUT}}, "toy")), "scientific"), "toy"
    )

    assert ("1", "0/0") == (row["Length-finished"], row["Without them"])


def test_tokens_are_the_median_between_inclusive_quartiles() -> None:
    canonical, scientific = cells(page(made("scientific"), "completion_tokens"))

    assert ["toy", "canonical", "5", "30 [20, 40]", "0/5"] == canonical
    assert ["toy", "scientific", "5", "1,002 [1,001, 2,000]", "1/5"] == scientific
    halves = tables(
        *results({"a-0001": {Family.CANONICAL: lengthy(OK, 1)}, "a-0002": {Family.CANONICAL: lengthy(OK, 2)}}, "toy")
    )
    assert [["toy", "canonical", "2", "1.5 [1.25, 1.75]", "0/2"]] == cells(page(halves, "completion_tokens"))
    assert [("5/4", "3/2", "7/4")] == frame(halves, "completion_tokens").select(pl.col("^.*_exact$")).rows()


def test_what_responses_would_say_is_not_known_without_them() -> None:
    told = results(SCIENTIFIC, "told")
    mute = results({"a-0001": dict.fromkeys((Family.CANONICAL, Family.SCIENTIFIC), OK)}, "mute")
    files = tables(*together(told, mute, results(SCIENTIFIC, "silent", with_responses=False)))

    scientific = page(files, "scientific")
    assert ("–", "–") == tuple(row_of(scientific, "silent").values())[-2:]
    assert ("0", "1/1") == tuple(row_of(scientific, "mute").values())[-2:]
    tokens = page(files, "completion_tokens")
    assert ["–", "–", "–"] == [*row_of(tokens, "silent", "canonical").values()][2:]
    assert ["–", "–", "0/1"] == [*row_of(tokens, "mute", "canonical").values()][2:]
    for markdown in (scientific, tokens):
        assert "–: not known: no responses were given to score (silent)." in caption(markdown)
    assert "–: not known: the responses do not say how many tokens they have (mute)." in caption(tokens)
    assert "not known" not in caption(page(made("scientific"), "completion_tokens"))
    unknown = frame(files, "completion_tokens").filter(pl.col("system") == "silent")
    assert 0 == unknown.select("n", "q1", "median", "q3", "length_finished").count().sum_horizontal().item()


def test_magnitude_drops_are_signed_in_the_data_and_sized_for_readers() -> None:
    unit = page(made("unit"), "unit_by_template")
    data = frame(made("unit"), "unit_by_template").filter(pl.col("k").is_not_null())

    assert ["Value errors", "Magnitude drops", "|k| = 1", "|k| = 3"] == headings(unit)[-4:]
    assert ["4", "3", "2", "1"] == [*row_of(unit, "toy", "a").values()][-4:]
    assert ["0", "0", "0", "0"] == [*row_of(unit, "toy", "b").values()][-4:]
    assert [("a", -1, 1, 4), ("a", 1, 1, 4), ("a", 3, 1, 4)] == data.select(
        "template", "k", "numerator", "denominator"
    ).rows()
    assert ["6", "4", "3", "2", "1"] == [*row_of(page(made("unit"), "magnitude_drops"), "toy", "unit").values()][2:]
    assert ["Views", "Value errors", "Magnitude drops"] == headings(page(made("losing"), "magnitude_drops"))[2:]


def test_failures_exhaust_the_views() -> None:
    row = row_of(page(made("unit"), "failures"), "toy", "strict", "unit")
    counts = {"Views": "6", "Correct": "1", "Truncation": "0", "Format": "0", "Parse": "4", "Unit": "0", "Value": "1"}

    assert counts == {name: row[name] for name in counts}
    data = frame(made("unit"), "failures")
    sums = data.group_by("layer", "family").agg(pl.col("numerator").sum(), pl.col("denominator").first())
    assert sums["numerator"].to_list() == sums["denominator"].to_list()


def test_final_lines_are_counted_one_by_one_and_several_together() -> None:
    orbits = {
        f"a-{number:04d}": {Family.CANONICAL: replace(OK, strict_final_lines=lines)}
        for number, lines in enumerate([0, 1, 1, 2, 7])
    }
    files = tables(*results(orbits, "toy"))

    row = row_of(page(files, "final_lines"), "toy", "strict", "canonical")
    assert ["5", "1", "2", "1", "0", "1", "2/5"] == [*row.values()][3:]
    strict = frame(files, "final_lines").filter(pl.col("layer") == "strict")
    assert [(0, 1), (1, 2), (2, 1), (7, 1)] == strict.select("final_lines", "numerator").rows()


def test_rewrites_are_counted_among_the_strict_failures_and_the_recovered() -> None:
    row = row_of(page(made("scientific"), "rewrites"), "toy", "scientific")
    data = frame(made("scientific"), "rewrites").filter(pl.col("family") == "scientific")

    assert {"Views": "5", "Strict failures": "4", "Any": "3 (2)", "Scientific": "2 (1)"}.items() <= row.items()
    assert {"Code": "0 (0)", "Emphasis": "1 (1)", "Tag case": "1 (1)"}.items() <= row.items()
    assert [(None, 3, 2), ("code", 0, 0), ("emphasis", 1, 1)] == data.select("rewrite", "used", "recovered").rows()[:3]


def test_rows_of_a_system_stand_together_and_the_strict_layer_first() -> None:
    found = cells(page(tables(*results(random_orbits(4, 30), "b", "a")), "failures"))

    assert [("a", "strict"), ("a", "audited"), ("b", "strict"), ("b", "audited")] == list(
        dict.fromkeys((row[0], row[1]) for row in found)
    )
