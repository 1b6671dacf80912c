"""Killed jobs, flipped bytes, mistyped keys: what a user sees and what is lost."""

import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from projects import Project, make_project

SLOW = {"max_tokens": 400, "context": 1024}
"""A model that never ends its turn: some hundredths of a second a prompt, long enough to be killed in the middle."""


def flip(path: Path) -> None:
    """Flip one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def rot(path: Path) -> None:
    """Flip one bit as a bad disk does: the file looks as old as before, so Snakemake sees nothing."""
    before = path.stat()
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def processes(folder: Path) -> list[int]:
    """The inference jobs that run in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            inside = (process / "cwd").resolve() == folder.resolve()
            command = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if inside and b"infer" in command and any(part.endswith(b"samequantity") for part in command):
            found.append(int(process.name))
    return found


def wait_for_responses(project: Project, count: int) -> None:
    """Until the journal holds so many."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        files = list(project.path("journal").rglob("*.jsonl"))
        if sum(file.read_bytes().count(b"\n") for file in files) >= count:
            return
        time.sleep(0.01)
    pytest.fail("the inference job did not get that far")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The slow study after a run that nothing disturbed."""
    project = make_project(tmp_path_factory.mktemp("undisturbed") / "project", **SLOW)
    assert 0 == project.snakemake().status
    return project


def goal(victim: str) -> list[str]:
    """The whole study for one victim; for the others what inference makes, which decides the rest."""
    return [] if victim == "Snakemake and the job" else ["--", "results/test/responses/tiny.parquet"]


@pytest.mark.parametrize("victim", ["the job", "Snakemake and the job", "Snakemake alone"])
def test_a_killed_run_goes_on_where_it_was(victim: str, undisturbed: Project, tmp_path: Path) -> None:
    """SIGKILL loses at most the response in flight, and the tables are those of an undisturbed run."""
    killed = make_project(tmp_path / "killed", **SLOW)
    running = subprocess.Popen(
        killed.command(*goal(victim)),
        cwd=killed.folder,
        env=killed.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    wait_for_responses(killed, 3)
    jobs = processes(killed.folder)
    assert jobs
    if victim != "the job":
        running.kill()
    if victim != "Snakemake alone":
        for job in jobs:
            os.kill(job, signal.SIGKILL)
    running.wait(timeout=60)
    kept = set(killed.journalled_whole())

    if victim != "the job":
        assert 0 == killed.snakemake("--unlock").status
    again = killed.snakemake("--rerun-incomplete", *goal(victim))

    assert 0 == again.status, again.output
    requests = killed.journalled()
    assert len(set(requests)) == len(requests)
    assert kept <= set(requests)
    made = killed.digests()
    assert made.items() <= undisturbed.digests().items()
    assert goal(victim) or made == undisturbed.digests()


@pytest.mark.parametrize("table", ["bases.parquet", "responses/tiny.parquet"])
def test_a_flipped_byte_in_a_table_is_noticed_and_the_named_command_rebuilds_it(table: str, project: Project) -> None:
    before = project.digests()
    flip(project.path(table))

    failed = project.snakemake()

    assert 0 != failed.status
    message = next(line for line in failed.output.splitlines() if f"results/test/{table}: its bytes have" in line)
    assert "its manifest says" in message
    command = re.search(r"Rebuild it: (snakemake .+)", failed.output)
    assert command is not None
    rebuilt = project.run(*shlex.split(command[1]))
    assert 0 == rebuilt.status, rebuilt.output
    assert project.digests().items() <= before.items()
    assert 0 == project.run("samequantity", "verify", str(project.path(table))).status


def test_a_flipped_byte_in_the_model_is_noticed_before_it_answers(project: Project) -> None:
    # The file in the models folder is a link to the one that the projects share.
    model = project.folder / "resources/models/tiny-model.gguf"
    content = model.read_bytes()
    model.unlink()
    model.write_bytes(content)
    flip(model)

    failed = project.snakemake("--forcerun", "infer")

    assert 0 != failed.status
    assert "resources/models/tiny-model.gguf: SHA-256" in failed.output
    assert "samequantity models fetch tiny" in failed.output
    assert "Traceback" not in failed.output


def test_a_flipped_byte_in_a_result_does_not_reach_the_store(project: Project) -> None:
    flip(project.path("answers/tiny.parquet"))

    assert 0 == project.run("samequantity", "verify", "results/store").status
    assert 0 != project.run("samequantity", "verify").status


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("complete_orbit_only", "true", "complete_orbit_only"),
        ("study", "store", "store"),
        ("systems", "[tyni]", "tyni"),
        ("benchmark", "config/nope.yaml", "benchmark: no such file: config/nope.yaml"),
        ("bootstrap", "{seed: 1, drawz: 5}", "drawz"),
        ("comparisons", "[{system: tiny, reference: tyni}]", "comparisons: no tyni in the study's systems"),
        ("comparisons", "[{system: tiny, reference: tiny}]", "comparisons: tiny with itself"),
        ("comparisons", "[{system: tiny, refrence: tiny}]", "refrence"),
    ],
)
def test_a_mistyped_key_is_named(key: str, value: str, named: str, project: Project) -> None:
    failed = project.snakemake("-n", "--config", f"{key}={value}")

    assert 0 != failed.status
    assert named in failed.output


