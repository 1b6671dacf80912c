"""What there is nothing to count of, or no variation in, has a defined score or a reason for having none."""

import polars as pl
import pytest

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.scoring.columns import NO_VIEW
from samequantity.scoring.columns import SCORES as SCHEMA
from samequantity.stages.score import NO_TEST, NONE_FINISHED, score
from studies import OK, UNREAD, Answer, Row, answer, one_row, pairs, study

BLANK: Row = dict.fromkeys(SCHEMA)


def test_an_absent_family_has_its_reason_and_no_number() -> None:
    bases = pairs(Family.WORDS, both=3, canonical_only=1, transformed_only=0, neither=0)
    scores = score(*study(bases).all_tables)

    for layer in Layer:
        absent = {"system": "toy", "layer": layer, "family": "unit", "numerator": 0, "denominator": 0} | {
            "absent": NO_VIEW,
            "dropped_bases": 0,
        }
        no_pair = dict.fromkeys(("canonical_correct", "transformed_correct", "canonical_only", "transformed_only"), 0)
        assert one_row(scores, layer, "family_gap", family="unit") == BLANK | absent | no_pair | {
            "measure": "family_gap"
        }
        for measure in ("view_correctness", "finished_correctness", "value_error"):
            assert one_row(scores, layer, measure, family="unit") == BLANK | absent | {"measure": measure}
        assert one_row(scores, layer, "family_gap", family="words")["holm_tests"] == 1
    assert scores.filter((pl.col("family") == "unit") & pl.col("template").is_not_null()).is_empty()
    assert scores.select(pl.col("p_value", "p_holm").is_nan().fill_null(False).any()).row(0) == (False, False)


def test_a_family_that_always_ran_into_the_cap_has_a_reason_of_its_own() -> None:
    cut = answer("truncation_error")
    scores = score(*study({"a-0001": {Family.CANONICAL: OK, Family.WORDS: cut}}).all_tables)

    assert one_row(scores, "audited", "finished_correctness", family="words") == BLANK | {
        "system": "toy",
        "layer": "audited",
        "measure": "finished_correctness",
        "family": "words",
        "numerator": 0,
        "denominator": 0,
        "absent": NONE_FINISHED,
        "dropped_bases": 0,
    }
    assert one_row(scores, "audited", "finished_correctness", family="unit")["absent"] == NO_VIEW
    assert one_row(scores, "audited", "finished_correctness", family="canonical")["estimate"] == "1"


@pytest.mark.parametrize(("worth", "solved"), [(OK, 1), (UNREAD, 0)])
def test_one_base_with_its_canonical_view_alone_has_no_family_test(worth: Answer, solved: int) -> None:
    scores = score(*study({"a-0001": {Family.CANONICAL: worth}}).tables)
    known: Row = BLANK | {"system": "toy", "layer": "strict", "dropped_bases": 0}
    one: Row = {"numerator": solved, "denominator": 1, "estimate": str(solved)}
    no_gap: Row = {"numerator": 0, "denominator": 1, "estimate": "0", "canonical_only": 0, "transformed_only": 0}
    no_gap |= {"canonical_correct": solved, "transformed_correct": solved}

    assert one_row(scores, "strict", "h1") == known | {
        "measure": "h1",
        "numerator": 0,
        "denominator": 0,
        "holm_tests": 0,
        "absent": NO_TEST,
    }
    assert one_row(scores, "strict", "h2") == known | no_gap | {"measure": "h2", "supported": False}
    assert one_row(scores, "strict", "orbit_gap") == known | no_gap | {"measure": "orbit_gap"}
    assert one_row(scores, "strict", "orbit_correctness") == known | one | {"measure": "orbit_correctness"}
    assert one_row(scores, "strict", "orbit_invariance") == known | one | {"measure": "orbit_invariance"}
    assert scores["p_holm"].null_count() == scores.height
    assert set(scores["orbit_size"]) == {None, 1}


@pytest.mark.parametrize(("both", "neither"), [(4, 0), (0, 4)], ids=["all correct", "all wrong"])
def test_no_discordant_pair_means_p_is_one(both: int, neither: int) -> None:
    bases = pairs(Family.UNIT, both=both, canonical_only=0, transformed_only=0, neither=neither)
    scores = score(*study(bases).tables)
    known: Row = BLANK | {"system": "toy", "denominator": 4, "dropped_bases": 0}
    no_gap: Row = {"numerator": 0, "estimate": "0", "canonical_only": 0, "transformed_only": 0}
    no_gap |= {"canonical_correct": both, "transformed_correct": both}
    tested: Row = {"p_value": 1.0, "p_holm": 1.0, "holm_tests": 1}

    for layer, decided in ((Layer.STRICT, "supported"), (Layer.AUDITED, "marked")):
        assert one_row(scores, layer, "family_gap", family="unit") == known | no_gap | tested | {
            "layer": layer,
            "measure": "family_gap",
            "family": "unit",
            decided: False,
        }
        assert one_row(scores, layer, "orbit_correctness") == known | {
            "layer": layer,
            "measure": "orbit_correctness",
            "numerator": both,
            "estimate": "1" if both else "0",
        }
    h1: Row = {"numerator": 0, "denominator": 1, "estimate": "0", "holm_tests": 1, "supported": False}
    assert one_row(scores, "strict", "h1") == known | h1 | {"layer": "strict", "measure": "h1"}
