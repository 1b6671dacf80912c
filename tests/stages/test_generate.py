"""The benchmark is the protocol's, the same everywhere, and nothing in it depends on what does not concern it."""

import os
import subprocess
import sys
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import polars as pl
import pytest

from samequantity.domain.benchmark import Benchmark, BenchmarkError
from samequantity.domain.programs import Quantity
from samequantity.domain.templates import TEMPLATES, Template, TemplateName
from samequantity.domain.views import Family
from samequantity.errors import SettingsError
from samequantity.stages.generate import SCHEMA, generate
from samequantity.store.digests import content_digest
from shipped import BASES_DIGEST, ROOT, bases, benchmark, benchmark_config, content

SIZES = {
    "combined_volume": 200,
    "difference_distance": 200,
    "repeated_length": 1000,
    "fraction_of_capacity": 1000,
    "rate_speed": 200,
    "large_volume_addition": 1000,
}
QUOTAS = {
    "combined_volume": {"fraction": 200, "unit": 200},
    "difference_distance": {"fraction": 200, "unit": 200},
    "repeated_length": {"fraction": 300, "words": 1000, "unit": 400},
    "fraction_of_capacity": {"fraction": 300, "percent": 1000},
    "rate_speed": {"unit": 200},
    "large_volume_addition": {"scientific": 1000},
}


def values(row: dict[str, Any]) -> dict[str, Fraction]:
    return {entry["name"]: Fraction(entry["value"]) for entry in row["parameters"]}


def of_template(frame: pl.DataFrame, name: str) -> list[dict[str, Any]]:
    return frame.filter(pl.col("template") == name).to_dicts()


def test_the_bytes_are_the_same_in_every_process_and_on_every_machine() -> None:
    """Two processes with different hash seeds, and the digest of the first release."""
    program = (
        "from shipped import bases, views\n"
        "from samequantity.store.digests import content_digest\n"
        "print(content_digest(bases()), content_digest(views()))"
    )
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2026")
    }

    assert 1 == len(digests)
    assert BASES_DIGEST == digests.pop().split()[0] == content_digest(bases())


def test_there_are_3600_bases_by_template_named_in_order() -> None:
    assert SCHEMA == bases().schema
    assert [f"{name}-{number:04}" for name, size in SIZES.items() for number in range(1, size + 1)] == bases()[
        "base_id"
    ].to_list()
    assert [name for name, size in SIZES.items() for _ in range(size)] == bases()["template"].to_list()


@pytest.mark.parametrize("name", SIZES)
def test_the_first_bases_by_identifier_are_eligible(name: str) -> None:
    for number, row in enumerate(of_template(bases(), name), start=1):
        wanted = [str(family) for family in Family if number <= QUOTAS[name].get(family, 0)]

        assert ["canonical", *wanted] == row["families"]


@pytest.mark.parametrize("name", SIZES)
def test_no_argument_tuple_comes_twice(name: str) -> None:
    tuples = [tuple(values(row).values()) for row in of_template(bases(), name)]

    assert SIZES[name] == len(set(tuples))


def short(template: Template, chosen: dict[str, Fraction]) -> bool:
    """Whether the answer has at most 6 decimal places."""
    parameters = {key: Quantity(value=value, unit=template.units[key]) for key, value in chosen.items()}
    return 10**6 % template.program.evaluate(parameters).to(template.answer_unit).value.denominator == 0


@pytest.mark.parametrize("name", SIZES)
def test_there_are_20_times_as_many_possible_tuples_as_bases(name: str) -> None:
    """Counted: every tuple of the ranges that the template admits and whose answer is short enough."""
    template, plan = TEMPLATES[TemplateName(name)], benchmark().templates[TemplateName(name)]
    ranges = {key: list(plan.ranges[key].values()) for key in template.units}
    if name == "large_volume_addition":  # every tuple of integers is admitted, and its sum is an integer
        assert prod(len(choices) for choices in ranges.values()) >= 20 * SIZES[name]
        return
    tuples = (dict(zip(ranges, chosen, strict=True)) for chosen in product(*ranges.values()))
    possible = sum(template.admits(chosen) and short(template, chosen) for chosen in tuples)

    assert possible >= 20 * SIZES[name]


@pytest.mark.parametrize("name", SIZES)
def test_a_row_says_program_parameters_and_units(name: str) -> None:
    row = of_template(bases(), name)[0]
    programs = {
        "combined_volume": ("add(a, b)", ["a liters", "b liters"], "volume", "liters"),
        "difference_distance": ("subtract(a, b)", ["a kilometers", "b kilometers"], "length", "kilometers"),
        "repeated_length": ("multiply(n, a)", ["n dimensionless", "a meters"], "length", "meters"),
        "fraction_of_capacity": ("take(f, c)", ["f dimensionless", "c liters"], "volume", "liters"),
        "rate_speed": ("divide(d, h)", ["d kilometers", "h hours"], "speed", "km/h"),
        "large_volume_addition": ("add(a, b)", ["a liters", "b liters"], "volume", "liters"),
    }
    parameters = [f"{entry['name']} {entry['unit']}" for entry in row["parameters"]]

    assert programs[name] == (row["program"], parameters, row["dimension"], row["canonical_unit"])


