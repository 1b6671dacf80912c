"""Every worked case comes out as it says, from the functions and from the commands, and none takes long."""

import json
import time
from pathlib import Path

import polars as pl
import pytest

from commands import done
from samequantity.domain.answers import judge
from samequantity.domain.rewriting import audit
from samequantity.domain.verdicts import Status
from worked_cases import Outcome, WorkedCase, worked_cases

CASES = list(worked_cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_worked_case_comes_out_as_it_says(case: WorkedCase) -> None:
    text, started = case.text, time.process_time()

    strict = judge(text, case.finish_reason, case.question)
    audited = audit(text, case.finish_reason, case.question)
    spent = time.process_time() - started

    assert case.strict == Outcome.of(strict)
    if strict.status is Status.CORRECT:
        assert case.audited == case.strict, "a strict success is carried over"
        assert case.magnitude_k is None
    else:
        assert case.audited == Outcome.of(audited.verdict)
        assert case.magnitude_k == audited.magnitude_k
    # Some 20 ns a character are needed; what is quadratic takes minutes on these texts.
    assert spent < 0.5 + 1e-6 * len(text), f"{spent:.2f} s for {len(text):,} characters"


def test_the_cases_cover_every_outcome_and_the_hazards() -> None:
    assert 154 == len({case.id for case in CASES})
    assert {str(status) for status in Status} == {case.strict.status for case in CASES}
    assert any(len(case.text) == 50_000_000 for case in CASES if case.hazard)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_the_commands_agree_on_files_that_someone_else_wrote(suffix: str, tmp_path: Path) -> None:
    """Only the columns that a stage reads are there; texts of up to 50 MB pass through both kinds of files."""
    views = [
        {"view_id": case.id, "dimension": case.dimension, "canonical_unit": case.unit, "expected": str(case.expected)}
        for case in CASES
    ]
    responses = [{"view_id": case.id, "text": case.text, "finish_reason": case.finish_reason} for case in CASES]
    _write(tmp_path / f"views.{suffix}", views)
    _write(tmp_path / f"responses.{suffix}", responses)

    tables = {name: tmp_path / f"{name}.{suffix}" for name in ("views", "responses", "answers", "audits")}
    read = ("--views", tables["views"], "--responses", tables["responses"])
    done("parse", *read, "--out", tables["answers"])
    done("audit", *read, "--answers", tables["answers"], "--out", tables["audits"])
    answers, audits = _read(tables["answers"]), _read(tables["audits"])

    assert [case.id for case in CASES] == [row["view_id"] for row in answers] == [row["view_id"] for row in audits]
    assert {"responses"} == {row["system"] for row in answers} == {row["system"] for row in audits}
    for case, answer, audited in zip(CASES, answers, audits, strict=True):
        assert case.strict == Outcome.from_row(answer), case.id
        assert _text(case.strict.value) == answer["value"], case.id
        assert case.audited == Outcome.from_row(audited), case.id
        assert _text(case.audited.value) == audited["value"], case.id
        assert case.magnitude_k == audited["magnitude_k"], case.id
        recovered = case.strict.status != "correct" and case.audited.status == "correct"
        assert recovered is audited["recovered"], case.id


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    if path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _read(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        return pl.read_parquet(path).to_dicts()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
