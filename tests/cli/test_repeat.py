"""Responses that were asked again are compared by a command, and the comparison reaches the study's tables."""

from pathlib import Path

import polars as pl
import pytest

import small_study
from commands import Ran, done, samequantity

pytestmark = pytest.mark.usefixtures("study")

RESPONSES = "results/tiny/responses/scripted.parquet"
AGAIN = "results/tiny/again/scripted.parquet"
OUT = "results/tiny/repeats/scripted.parquet"


def repeat(again: str, *options: str, out: str = OUT) -> Ran:
    tables = (*small_study.VIEWS, "--responses", RESPONSES, "--again", again)
    return samequantity("repeat", *tables, "--out", out, "--store", "results/store", *options)


def test_a_second_run_is_compared_kept_and_shown() -> None:
    small_study.infer("1/2", "--repeat", "1", out=AGAIN)
    asked_again = pl.read_parquet(AGAIN).height
    assert "computed" in repeat(AGAIN).err
    assert "taken from the store" in repeat(AGAIN).err
    done("collect", OUT, "--out", "results/tiny/repeats.parquet")
    inputs = ("--scores", "results/tiny/scores.parquet", "--intervals", "results/tiny/intervals.parquet")
    done("tables", *inputs, "--repeats", "results/tiny/repeats.parquet", "--out", "tables")
    table = Path("tables/repeat_check.md").read_text(encoding="utf-8")

    share = f"{asked_again}/{asked_again}"
    assert f"| scripted | scripted | {asked_again} | {share} | {share} | {share} |" in table
    assert "Not asked again: toy." in table
    assert 0 == pl.read_parquet("tables/repeat_differences.parquet").height
    assert "up to date" in done("status", "tiny").out.splitlines()[0]
    assert "other_engine=False" in done("provenance", OUT).out


def test_a_table_is_not_compared_with_itself() -> None:
    assert "the same file as --responses; ask again with infer --repeat 1" in repeat(RESPONSES).message


def test_responses_without_what_is_compared_are_one_message() -> None:
    assert "toy.jsonl: missing column system, order, prompt_sha256, reasoning" in repeat(small_study.TOY).message


def test_another_engines_prompts_are_accepted_when_asked_for() -> None:
    other = pl.read_parquet(RESPONSES).with_columns(pl.lit("server").alias("system"), prompt_sha256=pl.lit("0"))
    other.write_parquet("other.parquet")

    assert "pass --other-engine" in repeat("other.parquet").message
    assert repeat("other.parquet", "--other-engine", out="compared.jsonl").status == 0
    assert '"system":"scripted"' in (text := Path("compared.jsonl").read_text(encoding="utf-8"))
    assert '"again":"server"' in text
