"""What a study's systems ran on, and what there is to compute on."""

from pathlib import Path

import pytest

from commands import done, samequantity

RESPONSES = "results/tiny/responses/scripted.parquet"
PAGE = ("runtime", "--runs", "results/tiny/parts", "--out", "runtime.md")

pytestmark = pytest.mark.usefixtures("study")


def test_the_page_tells_each_system_from_its_manifest_and_its_runs() -> None:
    done(*PAGE, RESPONSES)

    text = Path("runtime.md").read_text()
    assert "## scripted" in text
    assert "| engine | scripted |" in text.splitlines()
    assert "| threads | 1 |" in text.splitlines()
    assert "Differs from the paper's runtime" in text


def test_a_table_without_a_manifest_and_a_broken_record_are_messages() -> None:
    Path("bare.parquet").write_bytes(Path(RESPONSES).read_bytes())
    assert "bare.parquet: no manifest beside it" in samequantity(*PAGE, "bare.parquet").message

    record = next(Path("results/tiny/parts/scripted").glob("*.run.json"))
    for content in ("{", "[]", '{"inference": []}', '{"engine": {"devices": [1]}}', "[" * 100_000):
        record.write_text(content)
        assert f"{record}: not a record of a run" in samequantity(*PAGE, RESPONSES).message


def test_only_responses_have_a_runtime_and_each_system_once() -> None:
    table = RESPONSES.replace("/responses/", "/answers/")

    assert f"{table}: not a table of responses; it has no column prompt_sha256" in samequantity(*PAGE, table).message
    assert "scripted: given twice" in samequantity(*PAGE, RESPONSES, RESPONSES).message


def test_devices_are_listed_and_one_that_is_missing_fails() -> None:
    assert "CPU" in done("devices").out
    assert "CPU" in done("devices", "--require", "cpu").out
    message = samequantity("devices", "--require", "cuda").message
    assert "What is wanted is cuda, but this build" in message
    assert "settings" not in message
    assert "gpu_layers" not in message
