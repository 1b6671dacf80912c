"""A study knows what is stale, what is damaged and where everything comes from."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from samequantity.errors import IntegrityError
from samequantity.store.digests import content_digest, file_digest
from samequantity.store.manifests import Manifest, Output, Recipe
from samequantity.store.study import made_files
from samequantity.store.tables import write_table
from samequantity.store.upkeep import chain, checked_rows, damage, states, unvouched

STUDY = Path("results/demo")


@dataclass(frozen=True, kw_only=True)
class Today:
    """What today's code says of a stage."""

    sources: dict[str, str] = field(default_factory=lambda: {"m.one": "1", "m.two": "2"})
    versions: dict[str, str] = field(default_factory=lambda: {"scipy": "1"})


STAGES = {name: Today() for name in ("render", "parse", "collect")}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(path: str, stage: str, role: str, inputs: dict[str, str], **columns: list[Any]) -> str:
    """A table of the study with its manifest; returns its content digest."""
    frame = pl.DataFrame(columns)
    file = STUDY / path
    write_table(frame, file)
    today = Today()
    recipe = Recipe(stage=stage, sources=today.sources, settings={}, inputs=inputs, packages=today.versions)
    output = Output(sha256=file_digest(file), content=content_digest(frame), rows=len(frame))
    Manifest(recipe=recipe, outputs={role: output}).write(file.with_suffix(".manifest.json"))
    return output.content


def study(view: str = "a") -> None:
    """Views, two systems' answers, and these put together; only the views change with `view`."""
    views = make("views.parquet", "render", "views.parquet", {"wording": "w" * 64}, view_id=[view])
    parts = {}
    for number, name in enumerate(("smol", "qwen"), start=1):
        inputs = {"views": views, "responses": name * 16}
        parts[f"{number:03}"] = make(f"answers/{name}.parquet", "parse", "answers.parquet", inputs, system=[name])
    make("answers.parquet", "collect", "answers.parquet", parts, system=["smol", "qwen"])


def reasons(stages: dict[str, Today] = STAGES) -> dict[str, str]:
    found = states(made_files(STUDY), stages)
    return {str(state.made.path.relative_to(STUDY)): "; ".join(state.reasons) for state in found if state.reasons}


def test_what_todays_code_would_make_again_just_so_is_up_to_date() -> None:
    study()

    assert len(list(made_files(STUDY))) == 4
    assert {} == reasons()


def test_a_changed_new_or_lost_module_is_named() -> None:
    study()
    changed = Today(sources={"m.one": "1", "m.two": "changed", "m.three": "new"})
    lost = Today(sources={"m.one": "1"})

    assert {"views.parquet": "changed: m.three, m.two"} == reasons({**STAGES, "render": changed})
    assert set(reasons({**STAGES, "parse": lost}).values()) == {"changed: m.two"}


def test_another_version_of_a_package_is_named() -> None:
    study()

    assert {"views.parquet": "other version of scipy"} == reasons({**STAGES, "render": Today(versions={"scipy": "2"})})


def test_a_stage_that_there_is_no_more_is_named() -> None:
    study()
    left = {name: today for name, today in STAGES.items() if name != "collect"}

    assert {"answers.parquet": "made by a stage collect that there is no more"} == reasons(left)


def test_a_lost_file_is_missing() -> None:
    study()
    (STUDY / "answers" / "smol.parquet").unlink()

    assert {"answers/smol.parquet": "missing"} == reasons()


def test_what_was_made_from_another_table_is_stale() -> None:
    study()
    make("views.parquet", "render", "views.parquet", {}, view_id=["b"])
    stale = {"answers/smol.parquet": "made from other views", "answers/qwen.parquet": "made from other views"}
    assert stale == reasons()
    study("b")
    assert {} == reasons()
    make("answers/smol.parquet", "parse", "answers.parquet", {}, system=["smol"], extra=[1])
    assert {"answers.parquet": "made from another table 001"} == reasons()


def test_damage_is_found_in_bytes_and_in_rows() -> None:
    study()
    assert [None] * 4 == [damage(made) for made in made_files(STUDY)]
    file = STUDY / "views.parquet"
    content = file.read_bytes()
    for offset in range(0, len(content), 11):
        file.write_bytes(content[:offset] + bytes([content[offset] ^ 16]) + content[offset + 1 :])
        [damaged] = [reason for made in made_files(STUDY) if (reason := damage(made))]
        assert damaged.startswith("results/demo/views.parquet: its bytes have SHA-256")
        assert "snakemake --cores all --forcerun render -- results/demo/views.parquet" in damaged


def test_a_manifest_that_promises_other_rows_is_found() -> None:
    """Its key holds, and the file's SHA-256; only the content digest was edited."""
    study()
    path = STUDY / "views.manifest.json"
    content = json.loads(path.read_bytes())
    content["outputs"]["views.parquet"]["content"] = "0" * 64
    path.write_text(json.dumps(content), encoding="utf-8")
    [made] = [made for made in made_files(STUDY) if made.path.name == "views.parquet"]

    assert "rows have content digest" in str(damage(made))
    with pytest.raises(IntegrityError, match=r"views\.parquet: rows have .* its manifest says 000000000000"):
        checked_rows(made)


def test_rows_written_anew_are_the_same_rows() -> None:
    study()
    [made] = [made for made in made_files(STUDY) if made.path.name == "views.parquet"]
    pl.read_parquet(made.path).write_parquet(made.path, compression="lz4")

    checked_rows(made)
    assert "its bytes have SHA-256" in str(damage(made))


def test_a_studys_table_without_a_manifest_is_named() -> None:
    study()
    assert [] == list(unvouched(STUDY, made_files(STUDY)))
    (STUDY / "views.manifest.json").unlink()
    [stray] = unvouched(STUDY, made_files(STUDY))

    assert stray.startswith("results/demo/views.parquet: its manifest views.manifest.json is missing. Rebuild it: ")


def test_elsewhere_tables_need_no_manifest() -> None:
    folder = Path("elsewhere")
    write_table(pl.DataFrame({"a": [1]}), folder / "a.parquet")

    assert [] == list(unvouched(folder, made_files(folder)))


def test_the_chain_leads_back_to_the_sources_depth_first() -> None:
    study()
    files = list(made_files(STUDY))
    [top] = [made for made in files if made.path == STUDY / "answers.parquet"]
    links = [(link.depth, link.role, str(link.made and link.made.path)) for link in chain(top.manifest, files)]

    assert links == [
        (1, "001", "results/demo/answers/smol.parquet"),
        (2, "responses", "None"),
        (2, "views", "results/demo/views.parquet"),
        (3, "wording", "None"),
        (1, "002", "results/demo/answers/qwen.parquet"),
        (2, "responses", "None"),
        (2, "views", "results/demo/views.parquet"),
    ]


def test_a_copy_is_not_its_own_source() -> None:
    """Collecting one system's table gives a table of the same content as the one collected."""
    study()
    [source] = [made for made in made_files(STUDY) if made.path == STUDY / "answers/smol.parquet"]
    recipe = replace(source.manifest.recipe, stage="collect", inputs={"001": source.content})
    manifest = Manifest(recipe=recipe, outputs=source.manifest.outputs)
    copy = replace(source, path=STUDY / "copy.parquet", manifest=manifest)

    first = next(chain(copy.manifest, [copy, *made_files(STUDY)]))

    assert first.made is not None
    assert source.path == first.made.path
