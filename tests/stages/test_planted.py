"""Scripted answers with the paper's counts planted come out of parse, audit and score with its per-system figures.

The figures are PROTOCOL's, section 9; the systems are planted ones (tests/planted.py). Decimals are compared as they
are printed, counts as they are. A figure that is published as a range is compared with both of its ends.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

import polars as pl
import pytest

import shipped
from planted import PREFACE, SYSTEMS, responses, views
from samequantity.domain.rewriting import Rewrite
from samequantity.reporting.paper.agreement import agreements
from samequantity.reporting.paper.publication import Figure
from samequantity.reporting.paper.published import read_published
from samequantity.reporting.results import gather
from samequantity.reporting.tabular import decimal_text
from samequantity.scoring.measures import FAILURES
from samequantity.stages.audit import audit
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.infer import RESPONSES_SCHEMA
from samequantity.stages.parse import parse
from samequantity.stages.score import score

QWEN_4B, QWEN_9B_Q4, QWEN_9B_Q8, GPT_OSS, MISTRAL = SYSTEMS
QWEN = (QWEN_4B, QWEN_9B_Q4, QWEN_9B_Q8)
LAYERS = ("strict", "audited")

Row = dict[str, object]


@cache
def judged(system: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    answers = parse(views(), responses(system), system)
    return answers, audit(views(), responses(system), answers, system)


@cache
def scores(system: str) -> pl.DataFrame:
    return score(views(), *judged(system), responses(system))


def rows(system: str, layer: str | None, measure: str, **place: str | None) -> pl.DataFrame:
    """The rows of a measure: pooled over templates, orbit sizes and categories unless `place` names them."""
    wanted = {"template": None, "orbit_size": None, "category": None, "family": None} | place
    return scores(system).filter(
        pl.col("measure") == measure,
        pl.col("layer").eq_missing(pl.lit(layer)),
        *(pl.col(column).eq_missing(pl.lit(value)) for column, value in wanted.items()),
    )


def row(system: str, layer: str | None, measure: str, **place: str | None) -> Row:
    return rows(system, layer, measure, **place).row(0, named=True)


def count(system: str, layer: str | None, measure: str, **place: str | None) -> int:
    """The numerator; 0 where nothing of this category occurs."""
    return sum(rows(system, layer, measure, **place)["numerator"])


def ratio(system: str, layer: str | None, measure: str, **place: str | None) -> tuple[object, object]:
    found = row(system, layer, measure, **place)
    return found["numerator"], found["denominator"]


def estimate(system: str, layer: str | None, measure: str, **place: str | None) -> Fraction:
    return Fraction(str(row(system, layer, measure, **place)["estimate"]))


def rates(systems: Iterable[str], layer: str, measure: str, family: str | None = None) -> list[str]:
    """A rate of each system as the paper prints it."""
    return [decimal_text(estimate(system, layer, measure, family=family), 3) for system in systems]


def points(systems: Iterable[str], measure: str, family: str | None = None) -> list[str]:
    """An audited gap of each system in percentage points, as the paper prints it."""
    return [decimal_text(100 * estimate(system, "audited", measure, family=family), 1) for system in systems]


def ends(printed: Iterable[str]) -> tuple[str, str]:
    ordered = sorted(printed, key=Fraction)
    return ordered[0], ordered[-1]


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
    assert (low, high) == ends(rates(SYSTEMS, layer, measure, family))


def test_consistent_wrong_is_at_most_the_published_rate_and_reaches_it() -> None:
    assert "0.003" == ends(rates(SYSTEMS, "audited", "consistent_wrong"))[1]
    for system in SYSTEMS:
        for layer in LAYERS:
            assert estimate(system, layer, "consistent_wrong") <= Fraction(3, 1000)


def test_orbit_gaps_are_the_published_points() -> None:
    assert ["3.0", "5.3", "6.0", "1.5", "12.1"] == points(SYSTEMS, "orbit_gap")


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("hypothesis", ["h1", "h2"])
def test_both_strict_hypotheses_hold_in_every_system(system: str, hypothesis: str) -> None:
    assert row(system, "strict", hypothesis)["supported"] is True


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


def test_audited_family_gaps_are_the_published_points() -> None:
    assert ("6.1", "8.0") == ends(points(QWEN, "family_gap", "fraction"))
    assert ["9.6", "11.3"] == points([QWEN_9B_Q4, QWEN_9B_Q8], "family_gap", "scientific")
    assert ["28.1"] == points([MISTRAL], "family_gap", "unit")


def test_audited_fraction_correctness_is_the_published_one_in_every_system() -> None:
    assert ["0.915", "0.928", "0.910", "0.995", "0.874"] == rates(SYSTEMS, "audited", "view_correctness", "fraction")


def test_scientific_correctness_of_the_qwen_runs_is_the_published_one() -> None:
    assert ["0.347", "0.145", "0.226"] == rates(QWEN, "strict", "view_correctness", "scientific")
    assert ["0.985", "0.902", "0.886"] == rates(QWEN, "audited", "view_correctness", "scientific")


def test_scientific_answers_recovered_by_the_audit_reach_both_published_ends() -> None:
    recovered = {system: count(system, "audited", "recovered", family="scientific") for system in SYSTEMS}

    assert (638, 991) == (min(recovered.values()), max(recovered.values()))
    for system, number in recovered.items():
        strict, audited = (count(system, layer, "view_correctness", family="scientific") for layer in LAYERS)
        assert number == audited - strict


@pytest.mark.parametrize(
    ("system", "at_cap", "correct", "finished"),
    [
        (QWEN_4B, 13, 985, 987),
        (QWEN_9B_Q4, 85, 902, 915),
        (QWEN_9B_Q8, 110, 886, 890),
        (GPT_OSS, 0, 990, 1000),
        (MISTRAL, 0, 996, 1000),
    ],
)
def test_scientific_correctness_without_the_length_finished_is_the_published_one(
    system: str, at_cap: int, correct: int, finished: int
) -> None:
    """The two systems without a length-finished response have their range alone published."""
    assert (at_cap, 1000) == ratio(system, None, "length_finished", family="scientific")
    assert (correct, finished) == ratio(system, "audited", "finished_correctness", family="scientific")
    assert correct == count(system, "audited", "view_correctness", family="scientific")


def test_the_unit_errors_of_mistral_are_split_by_power_of_ten_as_published() -> None:
    def errors(measure: str, k: int | None = None) -> int:
        return count(MISTRAL, "audited", measure, family="unit", category=None if k is None else str(k))

    assert ["0.699"] == rates([MISTRAL], "audited", "view_correctness", "unit")
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
def test_prompts_lengthen_completions_where_the_paper_says_so(system: str) -> None:
    canonical, fraction, scientific = (
        estimate(system, None, "completion_tokens", family=family, category="median")
        for family in ("canonical", "fraction", "scientific")
    )

    assert fraction > canonical
    assert (scientific > canonical) is (system in QWEN)


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


def test_the_responses_are_the_same_every_time() -> None:
    assert responses(MISTRAL).equals(responses.__wrapped__(MISTRAL))


def test_every_published_figure_agrees_with_what_the_planted_answers_come_to() -> None:
    known = read_published(shipped.content("resources/published.yaml"))
    intervals = pl.concat(bootstrap(views(), *judged(system), seed=1, draws=100) for system in SYSTEMS)
    found = agreements(known, gather(pl.concat(scores(system) for system in SYSTEMS), intervals, SYSTEMS))

    assert [] == [(one.figure.name, one.system, one.verdict) for one in found if not one.verdict.agrees]
    assert len(found) == sum(len(figure.statements) if isinstance(figure, Figure) else 1 for figure in known.figures)
