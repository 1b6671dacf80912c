"""The views of a base say the same thing in the same words, and every token is exactly the base's quantity."""

import re
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samequantity.domain.answers import Question, judge
from samequantity.domain.benchmark import Benchmark
from samequantity.domain.rationals import as_decimal
from samequantity.domain.units import unit_named
from samequantity.domain.verdicts import Status
from samequantity.domain.views import Family
from samequantity.errors import SettingsError, TableError
from samequantity.stages.generate import generate
from samequantity.stages.render import SCHEMA, render
from samequantity.store.digests import content_digest
from shipped import VIEWS_DIGEST, bases, benchmark, benchmark_config, content, views, wording
from transcripts import words

INSTRUCTION = "Return exactly one final line in this form: FINAL: <number> <unit>"

SUB_UNITS = {"liters": "milliliters", "kilometers": "meters", "meters": "centimeters"}
FACTORS = {"milliliters": 1000, "meters": 1000, "centimeters": 100}
WORDS = dict(zip(words("two three four five six seven eight nine ten eleven twelve"), range(2, 13), strict=True))

REWRITTEN = {
    ("combined_volume", "fraction"): "ab",
    ("combined_volume", "unit"): "ab",
    ("difference_distance", "fraction"): "ab",
    ("difference_distance", "unit"): "ab",
    ("repeated_length", "fraction"): "a",
    ("repeated_length", "words"): "n",
    ("repeated_length", "unit"): "a",
    ("fraction_of_capacity", "fraction"): "f",
    ("fraction_of_capacity", "percent"): "f",
    ("rate_speed", "unit"): "d",
    ("large_volume_addition", "scientific"): "ab",
}


def pattern(skeleton: str) -> re.Pattern[str]:
    """The skeleton with a group for each token."""
    parts = re.split(r"\{(\w)\}", skeleton)
    return re.compile("".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)))


@cache
def rows() -> list[dict[str, Any]]:
    return views().to_dicts()


@cache
def skeletons() -> dict[str, re.Pattern[str]]:
    return {name: pattern(skeleton.text) for name, skeleton in wording().skeletons.items()}


