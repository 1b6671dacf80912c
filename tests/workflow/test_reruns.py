"""What runs again, and what does not, after a change."""

import shutil
from pathlib import Path

import yaml
from projects import SYSTEM, VIEWS, Project, make_project

ALL = {
    *("generate", "render", "fetch", "infer", "merge", "runtime", "parse", "audit", "score", "bootstrap"),
    *("collect", "tables"),
}
AFTER_PARSE = {"parse", "audit", "score", "bootstrap", "collect", "tables", "figures"}
RESPONSES = "results/test/responses/tiny.parquet"
PARSE = "src/samequantity/stages/parse.py"
CHANGE = ("value = None if verdict.value is None", "value = None if verdict.value in (None, 0)")


def test_a_fresh_project_runs_every_stage(finished: Project) -> None:
    assert VIEWS == len(finished.journalled())
    assert {"correctness.svg", "correctness.png"} <= {path.name for path in finished.path("figures").iterdir()}
    assert {"correctness.csv", "correctness.md"} <= {path.name for path in finished.path("tables").iterdir()}


def test_a_dry_run_of_a_fresh_project_lists_every_stage(tmp_path: Path) -> None:
    assert ALL | {"figures"} == make_project(tmp_path / "project").snakemake("-n").jobs()


def test_a_pair_of_systems_is_compared_where_the_study_names_it(project: Project) -> None:
    second = "second"
    path = project.folder / "config/test.yaml"
    config = yaml.safe_load(path.read_text())
    config["catalogue"][second] = config["catalogue"][SYSTEM]
    path.write_text(yaml.safe_dump(config))
    pair = f"comparisons=[{{system: {second}, reference: tiny}}]"
    planned = project.snakemake("-n", "-p", "--config", f"systems=[tiny, {second}]", pair)

    assert "compare" in planned.jobs()
    assert f"--out results/test/comparisons/{second}/tiny.parquet" in planned.output
    assert "--comparisons results/test/comparisons.parquet" in planned.output
    assert "compare" not in project.snakemake("-n", "--forceall").jobs()


def test_a_second_run_has_nothing_to_do(project: Project) -> None:
    assert "Nothing to be done" in project.snakemake().output


def test_a_comment_in_parse_changes_nothing(project: Project) -> None:
    project.edit(PARSE, '"""Stage parse', "# A comment.\n" + '"""Stage parse, reworded')

    assert "Nothing to be done" in project.snakemake("-n").output


def test_a_changed_parser_runs_no_inference_and_taking_it_back_computes_nothing(project: Project) -> None:
    before = project.digests()
    project.edit(PARSE, *CHANGE)

    planned = project.snakemake("-n")
    assert AFTER_PARSE == planned.jobs()
    assert "samequantity.stages.parse@" in planned.output
    stale = project.run("samequantity", "status", "test").output
    assert "changed: samequantity.stages.parse" in stale

    changed = project.snakemake()
    assert (0, AFTER_PARSE) == (changed.status, changed.jobs())
    assert VIEWS == len(project.journalled())
    # The change alters no answer of this model, so all that follows parse is cut off in the store.
    assert 1 == changed.output.count("(computed in")

    project.edit(PARSE, *reversed(CHANGE))
    back = project.snakemake()
    assert (0, AFTER_PARSE) == (back.status, back.jobs())
    assert 0 == back.output.count("(computed in")
    assert before == project.digests()


def test_a_store_may_have_a_blank_in_its_name(project: Project) -> None:
    assert 0 == project.snakemake("--config", "store=our store", "--", "results/test/bases.parquet").status
    assert [] != list((project.folder / "our store/generate").iterdir())


def test_results_that_were_deleted_come_back_from_the_store_without_inference(project: Project) -> None:
    before = project.digests()
    shutil.rmtree(project.study)

    again = project.snakemake()

    assert 0 == again.status
    assert [] == project.journalled()
    assert before == project.digests()


def test_a_parser_change_is_told_by_diff(project: Project) -> None:
    answers = project.path("answers/tiny.parquet")
    kept = project.folder / "before.parquet"
    shutil.copy(answers, kept)
    project.edit(
        "src/samequantity/domain/answers.py", 'token.removesuffix("%"))', 'token.removesuffix("%").replace("6.25", ""))'
    )
    assert 0 == project.snakemake("--", "results/test/answers/tiny.parquet").status

    told = project.run("samequantity", "diff", str(kept), str(answers)).output

    assert "value_error → parse_error" in told
    assert f"{VIEWS} of {VIEWS} outcomes differ" in told


def test_more_shards_ask_nothing_twice_and_give_the_same_tables(project: Project) -> None:
    before = project.digests()
    shutil.rmtree(project.folder / "results/store")
    project.edit("config/test.yaml", "shards: 1", "shards: 3")

    again = project.snakemake("--", RESPONSES)

    assert 0 == again.status, again.output
    assert VIEWS == len(project.journalled())
    assert before == project.digests()


def test_inference_gives_the_same_responses_without_store_and_journal(finished: Project, tmp_path: Path) -> None:
    second = make_project(tmp_path / "second")

    assert 0 == second.snakemake("--", RESPONSES).status
    assert finished.digests().items() >= second.digests().items()


def test_another_models_pin_asks_nothing_again_and_ones_own_does(project: Project) -> None:
    file = project.folder / "resources/test_models.yaml"
    pins = file.read_text()
    file.write_text(pins + pins.removeprefix("models:\n").replace("  tiny:", "  other:"))
    assert "Nothing to be done" in project.snakemake("-n").output

    file.write_text(pins.replace("Apache-2.0", "MIT"))
    assert {"fetch", "infer"} <= project.snakemake("-n").jobs()
