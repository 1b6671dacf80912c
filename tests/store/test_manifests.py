"""A manifest says what a stage made, from what and how; the same bytes everywhere, and an edit of it is noticed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from samequantity.errors import IntegrityError
from samequantity.store import manifests
from samequantity.store.manifests import Manifest, Output, Recipe, manifest_path, role_of

RECIPE = Recipe(
    stage="parse",
    sources={"samequantity.stages.parse": "a1", "samequantity.errors": "b2"},
    settings={"system": "smol", "nested": {"b": 1, "a": [1, None, True, 0.5]}},
    inputs={"views": "c3", "responses": "d4"},
    packages={"scipy": "1.17.1"},
)
KEY = "c913333bc9b87524ecc5dd790e4cc93c20db1fc82024dae278b6bc28cacf297b"
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
OUTPUT = Output(sha256=ABC, content="e5", rows=2, schema=[["system", "large_string"]])
MANIFEST = Manifest(recipe=RECIPE, outputs={"answers.parquet": OUTPUT})

CHANGES: dict[str, dict[str, Any]] = {
    "stage": {"stage": "audit"},
    "a module's code": {"sources": {**RECIPE.sources, "samequantity.errors": "b3"}},
    "a module more": {"sources": {**RECIPE.sources, "samequantity.domain.units": "b2"}},
    "a setting": {"settings": {**RECIPE.settings, "system": "other"}},
    "a setting's kind": {"settings": {**RECIPE.settings, "nested": {"b": "1", "a": [1, None, True, 0.5]}}},
    "the order of a list": {"settings": {**RECIPE.settings, "nested": {"b": 1, "a": [None, 1, True, 0.5]}}},
    "a setting more": {"settings": {**RECIPE.settings, "repeat": 0}},
    "an input": {"inputs": {"views": "c3", "responses": "d5"}},
    "inputs changed places": {"inputs": {"views": "d4", "responses": "c3"}},
    "a package's version": {"packages": {"scipy": "1.17.2"}},
    "no package": {"packages": {}},
}


def test_the_key_is_the_same_on_every_machine() -> None:
    assert KEY == RECIPE.key == MANIFEST.key


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_everything_that_decides_the_output_decides_the_key(change: dict[str, Any]) -> None:
    assert KEY != replace(RECIPE, **change).key


def test_each_change_gives_a_key_of_its_own() -> None:
    assert len(CHANGES) == len({replace(RECIPE, **change).key for change in CHANGES.values()})


def test_the_format_version_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "FORMAT", manifests.FORMAT + 1)

    assert KEY != RECIPE.key


def test_the_order_of_names_does_not_count() -> None:
    turned = Recipe(
        stage=RECIPE.stage,
        sources=dict(reversed(RECIPE.sources.items())),
        settings={"nested": {"a": [1, None, True, 0.5], "b": 1}, "system": "smol"},
        inputs=dict(reversed(RECIPE.inputs.items())),
        packages=RECIPE.packages,
    )

    assert KEY == turned.key
    assert MANIFEST.to_json() == Manifest(recipe=turned, outputs=MANIFEST.outputs).to_json()


def test_the_bytes_hold_no_time_host_or_path(tmp_path: Path) -> None:
    """Written in another process, folder and with another hash seed, they are the same."""
    script = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from pathlib import Path\nfrom test_manifests import MANIFEST\nMANIFEST.write(Path(sys.argv[1]))"
    )
    paths = [str(Path(__file__).parent), str(Path(manifests.__file__).parents[2])]
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / seed / "a.manifest.json"), *paths],
            env={"PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}"},
            cwd=tmp_path,
            check=True,
        )
    written = {(tmp_path / seed / "a.manifest.json").read_bytes() for seed in ("1", "2")}

    assert {MANIFEST.to_json()} == written


def test_written_and_read_it_is_the_same(tmp_path: Path) -> None:
    part = Manifest(recipe=RECIPE, outputs={"x.svg": Output(sha256=ABC, content=ABC)}, part="2/3")
    for number, manifest in enumerate((MANIFEST, part)):
        manifest.write(tmp_path / f"{number}.manifest.json")

        assert manifest == Manifest.read(tmp_path / f"{number}.manifest.json")
    assert MANIFEST.key == part.key


Edit = Callable[[dict[str, Any]], object]
EDITS: dict[str, Edit] = {
    "stage": lambda content: content.update(stage="audit"),
    "a fingerprint": lambda content: content["sources"].update({"samequantity.errors": "00"}),
    "a setting": lambda content: content["settings"].update(system="other"),
    "an input": lambda content: content["inputs"].update(views="00"),
    "a version": lambda content: content["packages"].update(scipy="2"),
    "the key": lambda content: content.update(key="00" * 32),
    "the key's kind": lambda content: content.update(key=5),
    "no key": lambda content: content.pop("key"),
    "no outputs": lambda content: content.pop("outputs"),
    "outputs of another shape": lambda content: content.update(outputs=[]),
    "an output with a stray field": lambda content: content["outputs"]["answers.parquet"].update(size=3),
    "an output without a digest": lambda content: content["outputs"]["answers.parquet"].pop("sha256"),
    "no format": lambda content: content.pop("format"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_manifest_is_refused_by_name(edit: Edit, tmp_path: Path) -> None:
    path = tmp_path / "a.manifest.json"
    content = json.loads(MANIFEST.to_json())
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(IntegrityError, match=r"a\.manifest\.json: "):
        Manifest.read(path)


def test_a_manifest_of_another_format_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "a.manifest.json"
    path.write_text(json.dumps({**json.loads(MANIFEST.to_json()), "format": 2}), encoding="utf-8")

    with pytest.raises(IntegrityError, match=r"not a manifest of format 1 .*format 2"):
        Manifest.read(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"5", b"\xff\xfe", b'{"key": NaN}'])
def test_what_is_no_manifest_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.manifest.json"
    path.write_bytes(content)

    with pytest.raises(IntegrityError, match="not a manifest"):
        Manifest.read(path)


def test_a_half_written_manifest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.manifest.json"
    whole = MANIFEST.to_json()
    for end in range(0, len(whole) - 2, 7):
        path.write_bytes(whole[:end])
        with pytest.raises(IntegrityError):
            Manifest.read(path)


def test_a_file_is_checked_against_its_promise(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    with pytest.raises(IntegrityError, match=r"answers\.parquet: missing"):
        MANIFEST.check("answers.parquet", path)
    path.write_bytes(b"abc")
    assert OUTPUT == MANIFEST.check("answers.parquet", path)
    path.write_bytes(b"abd")
    with pytest.raises(IntegrityError, match=rf"SHA-256 .*its manifest says {ABC[:12]}"):
        MANIFEST.check("answers.parquet", path)


def test_a_manifest_stands_beside_its_file_under_its_stem_or_names_it(tmp_path: Path) -> None:
    qwen = tmp_path / "answers" / "qwen2.5-coder-0.5b-q4.parquet"
    figure = tmp_path / "figures" / "correctness.svg"
    for folder in (qwen.parent, figure.parent):
        folder.mkdir()

    assert qwen.with_name("qwen2.5-coder-0.5b-q4.manifest.json") == manifest_path(qwen)
    bundle = Manifest(recipe=RECIPE, outputs={"correctness.svg": OUTPUT})
    bundle.write(figure.parent / "figures.manifest.json")
    assert figure.parent / "figures.manifest.json" == manifest_path(figure)
    assert figure.parent / "other.manifest.json" == manifest_path(figure.parent / "other.svg")
    assert tmp_path / "nowhere" / "a.manifest.json" == manifest_path(tmp_path / "nowhere" / "a.parquet")


def test_a_file_has_the_role_of_its_name_or_of_its_format() -> None:
    bundle = Manifest(recipe=RECIPE, outputs=dict.fromkeys(("a.csv", "b.csv", "c.md"), OUTPUT))

    assert role_of(Path("x/answers.parquet"), MANIFEST) == "answers.parquet"
    assert role_of(Path("x/smol.parquet"), MANIFEST) == "answers.parquet"
    assert role_of(Path("x/smol.jsonl"), MANIFEST) is None
    assert role_of(Path("b.csv"), bundle) == "b.csv"
    assert role_of(Path("z.csv"), bundle) is None
    assert role_of(Path("z.md"), bundle) == "c.md"


def test_a_manifest_appears_whole_and_with_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        MANIFEST.write(tmp_path / "new" / "a.manifest.json")
    finally:
        os.umask(before)

    assert [tmp_path / "new" / "a.manifest.json"] == list((tmp_path / "new").iterdir())
    assert (tmp_path / "new" / "a.manifest.json").stat().st_mode & 0o777 == 0o640
