"""A benchmark's configuration is closed and exact; what cannot be used is named by its key."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from samequantity.domain.bases import Base, draw_bases
from samequantity.domain.benchmark import Benchmark, BenchmarkError, ParameterChoice, ParameterRange
from samequantity.domain.programs import DimensionError, Quantity
from samequantity.domain.templates import TemplateName
from samequantity.domain.units import METERS
from samequantity.domain.views import Family
from shipped import benchmark_config

Config = dict[str, Any]


def plan(config: Config, name: str = "combined_volume") -> Config:
    found: Config = config["templates"][name]
    return found


def put(*path: str, value: object) -> Callable[[Config], None]:
    """A change of the configuration: one entry, by its path below the templates."""

    def change(config: Config) -> None:
        for key in path[:-1]:
            config = config[key]
        config[path[-1]] = value

    return change


def drop(*path: str) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        for key in path[:-1]:
            config = config[key]
        del config[path[-1]]

    return change


VOLUME = ("templates", "combined_volume")
A = (*VOLUME, "parameters", "a")
UNIT = (*VOLUME, "families", "unit")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("sead", value=1), r"unknown key sead; known are answer_places, generator"),
        (drop("seed"), r"missing key seed"),
        (put("seed", value="20260725"), r"seed: .*'20260725'"),
        (put("seed", value=True), r"seed: .*True"),
        (put("answer_places", value=-1), r"answer_places: .*-1"),
        (put("templates", value=["rate_speed"]), r"templates: wanted is a mapping"),
        (put("templates", "volume", value={}), r"unknown template 'volume'; there are combined_volume, "),
        (put(*VOLUME, value=200), r"templates\.combined_volume: wanted is a mapping"),
        (put(*VOLUME, "base", value=200), r"templates\.combined_volume: unknown key base"),
        (drop(*VOLUME, "bases"), r"templates\.combined_volume: missing key bases"),
        (put(*VOLUME, "bases", value="200"), r"templates\.combined_volume\.bases: .*'200'"),
        (put(*VOLUME, "parameters", "c", value={}), r"templates\.combined_volume\.parameters: unknown key c"),
        (drop(*VOLUME, "parameters", "b"), r"templates\.combined_volume\.parameters: missing key b"),
        (put(*A, "too", value="1"), r"templates\.combined_volume\.parameters\.a: unknown key too"),
        (drop(*A, "step"), r"templates\.combined_volume\.parameters\.a: missing key step"),
        (put(*A, "from", value=0.25), r"templates\.combined_volume\.parameters\.a\.from: 0\.25 must stand in quotes"),
        (put(*A, "to", value=50), r"templates\.combined_volume\.parameters\.a\.to: 50 must stand in quotes"),
        (put(*A, "step", value="5e-2"), r"templates\.combined_volume\.parameters\.a\.step: '5e-2' is not a plain"),
        (put(*A, "step", value="1/20"), r"templates\.combined_volume\.parameters\.a\.step: '1/20' is not a plain"),
        (put(*A, "step", value="0"), r"templates\.combined_volume\.parameters\.a: the range from .* is empty"),
        (put(*A, "to", value="0.2"), r"templates\.combined_volume\.parameters\.a: the range from .* is empty"),
        (put(*A, "integers", value="no"), r"templates\.combined_volume\.parameters\.a: integers is true or false"),
        (
            put(*A, value={"from": "1", "to": "9", "step": "1", "integers": False}),
            r"templates\.combined_volume\.parameters\.a: the range from 1 to 9 by 1 holds integers only",
        ),
        (put(*A, value={"values": []}), r"templates\.combined_volume\.parameters\.a: no value is listed"),
        (put(*A, value={"values": "12"}), r"templates\.combined_volume\.parameters\.a: values is no list"),
        (put(*A, value={"values": [1.5]}), r"templates\.combined_volume\.parameters\.a\.values: 1\.5 must stand"),
        (put(*A, value={"values": ["1"], "step": "1"}), r"parameters\.a: unknown key step"),
        (put(*A, value="1"), r"templates\.combined_volume\.parameters\.a: wanted is a mapping"),
        (put(*VOLUME, "families", value=["unit"]), r"templates\.combined_volume\.families: wanted is a mapping"),
        (put(*VOLUME, "families", "roman", value={}), r"combined_volume\.families: unknown .* family 'roman'"),
        (put(*VOLUME, "families", "canonical", value={}), r"combined_volume\.families: unknown .* 'canonical'"),
        (put(*UNIT, value=200), r"templates\.combined_volume\.families\.unit: wanted is a mapping"),
        (put(*UNIT, "quotas", value=200), r"templates\.combined_volume\.families\.unit: unknown key quotas"),
        (put(*UNIT, "quota", value=201), r"templates\.combined_volume\.families\.unit\.quota: 201 of 200 bases"),
        (put(*UNIT, "quota", value=1.5), r"templates\.combined_volume\.families\.unit\.quota: .*1\.5"),
        (put(*UNIT, "rewrites", value=["a", "c"]), r"families\.unit\.rewrites: no parameter c"),
        (put(*UNIT, "rewrites", value="ab"), r"families\.unit\.rewrites: wanted is a list"),
        (put(*UNIT, "sub_unit", value="millilitres"), r"families\.unit\.sub_unit: unknown unit 'millilitres'"),
        (put(*UNIT, "sub_unit", value="meters"), r"families\.unit\.sub_unit: wanted is a unit of volume"),
        (drop(*UNIT, "sub_unit"), r"families\.unit\.sub_unit: wanted is a unit of volume"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_an_error_that_names_the_key(
    change: Callable[[Config], None], message: str
) -> None:
    config = benchmark_config()
    assert Benchmark.from_config(config)
    change(config)

    with pytest.raises(BenchmarkError, match=message):
        Benchmark.from_config(config)


def test_a_range_holds_exactly_its_steps() -> None:
    quarter = ParameterRange(first=Fraction(1, 2), last=Fraction(2), step=Fraction(1, 4), integers=False)
    thirds = ParameterRange(first=Fraction(0), last=Fraction(1), step=Fraction(1, 3), integers=True)
    cut = ParameterRange(first=Fraction(1), last=Fraction(29, 10), step=Fraction(1, 2), integers=True)

    assert [Fraction(text) for text in ("1/2", "3/4", "5/4", "3/2", "7/4")] == list(quarter.values())
    assert [quarter.at(position) for position in (2, 6)] == [None, None]
    assert [Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1)] == list(thirds.values())
    assert [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5, 2)] == list(cut.values())
    assert [Fraction(3)] == list(ParameterChoice(choices=(Fraction(3),)).values())


@pytest.mark.parametrize(
    ("first", "last", "step"), [("1", "1", "1/2"), ("1", "9", "1"), ("0", "4", "2"), ("1", "5/4", "1/2")]
)
def test_a_range_without_a_value_is_refused_before_anyone_draws_from_it(first: str, last: str, step: str) -> None:
    with pytest.raises(ValueError, match="integers only"):
        ParameterRange(first=Fraction(first), last=Fraction(last), step=Fraction(step), integers=False)


def test_a_base_checks_its_answer_and_its_unit() -> None:
    benchmark = Benchmark.from_config(benchmark_config())
    base = next(draw_bases(benchmark, TemplateName.COMBINED_VOLUME))
    facts = {name: getattr(base, name) for name in Base.__slots__}

    assert (Family.CANONICAL, Family.FRACTION, Family.UNIT) == base.families
    with pytest.raises(ValueError, match=r"combined_volume-0001: the answer .* is not what"):
        Base(**{**facts, "answer": base.answer + 1})
    with pytest.raises(DimensionError, match="combined_volume-0001: liters cannot be given in meters"):
        Base(**{**facts, "canonical_unit": METERS})
    lengths = {name: Quantity(value=quantity.value, unit=METERS) for name, quantity in base.parameters.items()}
    with pytest.raises(DimensionError):
        Base(**{**facts, "parameters": {**base.parameters, "a": lengths["a"]}})
