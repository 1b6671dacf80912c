"""The commands `samequantity models list | fetch | verify | lock`."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from commands import done, samequantity
from fake_hub import FIRST, REVISION, SECOND, SHARDS, FakeHub, sha256
from fake_sources import Settings

WEIGHTS = "somebody/weights"


@pytest.fixture
def options(settings: Settings, hub_here: FakeHub) -> list[str]:
    """A models file with `tiny`, of which nothing is pinned, and `one`, which is pinned and a file on this machine."""
    hub_here.commits = {REVISION: dict(SHARDS)}
    settings.write_shards(dict.fromkeys(SHARDS))
    models = yaml.safe_load(settings.path.read_text())
    copy = settings.path.with_name("copy.gguf")
    copy.write_bytes(b"copy")
    file = {"name": "one.gguf", "bytes": 4, "sha256": sha256(b"copy"), "sources": [{"path": str(copy)}]}
    weights = {"repository": WEIGHTS, "revision": None}
    origin = {"repository": "somebody/one", "revision": None, "checkpoint": weights}
    models["models"]["one"] = {"licence": "MIT", "provenance": origin, "files": [file]}
    settings.path.write_text(yaml.safe_dump(models, sort_keys=False))
    return ["--models-file", str(settings.path), "--folder", str(settings.folder)]


def test_the_list_says_what_is_pinned_where_it_comes_from_and_whether_it_is_here(
    settings: Settings, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3_000_000_000))
    settings.folder.mkdir()
    (settings.folder / "one.gguf").write_bytes(b"copy")

    assert (
        f"""\
tiny: absent
  licence    Apache-2.0
  published  somebody/tiny at not pinned yet: samequantity models lock tiny
  made from  a checkpoint that is not told
  total      size not known; an unknown size to fetch, 3.00 GB free in {settings.folder}: enough or not
  values     not pinned yet: samequantity models lock tiny
  file       {FIRST}: absent
    size     not pinned yet: samequantity models lock tiny
    sha256   not pinned yet: samequantity models lock tiny
    sources  the model hub (somebody/tiny at its current commit)
  file       {SECOND}: absent
    size     not pinned yet: samequantity models lock tiny
    sha256   not pinned yet: samequantity models lock tiny
    sources  the model hub (somebody/tiny at its current commit)
one: here
  licence    MIT
  published  somebody/one at a commit that is not known
  made from  {WEIGHTS} at a commit that is not known
  total      4 bytes; nothing to fetch
  file       one.gguf: here
    size     4 bytes
    sha256   {sha256(b"copy")}
    sources  the path {settings.path.with_name("copy.gguf")}
"""
        == done("models", "list", *options).out
    )


def test_what_was_recorded_is_listed_as_such_and_a_short_file_by_its_size(
    settings: Settings, options: list[str]
) -> None:
    done("models", "fetch", "tiny", *options)
    (settings.folder / SECOND).write_bytes(b"short")

    out = done("models", "list", "tiny", *options).out

    assert out.startswith("tiny: 1 of 2 files here\n")
    assert f"  file       {SECOND}: wrong size\n    size     6,000 bytes\n" in out
    assert f"    sha256   {sha256(SHARDS[FIRST])} (recorded here)\n" in out
    assert "one:" not in out


@pytest.mark.parametrize(("free", "room"), [(10**9, True), (10**7, False)])
def test_the_list_for_machines(options: list[str], monkeypatch: pytest.MonkeyPatch, *, free: int, room: bool) -> None:
    done("models", "lock", *options)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))

    (tiny,) = json.loads(done("models", "list", "--json", "tiny", *options).out)

    assert (11_000, 11_000, free, room) == tuple(
        tiny[key] for key in ("bytes", "missing_bytes", "free_bytes", "has_room")
    )
    assert ("tiny", "Apache-2.0", "somebody/tiny", REVISION, True) == tuple(
        tiny[key] for key in ("model", "licence", "repository", "revision", "pinned")
    )
    assert {
        "file": SECOND,
        "bytes": 6000,
        "sha256": sha256(SHARDS[SECOND]),
        "recorded": False,
        "sources": [f"the model hub (somebody/tiny at {REVISION[:12]})"],
        "presence": "absent",
    } == tiny["files"][1]


def test_several_models_are_fetched_at_once_and_verified_as_what_they_are_held_to(
    settings: Settings, options: list[str]
) -> None:
    done("models", "fetch", "one", "tiny", "one", *options)

    assert {*SHARDS, *(f"{name}.sha256" for name in SHARDS), "one.gguf"} == {
        entry.name for entry in settings.folder.iterdir()
    }
    assert [
        f"tiny: {FIRST}: SHA-256 {sha256(SHARDS[FIRST])}, as recorded at its first fetch",
        f"tiny: {SECOND}: SHA-256 {sha256(SHARDS[SECOND])}, as recorded at its first fetch",
        f"one: one.gguf: SHA-256 {sha256(b'copy')}, as pinned",
    ] == done("models", "verify", *options).out.splitlines()


def test_a_receipt_is_for_one_model(options: list[str], tmp_path: Path) -> None:
    ran = samequantity("models", "fetch", "one", "tiny", "--receipt", tmp_path / "receipt.json", *options)

    assert 2 == ran.status
    assert "--receipt is for one model" in ran.message


def test_offline_a_missing_model_is_one_plain_message(options: list[str], hub_here: FakeHub) -> None:
    ran = samequantity("models", "fetch", "one", "tiny", "--offline", *options)

    assert 1 == ran.status
    assert f"{FIRST}: no source of the model tiny has this file" in ran.message
    assert [] == hub_here.asked


def test_a_lock_changes_the_empty_values_alone_and_a_second_one_nothing(settings: Settings, options: list[str]) -> None:
    before = settings.path.read_text().replace("one.gguf", "one.gguf # mine")
    settings.path.write_text(before)

    dry = done("models", "lock", "-n", *options).err
    assert before == settings.path.read_text()
    wet = done("models", "lock", *options).err
    locked = settings.path.read_text()

    assert dry.replace("would be written", "written") == wet
    assert f"{settings.path}: 7 values written" == wet.splitlines()[-1]
    # The publisher's commit of `one`, which is another repository than any source, and what the models were made from.
    assert 3 == locked.count("null")
    assert "one.gguf # mine" in locked
    assert f"{settings.path}: nothing to fill in\n" == done("models", "lock", *options).err
    assert "tiny: every value is pinned" in done("models", "lock", "tiny", *options).err
    assert locked == settings.path.read_text()


@pytest.mark.parametrize("command", ["list", "fetch", "verify", "lock"])
def test_a_model_that_is_not_there_is_named_with_those_that_are(options: list[str], command: str) -> None:
    ran = samequantity("models", command, "two", *options)

    assert 1 == ran.status
    assert "no model is called 'two'; the models file has tiny, one." in ran.message