def quantities(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """The parameters of each base by name."""
    return {row["base_id"]: {entry["name"]: entry for entry in row["parameters"]} for row in frame.to_dicts()}


def ending(row: dict[str, Any]) -> str:
    return f" {wording().unit_request.format(unit=row['canonical_unit'])}\n{INSTRUCTION}"


def match(row: dict[str, Any]) -> re.Match[str]:
    found = skeletons()[row["template"]].fullmatch(row["prompt"].removesuffix(ending(row)))
    assert found, row["prompt"]
    return found


def tokens(row: dict[str, Any]) -> dict[str, str]:
    return match(row).groupdict()


def without_tokens(row: dict[str, Any]) -> str:
    """The prompt with the name of each token in its place."""
    prompt, found = row["prompt"], match(row)
    for name in sorted(found.groupdict(), key=found.start, reverse=True):
        prompt = f"{prompt[: found.start(name)]}{{{name}}}{prompt[found.end(name) :]}"
    return prompt


def read_back(token: str, family: str) -> tuple[Fraction, str]:
    """A token's value in the unit that it names, by a reading of its own for each family."""
    number, _, unit = token.rpartition(" ") if token[-1].isalpha() and " " in token else (token, "", "")
    if family == "fraction":
        over, under = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", number).groups()
        assert 1000 % int(under) == 0
        assert (int(over), int(under)) == Fraction(number).as_integer_ratio(), "in lowest terms"
        assert int(under) > 1
        return Fraction(int(over), int(under)), unit
    if family == "scientific":
        mantissa, exponent = re.fullmatch(r"([1-9](?:\.[0-9]*[1-9])?) × 10\^([1-9][0-9]*)", number).groups()
        return Fraction(mantissa) * 10 ** int(exponent), unit
    if family == "percent":
        (percent,) = re.fullmatch(r"((?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?)%", number).groups()
        return Fraction(percent) / 100, unit
    if family == "words":
        return Fraction(WORDS[token]), ""
    assert re.fullmatch(r"(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?", number), "plain digits, no trailing zero"
    return Fraction(number), unit


def test_the_prompts_are_the_same_bytes_as_in_the_first_release() -> None:
    """Whoever changes a word or a number of them makes a new prompt version."""
    assert VIEWS_DIGEST == content_digest(views())
    assert SCHEMA == views().schema


def test_there_are_8600_distinct_prompts_and_1000_of_each_family() -> None:
    families = Counter(row["family"] for row in rows())

    assert 8600 == len(rows()) == len({row["prompt"] for row in rows()}) == len({row["view_id"] for row in rows()})
    assert {"canonical": 3600} | {str(family): 1000 for family in Family if family.is_transformation} == families


def test_views_come_by_base_and_family_under_their_names() -> None:
    wanted = [f"{row['base_id']}/{family}" for row in bases().to_dicts() for family in row["families"]]

    assert wanted == [row["view_id"] for row in rows()]
    for row in rows():
        assert f"{row['base_id']}/{row['family']}" == row["view_id"]
    joined = views().join(bases(), on="base_id", suffix="_of_base")
    assert joined["expected"].equals(joined["answer"])
    for column in ("template", "dimension", "canonical_unit"):
        assert joined[column].equals(joined[f"{column}_of_base"])


def test_a_prompt_ends_with_the_instruction_and_names_the_unit_asked() -> None:
    for row in rows():
        assert row["prompt"].endswith(ending(row))
        assert f" {row['canonical_unit']}" in ending(row)
        assert 1 == row["prompt"].count("\n")
        assert 1 == row["prompt"].count("FINAL:")


def test_only_the_tokens_that_the_family_rewrites_differ_between_the_views_of_a_base() -> None:
    canonical = {row["base_id"]: row for row in rows() if row["family"] == "canonical"}
    for row in rows():
        if row["family"] == "canonical":
            continue
        before, after = tokens(canonical[row["base_id"]]), tokens(row)

        changed = {name for name in before if before[name] != after[name]}
        assert set(REWRITTEN[row["template"], row["family"]]) == changed
        assert without_tokens(canonical[row["base_id"]]) == without_tokens(row), "the same skeleton, byte for byte"


def test_every_token_is_exactly_the_quantity_of_its_base() -> None:
    parameters = quantities(bases())
    for row in rows():
        rewritten = REWRITTEN.get((row["template"], row["family"]), "")
        for name, token in tokens(row).items():
            given = parameters[row["base_id"]][name]
            value, unit = read_back(token, row["family"] if name in rewritten else "canonical")
            wanted = "" if given["unit"] == "dimensionless" else given["unit"]
            if row["family"] == "unit" and name in rewritten:
                assert SUB_UNITS[wanted] == unit
                value, unit = value / FACTORS[unit], wanted
            assert (Fraction(given["value"]), wanted) == (value, unit), row["prompt"]


def test_every_length_and_volume_of_the_unit_view_is_rewritten_and_hours_stay() -> None:
    for row in rows():
        if row["family"] == "unit":
            units = {name: token.split()[-1] for name, token in tokens(row).items() if " " in token}
            assert set(units.values()) <= {*SUB_UNITS.values(), "hours"}
            assert ("hours" in units.values()) is (row["template"] == "rate_speed")


def test_the_skeletons_hold_no_digit_of_their_own() -> None:
    for skeleton in chain(wording().skeletons.values(), *wording().paraphrases.values()):
        assert not re.search(r"[0-9]", skeleton.text)


def test_every_expected_answer_goes_through_the_strict_parser_and_comes_back() -> None:
    for row in rows():
        assert_round_trip(row)


def assert_round_trip(row: dict[str, Any]) -> None:
    answer = Fraction(row["expected"])
    question = Question(unit=unit_named(row["canonical_unit"]), expected=answer)
    written = as_decimal(answer)
    verdict = judge(f"So:\nFINAL: {written} {row['canonical_unit']}", "stop", question)

    assert (Status.CORRECT, answer, question.unit) == (verdict.status, verdict.value, verdict.unit)
    assert len(written.partition(".")[2]) <= 6
    assert Status.VALUE_ERROR == judge(f"FINAL: {written}1 {row['canonical_unit']}", "stop", question).status


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**9), places=st.integers(3, 6))
def test_arbitrary_bases_round_trip_and_have_distinct_prompts(seed, places):
    """Whatever the seed: every answer comes back through the strict parser, every token reads back exactly."""
    config = {**benchmark_config(), "seed": seed, "answer_places": places}
    drawn = Benchmark.from_config(config)
    found = generate(drawn, dict.fromkeys(config["templates"], 6))
    drawn_views, parameters = render(found, drawn, wording()).to_dicts(), quantities(found)

    assert len(drawn_views) == len({row["prompt"] for row in drawn_views})
    for row in drawn_views:
        assert_round_trip(row)
        for name, token in tokens(row).items():
            rewritten = REWRITTEN.get((row["template"], row["family"]), "")
            value, unit = read_back(token, row["family"] if name in rewritten else "canonical")
            factor = FACTORS[unit] if row["family"] == "unit" and name in rewritten else 1
            assert Fraction(parameters[row["base_id"]][name]["value"]) == value / factor


