"""The tables of comparisons say what was compared, with every number that decides it, and refuse what does not fit."""

from fractions import Fraction
from functools import cache

import polars as pl
import pytest

from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.layouts.comparisons import comparisons
from samequantity.reporting.results import BY_TEMPLATE, POOLED, Results, gather
from samequantity.reporting.tabular import Table, to_markdown
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.compare import Verdicts, compare
from samequantity.stages.score import score
from studies import OK, Answer, Study, pairs, study

NEW = study(pairs(Family.WORDS, both=1200, canonical_only=290, transformed_only=9, neither=1), "new")
OLD = study(pairs(Family.WORDS, both=1100, canonical_only=100, transformed_only=99, neither=201), "old|er")
DRAWS = 200


@cache
def results() -> Results:
    """The scores of both systems, of which `old|er` is shown first."""
    studies = (NEW, OLD)
    scores = pl.concat([score(*one.tables) for one in studies])
    return gather(scores, pl.concat([bootstrap(*one.tables, seed=1, draws=20) for one in studies]), ["old|er", "new"])


def verdicts(one: Study) -> Verdicts:
    return Verdicts(answers=one.answers, audits=one.audits)


@cache
def compared(*, swapped: bool = False) -> pl.DataFrame:
    first, second = (OLD, NEW) if swapped else (NEW, OLD)
    return compare(NEW.views, verdicts(first), verdicts(second), seed=1, draws=DRAWS)


def row_of(table: Table, *place: str) -> dict[str, str]:
    """The one row that begins so, by heading."""
    (found,) = [row for row in table.rows if tuple(row[: len(place)]) == place]
    return {heading.text: cell for heading, cell in zip(table.headings, found, strict=True)}


def test_a_difference_is_printed_with_everything_that_decides_it() -> None:
    table = comparisons(compared(), results(), POOLED)
    row = compared().row(
        by_predicate=(pl.col("layer") == "strict")
        & (pl.col("measure") == "view_correctness")
        & (pl.col("family") == "words")
        & pl.col("template").is_null(),
        named=True,
    )

    assert row_of(table, "new − old|er", "strict", "words correct") == {
        "Comparison": "new − old|er",
        "Layer": "strict",
        "Measure": "words correct",
        "System": "1,209/1,500 = 0.806",
        "Reference": "1,199/1,500 = 0.799",
        "Difference, points": f"0.7 [{100 * row['low']:.1f}, {100 * row['high']:.1f}]",
        "Only/only": "109/99",
        "p": f"{row['p_value']:.3f}",
        "Holm p": f"{row['p_holm']:.3f}",
        "Detectable, points": f"{100 * row['detectable']:.1f}",
    }
    gap = row_of(table, "new − old|er", "audited", "orbit gap")
    assert gap["System"] == "290/1,500 = 0.193"
    assert [gap[name] for name in ("Only/only", "p", "Holm p", "Detectable, points")] == ["–"] * 4
    assert row_of(table, "new − old|er", "audited", "orbits correct")["Holm p"] == "–"


def test_the_data_hold_every_pooled_measure_as_numbers() -> None:
    table = comparisons(compared(), results(), POOLED)
    expected = compared().filter(pl.col("template").is_null(), pl.col("denominator") > 0)

    assert table.data.height == expected.height > len(table.rows)
    assert table.data["difference"].to_list() == [float(Fraction(text)) for text in expected["difference"]]
    assert table.data["measure"].to_list() == expected["measure"].to_list()
    assert {"parse_error", "recovered"} <= set(table.data["measure"])
    assert table.data["low"].dtype == table.data["detectable"].dtype == pl.Float64


def test_strata_have_intervals_and_no_tests() -> None:
    table = comparisons(compared(), results(), BY_TEMPLATE)

    assert row_of(table, "new − old|er", "strict", "a", "words gap")["Difference, points"].startswith("18.7 [")
    assert not {"p", "Holm p", "Detectable, points"} & {heading.text for heading in table.headings}
    assert not {"p_value", "detectable"} & set(table.data.columns)
    assert "Strata have no tests of their own: Holm does not cover them." in table.caption
    assert "McNemar" not in table.caption


