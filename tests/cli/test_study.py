"""A finished study: what is stale after a change, what is damaged, and where everything comes from."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import samequantity as package
from commands import Ran, done, samequantity
from small_study import ANSWERS, PARSE, TOY, VIEWS, keys

SRC = Path(package.__file__).parents[1]

pytestmark = pytest.mark.usefixtures("study")


def test_a_finished_study_is_up_to_date_and_whole() -> None:
    assert re.search(r"^results/tiny: (\d+) of \1 files up to date$", done("status").out, re.MULTILINE)
    assert done("status").out == done("status", "tiny").out == done("status", "results/tiny").out
    count = done("status").out.split()[1]
    assert f"{count} files are what their manifests say.\n" == done("verify").out == done("verify", "results/tiny").out
    assert done("verify", ANSWERS).out == "1 files are what their manifests say.\n"


def run_from(sources: Path, *arguments: str) -> Ran:
    """The command with another copy of the sources, in a process of its own."""
    script = "from samequantity.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    return Ran(status=ran.returncode, out=ran.stdout, err=ran.stderr)


def edited(folder: Path, edit: Callable[[str], str], name: str = "stages/parse.py") -> Path:
    """A copy of src in which one module was edited."""
    sources = folder / "src"
    shutil.copytree(SRC, sources, ignore=shutil.ignore_patterns("__pycache__"))
    module = sources / "samequantity" / name
    before = module.read_text(encoding="utf-8")
    module.write_text(edit(before), encoding="utf-8")
    assert before != module.read_text(encoding="utf-8")
    return sources


def test_a_comment_changes_nothing(tmp_path: Path) -> None:
    sources = edited(
        tmp_path, lambda text: text.replace('"""Stage parse', '"""Read anew').replace("\n\n", "\n\n# Why.\n")
    )

    assert done("status").out == run_from(sources, "status").out
    assert "taken from the store" in run_from(sources, *PARSE).err


def test_a_changed_constant_names_its_module_and_undoing_it_costs_nothing(tmp_path: Path) -> None:
    sources = edited(tmp_path, lambda text: text.replace('text or ""', 'text or "FINAL: 1"'))
    before = Path(ANSWERS).read_bytes()
    lines = run_from(sources, "status").out.splitlines()

    assert lines[:-1] == [
        f"results/tiny/answers/{system}.parquet: changed: samequantity.stages.parse" for system in ("scripted", "toy")
    ]
    assert re.fullmatch(r"results/tiny: (\d+) of (\d+) files up to date", lines[-1])
    assert "computed" in run_from(sources, *PARSE).err
    assert "taken from the store" in done(*PARSE).err
    assert before == Path(ANSWERS).read_bytes()


def test_a_changed_parser_is_followed_downstream_and_compared(tmp_path: Path) -> None:
    """Now `final:` is the tag, too."""
    sources = edited(tmp_path, lambda text: text.replace('text or ""', '(text or "").replace("**final:**", "FINAL:")'))
    shutil.copy(ANSWERS, "before.parquet")
    assert run_from(sources, *PARSE).status == 0
    stale = run_from(sources, "status").out

    assert "results/tiny/audits/toy.parquet: made from other answers" in stale
    assert "results/tiny/answers/scripted.parquet: changed: samequantity.stages.parse" in stale
    assert "audits/scripted" not in stale
    out = done("diff", "before.parquet", ANSWERS).out.splitlines()
    moved = pl.read_parquet("before.parquet").filter(pl.col("status") == "format_error")
    asked = len(pl.read_parquet(ANSWERS))
    gained = int(pl.read_parquet(ANSWERS)["status"].eq("correct").sum())
    recovered = gained - int(pl.read_parquet("before.parquet")["status"].eq("correct").sum())
    assert 0 < recovered < len(moved)
    assert out[0] == f"{recovered} of {asked} outcomes differ."
    assert out[1].startswith(f"  toy: format_error → correct: {recovered} (")
    assert out[2] == "Metrics that moved:"
    change = 100 * recovered / asked
    assert out[3] == f"  toy: correctness: {gained - recovered}/{asked} → {gained}/{asked} (+{change:.2f} points)"
    assert any("orbit correctness" in line for line in out)


def test_equal_tables_have_no_difference() -> None:
    lines = ("parse", *VIEWS, "--responses", TOY, "--out", "answers.jsonl")
    done(*lines)

    assert done("diff", ANSWERS, ANSWERS).out == "The two tables are equal.\n"
    assert done("diff", ANSWERS, "answers.jsonl").out == "The two tables are equal.\n"
    shutil.copy("answers.jsonl", "bare.jsonl")
    assert done("diff", ANSWERS, "bare.jsonl").out.splitlines()[1:] == ["No metric moved."]


def test_tables_of_other_responses_are_not_compared() -> None:
    assert "only the old table holds" in samequantity("diff", ANSWERS, "results/tiny/answers/scripted.parquet").message


@pytest.mark.parametrize("offset", [3, 200, 1000, -5])
def test_a_flipped_byte_stops_the_reader_and_names_the_cure(offset: int) -> None:
    file = Path("results/tiny/views.parquet")
    content = bytearray(file.read_bytes())
    content[offset] ^= 1
    file.write_bytes(content)
    cure = "snakemake --cores all --forcerun render -- results/tiny/views.parquet"
    readers = [
        PARSE,
        ("verify",),
        ("verify", file),
        ("provenance", file),
        ("score", *VIEWS, "--answers", ANSWERS, "--audits", "results/tiny/audits/toy.parquet", "--out", "s.parquet"),
    ]
    for arguments in readers:
        message = samequantity(*arguments).message
        assert "results/tiny/views.parquet: its bytes have SHA-256" in message
        assert cure in message
    assert not Path("s.parquet").exists()


def test_a_manifest_of_other_rows_stops_the_reader() -> None:
    path = Path("results/tiny/views.manifest.json")
    content = json.loads(path.read_bytes())
    content["outputs"]["views.parquet"]["content"] = "0" * 64
    path.write_text(json.dumps(content), encoding="utf-8")

    assert "results/tiny/views.parquet: rows have content digest" in samequantity(*PARSE).message


def test_a_lost_manifest_stops_the_reader_in_a_study_and_not_elsewhere() -> None:
    shutil.copy("results/tiny/views.parquet", "views.parquet")
    Path("results/tiny/views.manifest.json").unlink()
    cure = "--forcerun render -- results/tiny/views.parquet"

    assert cure in samequantity(*PARSE).message
    assert cure in samequantity("verify").message
    assert cure in samequantity("verify", "results/tiny").message
    ran = done("parse", "--views", "views.parquet", "--responses", TOY, "--out", "answers.parquet")
    assert ran.err.count("views.parquet: no manifest beside it, taken as it is\n") == 1
    assert pl.read_parquet(ANSWERS).equals(pl.read_parquet("answers.parquet"))


def test_an_edited_manifest_stops_status_too() -> None:
    path = Path("results/tiny/views.manifest.json")
    path.write_text(
        path.read_text(encoding="utf-8").replace('"stage": "render"', '"stage": "rendered"'), encoding="utf-8"
    )

    assert "views.manifest.json: its key is" in samequantity("status").message


def test_an_unreadable_manifest_has_a_cure_and_hides_no_other_damage() -> None:
    manifest = Path("results/tiny/views.manifest.json")
    manifest.write_bytes(manifest.read_bytes()[:-9])
    Path("results/tiny/bases.parquet").unlink()
    message = samequantity("verify").message
    cure = "Rebuild it: snakemake --cores all --forcerun render -- results/tiny/views.manifest.json"

    assert re.search(rf"{manifest}: not a manifest of format 1 .*\. {cure}", message)
    assert "results/tiny/bases.parquet: missing, though its manifest is there. Rebuild it: " in message
    assert re.search(r"^2 of \d+ files are damaged\.$", message, re.MULTILINE)
    for command in (("status",), ("store", "gc"), ("provenance", ANSWERS)):
        assert cure in samequantity(*command).message


def test_files_that_lost_the_manifest_of_their_folder_are_named() -> None:
    Path("results/tiny/figures/figures.manifest.json").unlink()
    missing = "results/tiny/figures/correctness.svg: its manifest correctness.manifest.json is missing"

    assert missing in samequantity("verify").message
    assert missing in done("status").out


def test_a_table_that_a_failed_job_removed_is_not_up_to_date() -> None:
    """Snakemake removes the outputs of a job that fails, and leaves the record of an earlier run."""
    Path(ANSWERS).unlink()
    Path(ANSWERS).with_suffix(".manifest.json").unlink()
    lost, summary = done("status").out.splitlines()
    found = re.fullmatch(r"results/tiny: (\d+) of (\d+) files up to date", summary)

    assert lost == f"{ANSWERS}: missing with its manifest"
    assert found is not None
    assert int(found[1]) == int(found[2]) - 1


@pytest.mark.parametrize(("system", "role"), [("toy", "answers"), ("scripted", "reference_answers")])
def test_a_comparison_is_stale_when_either_system_is_answered_anew(system: str, role: str) -> None:
    responses = TOY if system == "toy" else f"results/tiny/responses/{system}.parquet"
    other = Path("elsewhere/other.jsonl")
    frame = pl.read_ndjson(TOY) if system == "toy" else pl.read_parquet(responses)
    frame.with_columns(text=pl.lit("nothing")).write_ndjson(other)
    done("parse", *VIEWS, "--responses", other, "--out", f"results/tiny/answers/{system}.parquet")
    stale = [line for line in done("status").out.splitlines() if "/comparisons/" in line]

    assert [f"results/tiny/comparisons/toy/scripted.parquet: made from other {role}"] == stale


def test_provenance_leads_back_to_the_sources() -> None:
    out = done("provenance", "results/tiny/figures/correctness.svg").out
    stages = re.findall(r"^( *)stage (\w+), key ([0-9a-f]{12})…", out, re.MULTILINE)

    assert stages[0][1] == "figures"
    assert {"figures", "collect", "score", "bootstrap", "audit", "parse", "infer", "render", "generate"} == {
        stage for _, stage, _ in stages
    }
    assert {key for _, _, key in stages} <= {key[:12] for key in keys().values()}
    assert "responses: " in out
    assert "(from outside the study)" in out
    assert "draws=40" in out


def test_what_has_no_manifest_has_no_provenance() -> None:
    assert f"{TOY}: no manifest beside it" in samequantity("provenance", TOY).message
    assert f"{TOY}: no manifest beside it" in samequantity("verify", TOY).message
    assert "elsewhere: holds no file with a manifest" in samequantity("verify", "elsewhere").message
    assert "does not exist" in samequantity("provenance", "gone.parquet").message


def test_a_study_that_is_not_there_is_named() -> None:
    assert "results/nope: no such study" in samequantity("status", "nope").message


@pytest.mark.parametrize("command", ["status", "verify"])
def test_a_folder_without_results_is_no_project(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert "results: no such folder. Run it from the project's root" in samequantity(command).message


def test_results_without_a_study_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()

    assert done("status").out == ""
    assert done("verify").out == "0 files are what their manifests say.\n"
