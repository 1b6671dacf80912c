"""Scripted answers with the paper's counts planted come out of parse, audit and score with its per-system figures.

The figures are PROTOCOL's, section 9; the systems are planted ones (tests/planted.py). Decimals are compared as they
are printed, counts as they are. A figure that is published as a range is compared with both of its ends.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache, partial

import polars as pl
import pytest

import shipped
from planted import PREFACE, SYSTEMS, responses, views
from samequantity.domain.rewriting import Rewrite
from samequantity.reporting.paper.agreement import Agreement, agreements
from samequantity.reporting.paper.publication import Figure, Printed, Unit
from samequantity.reporting.paper.published import read_published
from samequantity.reporting.results import gather
from samequantity.reporting.tabular import decimal_text, points_text
from samequantity.scoring.measures import FAILURES, Measure
from samequantity.stages.audit import audit
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.parse import parse
from samequantity.stages.responses import RESPONSES_SCHEMA
from samequantity.stages.score import score
from samequantity.store.digests import content_digest
from studies import one_row, rows_at

QWEN_4B, QWEN_9B_Q4, QWEN_9B_Q8, GPT_OSS, MISTRAL = SYSTEMS
QWEN = (QWEN_4B, QWEN_9B_Q4, QWEN_9B_Q8)
LAYERS = ("strict", "audited")


@cache
def judged(system: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    answers = parse(views(), responses(system), system)
    return answers, audit(views(), responses(system), answers, system)


@cache
def scores(system: str) -> pl.DataFrame:
    return score(views(), *judged(system), responses(system))


def count(system: str, layer: str | None, measure: str, **place: str | None) -> int:
    """The numerator; 0 where nothing of this category occurs."""
    return sum(rows_at(scores(system), layer, measure, **place)["numerator"])


def ratio(system: str, layer: str | None, measure: str, family: str) -> tuple[int, int]:
    found = one_row(scores(system), layer, measure, family=family)
    return found["numerator"], found["denominator"]


def estimate(system: str, layer: str, measure: str, family: str | None = None) -> Fraction:
    return Fraction(one_row(scores(system), layer, measure, family=family)["estimate"])


def ends(systems: Iterable[str], layer: str, measure: str, family: str | None = None) -> tuple[str, str]:
    """The smallest and the largest over the systems as the paper prints them: rates, or gaps in percentage points."""
    found = sorted(estimate(system, layer, measure, family) for system in systems)
    printed = points_text if Measure(measure).is_gap else partial(decimal_text, places=3)
    return printed(found[0]), printed(found[-1])


@pytest.mark.parametrize(
    ("layer", "measure", "family", "low", "high"),
    [
        ("audited", "view_correctness", "canonical", "0.969", "0.996"),
        ("strict", "orbit_correctness", None, "0.574", "0.785"),
        ("audited", "orbit_correctness", None, "0.848", "0.981"),
        ("audited", "orbit_invariance", None, "0.851", "0.981"),
        ("audited", "view_correctness", "words", "0.997", "1.000"),
        ("strict", "view_correctness", "scientific", "0.005", "0.347"),
        ("audited", "view_correctness", "scientific", "0.886", "0.996"),
    ],
)
def test_a_published_range_is_reached_at_both_ends(
    layer: str, measure: str, family: str | None, low: str, high: str
) -> None:
    assert (low, high) == ends(SYSTEMS, layer, measure, family)


def test_the_fraction_gaps_of_the_qwen_runs_reach_both_published_ends() -> None:
    assert ("6.1", "8.0") == ends(QWEN, "audited", "family_gap", "fraction")


def test_consistent_wrong_is_at_most_the_published_rate_and_reaches_it() -> None:
    assert "0.003" == ends(SYSTEMS, "audited", "consistent_wrong")[1]
    for system in SYSTEMS:
        for layer in LAYERS:
            assert estimate(system, layer, "consistent_wrong") <= Fraction(3, 1000)


def test_exactly_the_seven_published_cells_are_marked() -> None:
    published = [
        (QWEN_4B, "fraction"),
        (QWEN_9B_Q4, "fraction"),
        (QWEN_9B_Q4, "scientific"),
        (QWEN_9B_Q8, "fraction"),
        (QWEN_9B_Q8, "scientific"),
        (MISTRAL, "fraction"),
        (MISTRAL, "unit"),
    ]

    assert published == [
        (system, family) for system in SYSTEMS for family in scores(system).filter(pl.col("marked"))["family"]
    ]


def test_scientific_answers_recovered_by_the_audit_reach_both_published_ends() -> None:
    recovered = {system: count(system, "audited", "recovered", family="scientific") for system in SYSTEMS}

    assert (638, 991) == (min(recovered.values()), max(recovered.values()))
    for system, number in recovered.items():
        strict, audited = (count(system, layer, "view_correctness", family="scientific") for layer in LAYERS)
        assert number == audited - strict


def test_scientific_correctness_of_the_4b_is_the_published_one_with_and_without_the_length_finished() -> None:
    assert (985, 1000) == ratio(QWEN_4B, "audited", "view_correctness", "scientific")
    assert (13, 1000) == ratio(QWEN_4B, None, "length_finished", "scientific")
    assert (985, 987) == ratio(QWEN_4B, "audited", "finished_correctness", "scientific")


def test_the_unit_errors_of_mistral_are_split_by_power_of_ten_as_published() -> None:
    def errors(measure: str, k: int | None = None) -> int:
        return count(MISTRAL, "audited", measure, family="unit", category=None if k is None else str(k))

    assert (699, 1000) == ratio(MISTRAL, "audited", "view_correctness", "unit")
    assert 301 == sum(errors(status) for status in FAILURES)
    assert 265 == errors("magnitude_drop")
    assert [96, 70, 99] == [errors("magnitude_drop", -k) + errors("magnitude_drop", k) for k in (1, 2, 3)]


def test_the_unit_errors_of_mistral_are_counted_by_template_too() -> None:
    drops = scores(MISTRAL).filter(
        pl.col("measure") == "magnitude_drop", pl.col("family") == "unit", pl.col("template").is_not_null()
    )
    whole = drops.filter(pl.col("category").is_null())
    signed = drops.drop_nulls("category").group_by("category").agg(pl.col("numerator").sum()).sort("category")

    by_template = {"combined_volume": 55, "difference_distance": 54, "rate_speed": 50, "repeated_length": 106}
    assert by_template == dict(whole.select("template", "numerator").iter_rows())
    assert [("-1", 40), ("-2", 70), ("-3", 99), ("1", 56)] == signed.rows()


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_length_finished_response_spent_the_whole_cap(system: str) -> None:
    at_cap = responses(system).filter(pl.col("finish_reason") == "length")["completion_tokens"].to_list()

    assert set(at_cap) <= {2048 if system == GPT_OSS else 512}
    assert bool(at_cap) is (system != MISTRAL)


def test_every_outcome_several_final_lines_and_every_rewrite_occur() -> None:
    counted = pl.concat(scores(system) for system in SYSTEMS).filter(
        pl.col("template").is_null(), pl.col("numerator") > 0
    )
    measures = counted["measure"].to_list()

    assert set(FAILURES) <= set(measures)
    assert "2" in counted.filter(pl.col("measure") == "final_lines")["category"].to_list()
    for measure in ("rewrite", "rewrite_recovered"):
        assert set(Rewrite) == set(counted.filter(pl.col("measure") == measure)["category"].drop_nulls())


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_view_has_a_text_that_says_that_no_model_wrote_it(system: str) -> None:
    found = responses(system)

    assert RESPONSES_SCHEMA == found.schema
    assert views()["view_id"].equals(found["view_id"])
    assert found["text"].str.starts_with(PREFACE).all()


def test_the_planted_responses_are_pinned() -> None:
    """Who changes a plan or a form on purpose puts the new digest here."""
    found = content_digest(pl.concat(responses(system) for system in SYSTEMS))

    assert "e23811860ce00b78e9c13500d305c1b36a98e9d23dec9959c268bc00ad0faa89" == found


@cache
def compared() -> Sequence[Agreement]:
    """The paper's figures beside the planted ones."""
    known = read_published(shipped.content("resources/published.yaml"))
    intervals = pl.concat(bootstrap(views(), *judged(system), seed=1, draws=100) for system in SYSTEMS)
    return agreements(known, gather(pl.concat(scores(system) for system in SYSTEMS), intervals, SYSTEMS))


