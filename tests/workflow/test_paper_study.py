"""The shipped configuration is the paper's study; without a GPU it stops before it costs anything."""

from pathlib import Path

from projects import make_project

FIVE = ["qwen3.5-4b-q4", "qwen3.5-9b-q4", "qwen3.5-9b-q8", "gpt-oss-20b", "mistral-small-4"]


def test_without_a_gpu_the_papers_study_is_one_message_and_no_byte_is_fetched(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")

    run = project.run("snakemake", "--cores", "1")

    assert run.status != 0
    assert 1 == run.output.count("This study needs a GPU that this machine cannot give: " + ", ".join(FIVE))
    assert "make demo" in run.output
    assert "snakemake --executor slurm" in run.output
    assert "Traceback" not in run.output
    assert not (project.folder / "results").exists()
    assert not (project.folder / "resources/models").exists()


def test_a_dry_run_of_the_papers_study_needs_no_gpu(tmp_path: Path) -> None:
    run = make_project(tmp_path / "project").run("snakemake", "-n")

    assert (0, True) == (run.status, {"fetch", "infer", "ask_again", "tokens", "tables"} <= run.jobs())
