"""A file of a study is used only if its manifest vouches for its very bytes, and the cure is one command."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from samequantity.errors import IntegrityError
from samequantity.store.digests import content_digest, file_digest
from samequantity.store.manifests import Manifest, Output, Recipe, manifest_path
from samequantity.store.study import _RULES, made_files, rebuild_command, study_of, vouched
from samequantity.store.tables import write_table

FRAME = pl.DataFrame({"system": ["smol"] * 3, "view_id": ["a", "b", "c"], "value": ["37/4", None, ""]})


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, in which studies lie under results/."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def manifest_of(*paths: Path, roles: tuple[str, ...]) -> Manifest:
    outputs = {
        role: Output(sha256=file_digest(path), content=content_digest(FRAME), rows=3)
        for role, path in zip(roles, paths, strict=True)
    }
    recipe = Recipe(stage="parse", sources={}, settings={}, inputs={}, packages={})
    return Manifest(recipe=recipe, outputs=outputs)


def answers(path: str = "results/demo/answers/smol.parquet") -> Path:
    """A table with its manifest."""
    file = Path(path)
    write_table(FRAME, file)
    manifest_of(file, roles=("answers.parquet",)).write(file.with_suffix(".manifest.json"))
    return file


def test_a_study_is_the_folder_under_results() -> None:
    assert study_of(Path("results/demo/views.parquet")) == "demo"
    assert study_of(Path("results/demo/answers/smol.parquet").absolute()) == "demo"
    assert study_of(Path("results/x/../demo/views.parquet")) == "demo"


@pytest.mark.parametrize(
    "path",
    [
        "views.parquet",
        "results",
        "results/views.parquet",
        "results/store/parse/ab/x",
        "results/logs/demo/x",
        "/x/results/a/b",
    ],
)
def test_other_places_are_of_no_study(path: str) -> None:
    assert study_of(Path(path)) is None


def test_results_may_be_a_link_to_a_larger_disk(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (project / "results").symlink_to(tmp_path_factory.mktemp("disk"))
    file = answers()

    assert study_of(file) == "demo"
    assert vouched(file) is not None


def test_a_whole_file_has_its_manifests_word() -> None:
    made = vouched(answers())

    assert made is not None
    assert content_digest(FRAME) == made.content
    assert made.role == "answers.parquet"


@pytest.mark.parametrize("change", [lambda byte: byte ^ 1, lambda byte: byte ^ 0x80, lambda byte: 255 - byte])
def test_a_byte_flipped_anywhere_is_noticed_before_use(change: Callable[[int], int]) -> None:
    file = answers()
    content = file.read_bytes()
    for offset in range(0, len(content), 3):
        file.write_bytes(content[:offset] + bytes([change(content[offset])]) + content[offset + 1 :])
        with pytest.raises(IntegrityError) as found:
            vouched(file)

        assert "results/demo/answers/smol.parquet: its bytes have SHA-256" in str(found.value)
        assert "--forcerun parse -- results/demo/answers/smol.parquet" in str(found.value)
    file.write_bytes(content)
    assert vouched(file) is not None


@pytest.mark.parametrize("content", [b"", b"x"])
def test_a_cut_or_a_longer_file_is_noticed(content: bytes) -> None:
    file = answers()
    file.write_bytes(file.read_bytes()[:-1] if not content else file.read_bytes() + content)

    with pytest.raises(IntegrityError, match="edited or half-written"):
        vouched(file)


def test_a_lost_manifest_is_an_error_in_a_study_and_nothing_elsewhere() -> None:
    inside, outside = answers(), answers("elsewhere/smol.parquet")
    for file in (inside, outside):
        file.with_suffix(".manifest.json").unlink()

    assert vouched(outside) is None
    with pytest.raises(IntegrityError, match=r"smol\.manifest\.json is missing.*--forcerun parse"):
        vouched(inside)


def test_a_wrong_manifest_is_an_error_everywhere() -> None:
    file = answers("elsewhere/smol.parquet")
    file.write_bytes(b"edited")

    with pytest.raises(IntegrityError, match=r"Make it again, or remove smol\.manifest\.json if the change is meant"):
        vouched(file)


def test_a_lost_file_is_an_error() -> None:
    file = answers()
    file.unlink()

    with pytest.raises(IntegrityError, match=r"smol\.parquet: missing"):
        vouched(file)


def test_an_edited_manifest_is_an_error_with_the_cure() -> None:
    file = answers()
    content = json.loads(manifest_path(file).read_bytes())
    content["settings"]["draws"] = 5
    manifest_path(file).write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(IntegrityError, match=r"it was edited.*--forcerun parse"):
        vouched(file)


def test_a_manifest_that_does_not_speak_of_the_file_is_an_error() -> None:
    file = answers()
    other = file.with_suffix(".jsonl")
    other.write_bytes(b"{}")

    with pytest.raises(IntegrityError, match=r"does not speak of it; it names answers\.parquet"):
        vouched(other)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("bases.parquet", "generate"),
        ("base_benchmark.jsonl", "generate"),
        ("views.parquet", "render"),
        ("views_benchmark.jsonl", "render"),
        ("parts/smol/1-of-2.parquet", "infer"),
        ("answers/qwen2.5-coder-0.5b-q4.parquet", "parse"),
        ("audits/smol.parquet", "audit"),
        ("scores/smol.parquet", "score"),
        ("scores.parquet", "collect"),
        ("intervals/smol.parquet", "bootstrap"),
        ("intervals.parquet", "collect"),
        ("again/smol.parquet", "ask_again"),
        ("repeats/smol.parquet", "repeat"),
        ("repeats.parquet", "collect"),
        ("tokens/smol.parquet", "tokens"),
        ("tokens/smol.prompts.parquet", "tokens"),
        ("tokens.parquet", "collect"),
        ("runtime.md", "runtime"),
    ],
)
def test_the_cure_names_the_rule_that_makes_the_file(path: str, rule: str) -> None:
    file = f"results/demo/{path}"

    assert rebuild_command(Path(file), "demo") == f"snakemake --cores all --forcerun {rule} -- {file}"


def test_responses_are_merged_where_there_are_shards_and_imported_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results/demo/parts/asked").mkdir(parents=True)

    for name, rule in (("asked", "merge"), ("theirs", "import")):
        assert f"--forcerun {rule} --" in rebuild_command(Path(f"results/demo/responses/{name}.parquet"), "demo")


@pytest.mark.parametrize("path", ["tables/orbits.csv", "figures/correctness.svg"])
def test_the_cure_of_a_file_in_a_folder_that_a_rule_makes_is_the_folder(path: str) -> None:
    """Snakemake knows no rule for the file itself."""
    folder = path.partition("/")[0]

    command = rebuild_command(Path(f"results/demo/{path}"), "demo")

    assert command == f"snakemake --cores all --forcerun {folder} -- results/demo/{folder}"


def test_every_rule_of_a_cure_is_one_of_the_workflow() -> None:
    rules = Path(__file__).parents[2] / "workflow" / "rules"
    defined = {
        line.split()[1].rstrip(":")
        for file in rules.glob("*.smk")
        for line in file.read_text().splitlines()
        if line.startswith("rule ")
    }

    assert {*_RULES.values(), "collect"} <= defined


def test_the_cure_takes_the_studys_own_configuration(project: Path) -> None:
    (project / "config").mkdir()
    (project / "config" / "demo.yaml").touch()

    assert "--configfile config/demo.yaml " in rebuild_command(Path("results/demo/views.parquet").absolute(), "demo")
    assert "--configfile" not in rebuild_command(Path("results/paper/views.parquet"), "paper")


def test_made_files_are_those_that_manifests_name() -> None:
    one, two = answers(), answers("results/demo/answers/other.parquet")
    folder = Path("results/demo/figures")
    folder.mkdir()
    for name in ("a.svg", "a.png", "stray.txt"):
        (folder / name).write_bytes(name.encode())
    bundle = manifest_of(folder / "a.svg", folder / "a.png", roles=("a.svg", "a.png"))
    bundle.write(folder / "figures.manifest.json")

    assert [two, one, folder / "a.png", folder / "a.svg"] == [made.path for made in made_files(Path("results/demo"))]