def test_every_published_figure_agrees_with_what_the_planted_answers_come_to() -> None:
    known = read_published(shipped.content("resources/published.yaml"))

    assert [] == [(one.figure.name, one.system, one.verdict) for one in compared() if not one.verdict.agrees]
    assert len(compared()) == sum(
        len(figure.statements) if isinstance(figure, Figure) else 1 for figure in known.figures
    )


def test_every_published_number_of_a_system_is_met_to_the_last_digit() -> None:
    """A rate or gap agrees with the paper when our interval holds it; the planted ones are to round to it as well."""
    printed = [(one, one.statement) for one in compared() if isinstance(one.statement, Printed)]

    for one, statement in printed:
        assert one.ours is not None
        assert one.ours.number is not None
        assert statement.value == round(one.ours.number, statement.places), (one.figure.name, one.system)
    assert {Unit.RATE, Unit.POINTS, Unit.COUNT} == {one.figure.unit for one, _ in printed}


def test_prompts_lengthen_completions_nowhere_but_where_the_paper_says_so() -> None:
    """That they do there is one of the published figures."""
    for system in (GPT_OSS, MISTRAL):
        canonical, scientific = (
            one_row(scores(system), None, "completion_tokens", family=family, category="median")["estimate"]
            for family in ("canonical", "scientific")
        )
        assert Fraction(scientific) <= Fraction(canonical)
