"""What a second run takes from the object store, and what may be cleared from it."""

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

import small_study
from commands import done, samequantity
from small_study import ANSWERS, PARSE, TOY, VIEWS, contents, keys

pytestmark = pytest.mark.usefixtures("study")


def test_a_second_run_takes_everything_from_the_store_and_gives_equal_bytes() -> None:
    before, objects = contents(), contents("results/store")
    shutil.rmtree("results/tiny")
    shutil.rmtree("elsewhere")
    small_study.make()

    assert {path: content for path, content in before.items() if "/journal/" not in path} == contents()
    assert objects == contents("results/store")
    runs = {path: json.loads(path.read_bytes())["from_store"] for path in Path("results/tiny").rglob("*.run.json")}
    assert len(runs) == 19
    assert {str(path) for path, hit in runs.items() if not hit} == {"results/tiny/responses/scripted.run.json"}


def test_a_hit_is_said_and_so_is_a_computation() -> None:
    assert re.search(rf"parse: {ANSWERS} \(taken from the store, key [0-9a-f]{{12}}…\)", done(*PARSE).err)
    assert f"parse: {ANSWERS} (computed in" in done(*PARSE[:-2]).err
    assert "computed" in done(*PARSE, "--system", "renamed").err


def test_without_a_store_nothing_is_stored() -> None:
    before = contents("results/store")
    done("parse", *VIEWS, "--responses", TOY, "--system", "other", "--out", "other.parquet")

    assert before == contents("results/store")


def test_a_store_may_lie_elsewhere(tmp_path: Path) -> None:
    shared = tmp_path / "shared" / "store"
    for said in ("computed", "taken from the store"):
        assert said in done(*PARSE[:-1], shared).err
    assert f"{shared}/parse/" in done("store", "ls", "--store", shared).out


def test_each_format_of_an_output_is_an_object_of_its_own() -> None:
    lines = ("parse", *VIEWS, "--responses", TOY, "--store", "results/store", "--out", "answers.jsonl")
    assert "computed" in done(*lines).err
    assert "taken from the store" in done(*lines).err
    rows = [json.loads(line) for line in Path("answers.jsonl").read_text(encoding="utf-8").splitlines()]

    assert pl.read_parquet(ANSWERS).rows(named=True) == rows


def test_an_export_is_written_whatever_was_stored_without_it() -> None:
    """One object a set of outputs: neither the export nor the table alone may be missing."""
    generate = (
        "generate",
        "--benchmark",
        small_study.BENCHMARK,
        "--sample",
        '{"rate_speed": 2}',
        "--store",
        "results/store",
    )
    done(*generate, "--out", "a.parquet")
    done(*generate, "--out", "b.parquet", "--jsonl", "b_lines.jsonl")
    done(*generate, "--out", "c.parquet")
    done(*generate, "--out", "d.jsonl")

    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes() == Path("c.parquet").read_bytes()
    assert Path("b_lines.jsonl").read_bytes() == Path("d.jsonl").read_bytes()
    sums = Path("b_lines.jsonl.sha256").read_text(encoding="ascii")
    assert sums.endswith("  b_lines.jsonl\n")
    assert "taken from the store" in done(*generate, "--out", "a.parquet").err


def test_a_damaged_object_is_named_and_removed_by_the_command_that_is_named() -> None:
    [name] = Path("results/store/parse").glob(f"{keys()['results/tiny/answers/toy.manifest.json']}/answers.parquet")
    name.chmod(0o644)
    with name.open("r+b") as stream:
        stream.seek(100)
        stream.write(b"\xff\xff")
    ran = samequantity(*PARSE)

    assert str(name) in ran.message
    assert Path(ANSWERS).is_file()
    cure = ran.message.rpartition("samequantity ")[2].split()
    assert cure[:2] == ["store", "remove"]
    assert done(*cure).out.startswith("removed  parse")
    assert "computed" in done(*PARSE).err
    assert "taken from the store" in done(*PARSE).err


def test_ls_says_what_is_reachable() -> None:
    parsed = done("store", "ls", "--stage", "parse").out.splitlines()
    everything = done("store", "ls").out.splitlines()

    assert len(parsed) == 2
    assert set(parsed) < set(everything)
    assert len(everything) == 17
    assert all("  reachable  results/store/" in line for line in everything)
    (Path(ANSWERS).with_suffix(".manifest.json")).unlink()
    assert sum("unreachable" in line for line in done("store", "ls").out.splitlines()) == 1


def test_gc_removes_what_no_study_reaches_and_nothing_in_a_dry_run() -> None:
    done(*PARSE, "--system", "a-second-name")
    done(*PARSE)
    before = contents("results/store")
    dry = done("store", "gc", "--dry-run").out

    assert dry.splitlines()[0].startswith("would remove  parse")
    assert re.fullmatch(r"1 objects, [0-9.]+ kB would be removed", dry.splitlines()[-1])
    assert before == contents("results/store")
    assert done("store", "gc").out == dry.replace("would remove", "removing").replace("would be", "were")
    left = contents("results/store")
    assert left.items() < before.items()
    assert len(before) - len(left) == 2
    assert "reachable" in done("store", "ls").out
    assert "unreachable" not in done("store", "ls").out
    assert done("store", "gc").out == "0 objects, 0 bytes were removed\n"
    assert "taken from the store" in done(*PARSE).err


def test_gc_counts_the_studies_of_others_who_share_a_store(tmp_path: Path) -> None:
    other = tmp_path / "other" / "results"
    shutil.copytree("results/tiny", other / "tiny")
    shutil.rmtree("results/tiny")

    assert done("store", "gc", "-n", "--results", "results", "--results", other).out.startswith("0 objects")
    assert done("store", "gc", "-n").out.splitlines()[-1].startswith("17 objects")


def test_gc_from_another_folder_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder of studies everything would look unreachable."""
    store = Path("results/store").absolute()
    before = contents(str(store))
    monkeypatch.chdir(tmp_path)

    assert "results: no such folder of studies" in samequantity("store", "gc", "--store", store).message
    assert before == contents(str(store))


@pytest.mark.parametrize("name", ["parse", "parse/", "parse/ffffffffffffffff", "nope/00", "/", ""])
def test_remove_takes_the_name_of_one_object(name: str) -> None:
    before = contents("results/store")

    assert "names 0 objects" in samequantity("store", "remove", name).message
    assert before == contents("results/store")


def test_a_damaged_object_is_found_before_it_is_used() -> None:
    whole = done("verify", "results/store").out
    stored = Path("results/store/parse", keys()["results/tiny/answers/toy.manifest.json"], "answers.parquet")
    stored.chmod(0o644)
    stored.write_bytes(stored.read_bytes()[:-1])
    message = samequantity("verify", "results/store").message
    cure = re.search(r"samequantity (store remove \S+ --store results/store)$", message, re.MULTILINE)

    assert re.fullmatch(r"[1-9]\d* files are what their manifests say\.\n", whole)
    assert f"{stored}: its bytes have SHA-256" in message
    assert cure is not None
    done(*cure[1].split())
    done("verify", "results/store")
    assert "computed" in done(*PARSE).err
