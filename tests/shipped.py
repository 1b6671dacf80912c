"""The benchmark as the project ships it, read and rendered once for all tests."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from samequantity.domain.benchmark import Benchmark
from samequantity.domain.wording import Wording
from samequantity.stages.generate import generate
from samequantity.stages.render import render

ROOT = Path(__file__).parents[1]

# Content digests of the two tables. Who changes the benchmark or its wording on purpose puts the new ones here (the
# failing tests print them) and names a new generator or prompt version in config/benchmark.yaml.
BASES_DIGEST = "2cd164776e0a35452d1d8cd83085e4f5c2783d3e83b4336bda4dc967afc4bb4c"
VIEWS_DIGEST = "c6530ad55fca789628ed6d2c34df96b78900306d85fd02443559dfd68226836b"


@cache
def _content(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def content(path: str) -> Any:
    """A YAML file of the project, as a copy that a test may change."""
    return copy.deepcopy(_content(path))


def benchmark_config() -> dict[str, Any]:
    return dict(content("config/benchmark.yaml"))


@cache
def benchmark() -> Benchmark:
    return Benchmark.from_config(benchmark_config())


@cache
def wording() -> Wording:
    return Wording.from_config(content("resources/wording.yaml"))


@cache
def bases() -> pl.DataFrame:
    return generate(benchmark())


@cache
def views() -> pl.DataFrame:
    return render(bases(), benchmark(), wording())
