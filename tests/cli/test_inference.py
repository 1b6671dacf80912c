"""Shards of an inference, asked of an engine that answers from a script."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import small_study
from commands import done, samequantity
from small_study import VIEWS

pytestmark = pytest.mark.usefixtures("study")


def test_any_number_of_shards_gives_the_same_responses() -> None:
    small_study.infer("1/1", "--journal", "journal", "--store", "nowhere", out="whole.parquet")
    done("merge", *VIEWS, "--out", "merged.parquet", "whole.parquet")

    assert Path("results/tiny/responses/scripted.parquet").read_bytes() == Path("merged.parquet").read_bytes()
    stored = json.loads(Path("results/tiny/responses/scripted.manifest.json").read_bytes())
    assert stored["key"] == json.loads(Path("merged.manifest.json").read_bytes())["key"]


def test_responses_may_be_json_lines() -> None:
    small_study.infer("1/1", "--journal", "journal", out="whole.jsonl")
    done("merge", *VIEWS, "--out", "merged.jsonl", "whole.jsonl", "--store", "fresh")
    small_study.infer("1/1", "--journal", "journal", "--store", "fresh", out="again.parquet")
    done("parse", *VIEWS, "--responses", "merged.jsonl", "--out", "answers.parquet")

    assert pl.read_parquet("results/tiny/answers/scripted.parquet").equals(pl.read_parquet("answers.parquet"))


def test_shards_that_do_not_belong_together_are_refused() -> None:
    one, two = (f"results/tiny/parts/scripted/{number}-of-2.parquet" for number in (1, 2))
    merge = ("merge", *VIEWS, "--out", "merged.parquet")
    small_study.infer("2/2", "--repeat", "1", out="repeat.parquet")

    assert "are not one of each of 2" in samequantity(*merge, one, one).message
    assert "are not one of each of 1" in samequantity(*merge, one).message
    assert "repeat.parquet: made with other settings" in samequantity(*merge, one, "repeat.parquet").message
    assert "not a shard" in samequantity(*merge, one, "results/tiny/responses/scripted.parquet").message
    shutil.copy(two, "bare.parquet")
    assert "bare.parquet: not a shard" in samequantity(*merge, one, "bare.parquet").message
    done("merge", *VIEWS, "--out", "merged.parquet", two, one)


@pytest.mark.parametrize("part", ["0/1", "2/1", "1", "1/0", "01/1", "1/2/3", "a/b", "-1/2", "1/1 "])
def test_a_part_is_a_number_of_a_count(part: str) -> None:
    ran = samequantity(
        *("infer", *VIEWS, "--system", "s", "--model", "elsewhere/script.json", "--journal", "j", "--out", "x.parquet"),
        *("--settings", json.dumps(small_study.SETTINGS), f"--part={part}"),
    )

    assert f"--part {part}: wanted is number/count" in ran.message