def test_every_answer_is_what_the_operation_gives() -> None:
    operations = {
        "combined_volume": lambda a, b: a + b,
        "difference_distance": lambda a, b: a - b,
        "repeated_length": lambda n, a: n * a,
        "fraction_of_capacity": lambda f, c: f * c,
        "rate_speed": lambda d, h: d / h,
        "large_volume_addition": lambda a, b: a + b,
    }
    for row in bases().to_dicts():
        answer = operations[row["template"]](**values(row))

        assert str(answer) == row["answer"]
        assert answer > 0
        assert (answer * 10**6).denominator == 1, "a decimal of at most 6 places"


def integer(value: Fraction) -> bool:
    return value.denominator == 1


@pytest.mark.parametrize("name", SIZES)
def test_every_base_meets_the_constraints_of_its_template(name: str) -> None:
    """All of them, not only the eligible ones."""
    for row in of_template(bases(), name):
        given = values(row)
        for key in ("a", "b", "f") if name != "large_volume_addition" else ():
            if key in given:
                assert not integer(given[key]), "what the fraction family rewrites is never an integer"
                assert 1000 % given[key].denominator == 0
                assert given[key] > 0
        if name == "difference_distance":
            assert given["a"] > given["b"]
        elif name == "repeated_length":
            assert integer(given["n"])
            assert 2 <= given["n"] <= 12
        elif name == "fraction_of_capacity":
            assert 0 < given["f"] < 1
            assert integer(given["f"] * 1000)
        elif name == "rate_speed":
            assert given["h"] > 0
            assert integer(given["d"] * 1000)
        elif name == "large_volume_addition":
            assert all(integer(value) and value >= 10_000 for value in given.values())


def test_every_integer_multiplier_occurs() -> None:
    assert set(range(2, 13)) == {values(row)["n"] for row in of_template(bases(), "repeated_length")}


@pytest.mark.parametrize("change", ["reordered", "one alone", "another one larger"])
def test_a_template_draws_from_a_stream_of_its_own(change: str) -> None:
    config = benchmark_config()
    if change == "reordered":
        config["templates"] = dict(reversed(config["templates"].items()))
    elif change == "one alone":
        config["templates"] = {"rate_speed": config["templates"]["rate_speed"]}
    else:
        config["templates"]["combined_volume"]["bases"] = 500
    found = generate(Benchmark.from_config(config))

    for name in config["templates"]:
        assert of_template(bases(), name) == of_template(found, name)[: SIZES[name]]


@pytest.mark.parametrize(("key", "value"), [("seed", 20260726), ("generator", "0.2.1")])
def test_another_seed_or_generator_gives_other_bases(key: str, value: object) -> None:
    found = generate(Benchmark.from_config({**benchmark_config(), key: value}))

    assert content_digest(found) != BASES_DIGEST
    for name in SIZES:
        assert of_template(bases(), name) != of_template(found, name)


def test_the_demo_takes_whole_orbits_of_the_full_benchmark() -> None:
    sample = content("config/demo.yaml")["sample"]
    found = generate(benchmark(), sample)
    families = [family for row in found.to_dicts() for family in row["families"]]

    assert set(SIZES) == set(sample)
    for name, count in sample.items():
        assert of_template(bases(), name)[:count] == of_template(found, name)
    assert 270 <= len(families) <= 330, "about 300 prompts"
    assert all(families.count(family) >= 25 for family in Family)


def test_a_template_that_a_sample_does_not_name_is_left_out() -> None:
    assert ["rate_speed-0001", "rate_speed-0002"] == generate(benchmark(), {"rate_speed": 2})["base_id"].to_list()
    assert generate(benchmark(), {}).is_empty()
    assert SCHEMA == generate(benchmark(), {}).schema


@pytest.mark.parametrize("count", [-1, 2.5, "8", None, True])
def test_a_sample_that_is_no_number_of_bases_is_refused_by_name(count: object) -> None:
    with pytest.raises(SettingsError, match="rate_speed"):
        generate(benchmark(), {"rate_speed": count})  # type: ignore[dict-item]


def test_too_few_tuples_are_an_error_that_names_the_template() -> None:
    config = benchmark_config()
    config["templates"]["rate_speed"]["parameters"]["d"] = {"values": ["20", "30"]}
    with pytest.raises(BenchmarkError, match=r"templates\.rate_speed: the ranges hold too few tuples for 200 bases"):
        generate(Benchmark.from_config(config))


def test_an_answer_that_needs_more_places_is_drawn_again() -> None:
    config = benchmark_config()
    config["templates"] = {"rate_speed": config["templates"]["rate_speed"]}
    config["templates"]["rate_speed"]["parameters"]["h"] = {"values": ["3", "7", "1.6"]}
    found = generate(Benchmark.from_config({**config, "answer_places": 2}))

    assert all((Fraction(answer) * 100).denominator == 1 for answer in found["answer"])
    drawn = [values(row) for row in found.to_dicts()]
    assert {Fraction(3), Fraction(8, 5)} <= {given["h"] for given in drawn}, (
        "thirds occur where they divide the distance"
    )
    assert all(integer(given["d"] / 2) for given in drawn if given["h"] == Fraction(8, 5)), "1/1.6 has three places"