def test_the_paraphrases_keep_the_multiset_of_quantity_tokens() -> None:
    slots = defaultdict(list)
    for template, skeleton in wording().skeletons.items():
        slots[template].append(sorted(skeleton.slots()))
    for template, pair in wording().paraphrases.items():
        slots[template] += [sorted(skeleton.slots()) for skeleton in pair]

    assert {"combined_volume", "difference_distance", "repeated_length", "fraction_of_capacity"} == {
        template for template, found in slots.items() if len(found) == 3
    }
    assert all(found.count(found[0]) == len(found) for found in slots.values())
    texts = [wording().skeletons[name].text for name in wording().paraphrases]
    texts += [skeleton.text for skeleton in chain(*wording().paraphrases.values())]
    assert 12 == len(set(texts))


# What cannot be rendered


@pytest.mark.parametrize(
    "column",
    [
        {"template": pl.lit("volume")},
        {"answer": pl.lit("1")},
        {"answer": pl.lit("many")},
        {"answer": pl.lit("1/0")},
        {"canonical_unit": pl.lit("meters")},
        {"canonical_unit": pl.lit("gallons")},
        {"families": pl.Series([["canonical", "roman"]])},
        {"families": pl.Series([["canonical", "words"]])},
    ],
)
def test_a_base_that_is_none_of_the_benchmarks_is_an_error_that_names_it(column: dict[str, Any]) -> None:
    with pytest.raises(TableError, match="combined_volume-0001"):
        render(bases().head(1).with_columns(**column), benchmark(), wording())


def test_a_missing_column_is_named() -> None:
    with pytest.raises(TableError, match="missing column parameters, answer"):
        render(bases().drop("answer", "parameters"), benchmark(), wording())


def test_a_family_that_cannot_write_a_quantity_is_an_error_that_names_the_base() -> None:
    config = benchmark_config()
    config["templates"]["repeated_length"]["families"]["fraction"]["rewrites"] = ["n"]
    with pytest.raises(SettingsError, match=r"repeated_length-0001 has no fraction view: \d+ is an integer"):
        render(bases(), Benchmark.from_config(config), wording())


def test_the_wording_is_a_file_that_a_user_edits() -> None:
    text = content("resources/wording.yaml")

    assert INSTRUCTION == text["instruction"]
    assert set(benchmark_config()["templates"]) == set(text["templates"])
