"""No command writes over a table that it reads."""

import json
import shutil
from pathlib import Path

import pytest

import small_study
from commands import samequantity

pytestmark = pytest.mark.usefixtures("study")

VIEWS = "results/tiny/views.parquet"
RESPONSES = "results/tiny/responses/scripted.parquet"
ANSWERS = "results/tiny/answers/scripted.parquet"
SCORES = "results/tiny/scores/scripted.parquet"


@pytest.mark.parametrize(
    ("command", "source"),
    [
        (("parse", "--views", VIEWS, "--responses", "mine.parquet", "--out", "mine.parquet"), RESPONSES),
        (("parse", "--views", "mine.parquet", "--responses", RESPONSES, "--out", "./mine.parquet"), VIEWS),
        (("audit", "--views", VIEWS, "--responses", RESPONSES, "--answers", "mine.parquet", "--out", "link"), ANSWERS),
        (("collect", "mine.parquet", "--out", "mine.parquet"), SCORES),
        (
            ("import", "--views", VIEWS, "--transcript", "mine.parquet", "--system", "s", "--out", "mine.parquet"),
            RESPONSES,
        ),
        (("merge", "--views", VIEWS, "mine.parquet", "--out", "mine.parquet"), RESPONSES),
    ],
)
def test_an_output_that_is_an_input_is_refused_and_the_file_stays(command: tuple[str, ...], source: str) -> None:
    shutil.copy(source, "mine.parquet")
    Path("link.parquet").symlink_to("mine.parquet")
    before = Path("mine.parquet").read_bytes()

    ran = samequantity(*(word.replace("link", "link.parquet") for word in command))

    assert ran.status == 1
    assert before == Path("mine.parquet").read_bytes()
    if command[0] != "merge":  # which first misses the manifest of a shard
        assert "which would overwrite it" in ran.message


def test_asking_does_not_write_over_the_views() -> None:
    shutil.copy(VIEWS, "mine.parquet")
    ran = samequantity(
        *("infer", "--views", "mine.parquet", "--system", "s", "--model", "elsewhere/script.json", "--journal", "j"),
        *("--settings", json.dumps(small_study.SETTINGS), "--out", "mine.parquet"),
    )

    assert "mine.parquet: is read by this command" in ran.message