def test_a_mistyped_engine_setting_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", batsch=3)

    failed = project.snakemake()

    assert 0 != failed.status
    assert "unknown setting 'batsch' (did you mean batch?)" in failed.output
    assert "Traceback" not in failed.output


def test_a_job_that_failed_is_made_up_for(project: Project) -> None:
    """Its output is gone then, but what was made from the old one is there."""
    project.edit("src/samequantity/stages/parse.py", "value = None if", "value = None if False or")
    rot(project.path("views.parquet"))
    assert 0 != project.snakemake().status
    assert not project.path("answers/tiny.parquet").exists()

    rot(project.path("views.parquet"))
    again = project.snakemake()

    assert 0 == again.status
    assert {"parse", "audit", "score", "bootstrap", "tables", "figures"} <= again.jobs()
    assert "results/test: " in project.run("samequantity", "status").output.splitlines()[0]


def test_a_table_that_was_deleted_comes_back(project: Project) -> None:
    before = project.digests()
    project.path("responses/tiny.parquet").unlink()

    assert 0 == project.snakemake().status
    assert before == project.digests()


def test_another_studys_table_is_not_made_with_this_ones_settings(project: Project) -> None:
    refused = project.snakemake("--", "results/other/bases.parquet")

    assert 0 != refused.status
    assert not (project.folder / "results/other").exists()


def test_the_report_is_written_without_network(project: Project) -> None:
    assert 0 == project.run("snakemake", "--configfile", "config/test.yaml", "--report", "report.html").status
    assert "correctness" in (project.folder / "report.html").read_text()


def test_a_failed_run_says_how_to_go_on(project: Project) -> None:
    flip(project.path("views.parquet"))

    failed = project.snakemake("--forcerun", "parse")

    assert "snakemake --cores all --configfile config/test.yaml --rerun-incomplete" in failed.output


def test_what_a_failed_run_says_is_the_same_study(project: Project) -> None:
    (project.folder / "config/more.yaml").write_text("complete_orbits_only: true\n")
    given = ("--configfile", "config/test.yaml", "config/more.yaml", "--config", "study=mine", "systems=[tiny]")
    (project.folder / "resources/wording.yaml").write_text("nothing: of use\n")

    failed = project.run("snakemake", "--cores", "2", *given)

    hint = re.search(r"Go on with: +(snakemake .+)", failed.output)
    assert hint is not None
    assert "results/mine/views.parquet" in project.run(*shlex.split(hint[1]), "-n").output