def test_the_caption_says_how_it_was_made_and_what_it_does_not_say() -> None:
    table = comparisons(compared(), results(), POOLED)

    for part in (
        "strict-parser compatibility",
        f"{DRAWS} base-clustered bootstrap draws",
        "Wilson intervals, which know no pairs, are not used.",
        "exact two-sided McNemar test",
        "Holm adjustment over 2 view families of one layer and comparison.",
        "Holm covers neither systems nor orbit summaries nor strata.",
        "80 % power at α = .05",
        "given as many discordant pairs as were observed",
        "protocol-fixed, not preregistered",
        "not how it was computed",
        "Absent: new − old|er, fraction: no view of this family in the sample;",
    ):
        assert part in table.caption
    assert "reasoning" not in table.caption


def test_what_was_left_out_and_dropped_is_said() -> None:
    orbits: dict[str, dict[Family, Answer]] = {f"a-{number:04}": {Family.CANONICAL: OK} for number in range(5)}
    orbits["a-0001"][Family.UNIT] = OK
    one, other = study(orbits, "new"), study(orbits, "old|er")
    cut = Verdicts(answers=other.answers.filter(pl.col("view_id") != "a-0000/canonical"), audits=other.audits)
    frame = compare(one.views, verdicts(one), cut, seed=1, draws=50, complete_orbits_only=True)
    caption = comparisons(frame, results(), POOLED).caption

    assert "new − old|er: 1 bases without an answer of both systems to each view are left out." in caption
    assert f"were dropped: up to {max(frame['dropped_draws'].drop_nulls())} of one difference." in caption


def test_comparisons_stand_in_the_order_of_the_study_whatever_the_order_of_rows() -> None:
    both = pl.concat([compared(), compared(swapped=True)])
    table = comparisons(both, results(), POOLED)
    shuffled = comparisons(both.sample(fraction=1, shuffle=True, seed=3), results(), POOLED)

    assert list(dict.fromkeys(row[0] for row in table.rows)) == ["old|er − new", "new − old|er"]
    assert (table.rows, table.caption) == (shuffled.rows, shuffled.caption)
    assert table.data.equals(shuffled.data)
    assert r"| new − old\|er | strict | canonical correct |" in to_markdown(table).decode()


def test_no_comparison_is_an_empty_table() -> None:
    table = comparisons(compared().clear(), results(), POOLED)

    assert (len(table.rows), table.data.height) == (0, 0)


def test_a_column_a_row_or_a_system_that_does_not_fit_is_refused() -> None:
    frame = compared()
    with pytest.raises(TableError, match="comparisons: column low, high is missing"):
        comparisons(frame.drop("low", "high"), results(), POOLED)
    with pytest.raises(
        TableError, match=r"comparisons: two rows for new − old\|er, strict, view_correctness, canonical"
    ):
        comparisons(pl.concat([frame, frame.head(1)]), results(), POOLED)
    with pytest.raises(TableError, match="comparisons: newer has no scores"):
        comparisons(frame.with_columns(system=pl.lit("newer")), results(), POOLED)
    with pytest.raises(TableError, match=r"comparisons: 'guess' .*Make the table again"):
        comparisons(frame.with_columns(measure=pl.lit("guess")), results(), POOLED)


def test_a_comparison_of_other_answers_than_the_scores_is_refused() -> None:
    other = study(pairs(Family.WORDS, both=1201, canonical_only=289, transformed_only=9, neither=1), "new")
    frame = compare(NEW.views, verdicts(other), verdicts(OLD), seed=1, draws=10)

    with pytest.raises(
        TableError, match=r"comparisons: \d+ rates do not belong to the scores, for instance new − old\|er"
    ):
        comparisons(frame, results(), POOLED)


def test_no_discordant_pair_is_shown_with_p_one() -> None:
    same = study(pairs(Family.WORDS, both=3, canonical_only=0, transformed_only=0, neither=0), "new")
    twin = study(pairs(Family.WORDS, both=3, canonical_only=0, transformed_only=0, neither=0), "old|er")
    scores = pl.concat([score(*one.tables) for one in (same, twin)])
    found = gather(scores, pl.concat([bootstrap(*one.tables, seed=1, draws=5) for one in (same, twin)]))
    frame = compare(same.views, verdicts(same), verdicts(twin), seed=1, draws=20)
    row = row_of(comparisons(frame, found, POOLED), "new − old|er", "strict", "words correct")

    assert [row[name] for name in ("Difference, points", "p", "Detectable, points")] == ["0.0 [0.0, 0.0]", "1.000", "–"]
