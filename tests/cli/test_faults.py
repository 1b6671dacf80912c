"""A command that cannot do its work ends with one plain message, and leaves nothing half-written."""

import json
from pathlib import Path

import polars as pl
import pytest

from commands import done, samequantity
from foreign import AUDIT, PARSE, RESPONSES, VIEWS, rows, write
from small_study import BENCHMARK, SETTINGS, WORDING

pytestmark = pytest.mark.usefixtures("folder")


FAULTS: dict[str, tuple[tuple[str, ...], str]] = {
    "no such table": ((*PARSE[:4], "gone.jsonl", *PARSE[5:]), "samequantity: gone.jsonl: no such table"),
    "a folder for a table": ((*PARSE[:4], "folder.parquet", *PARSE[5:]), "'folder.parquet' is a directory"),
    "another format": ((*PARSE[:4], "smol.csv", *PARSE[5:]), "smol.csv: a table is .jsonl or .ndjson or .parquet"),
    "no Parquet": ((*PARSE[:4], "fake.parquet", *PARSE[5:]), "fake.parquet: not a readable Parquet file"),
    "no JSON": ((*PARSE[:4], "bad.jsonl", *PARSE[5:]), "bad.jsonl, line 2: not a JSON object"),
    "no rows": ((*PARSE[:4], "empty.jsonl", *PARSE[5:]), "empty.jsonl: missing column view_id, text, finish_reason"),
    "a missing column": ((*PARSE[:4], "views.jsonl", *PARSE[5:]), "views.jsonl: missing column text, finish_reason"),
    "another type": (
        (*PARSE[:4], "typed.jsonl", *PARSE[5:]),
        "typed.jsonl, line 1: column text is 5, wanted is String",
    ),
    "no view id": ((*PARSE[:4], "nameless.jsonl", *PARSE[5:]), "view_id"),
    "an unknown view": ((*PARSE[:4], "unknown.jsonl", *PARSE[5:]), "not hold: nope"),
    "a view twice": (("parse", "--views", "twice.jsonl", *PARSE[3:]), "more than once: own name"),
    "an unknown unit": (("parse", "--views", "pints.jsonl", *PARSE[3:]), "unknown unit 'pints'"),
    "no exact answer": (("parse", "--views", "inexact.jsonl", *PARSE[3:]), "'9.25e' is no rational"),
    "output in another format": ((*PARSE[:-1], "answers.csv"), "--out answers.csv: a table is written as"),
    "output under a file": ((*PARSE[:-1], "views.jsonl/answers.jsonl"), "samequantity: views.jsonl"),
    "output is a folder": ((*PARSE[:-1], "folder.parquet"), "'folder.parquet' is a directory"),
    "a store under a file": ((*PARSE, "--store", "views.jsonl/store"), "samequantity: views.jsonl"),
    "a store that is a file": ((*PARSE, "--store", "views.jsonl"), "is a file"),
    "a log under a file": (("--log", "views.jsonl/log", *PARSE), "samequantity: views.jsonl"),
    "a log that is a folder": (("--log", "folder.parquet", *PARSE), "folder.parquet: Is a directory"),
    "responses without answers": ((*AUDIT[:6], "none.jsonl", *AUDIT[7:]), "without a response: a-0001/canonical"),
    "answers for answers": ((*AUDIT[:6], "smol.jsonl", *AUDIT[7:]), "missing column status, value, final_lines"),
    "views that are none": (
        ("score", *PARSE[1:3], "--answers", "smol.jsonl", "--audits", "smol.jsonl", "--out", "s.parquet"),
        "views.jsonl: missing column base_id, template, family",
    ),
    "no draws": (
        (
            "bootstrap",
            *PARSE[1:3],
            "--answers",
            "a",
            "--audits",
            "b",
            "--seed",
            "1",
            "--draws",
            "0",
            "--out",
            "x.jsonl",
        ),
        "--draws",
    ),
    "tables without a system": (("collect", "views.jsonl", "--out", "x.jsonl"), "views.jsonl: missing column system"),
    "nothing to collect": (("collect", "empty.jsonl", "--out", "x.jsonl"), "empty.jsonl: missing column system"),
    "tables of no scores": (
        ("tables", "--scores", "smol.jsonl", "--intervals", "smol.jsonl", "--out", "tables"),
        "smol.jsonl: missing column system, layer, measure",
    ),
    "figures of no scores": (
        ("figures", "--scores", "smol.jsonl", "--intervals", "smol.jsonl", "--out", "figures"),
        "smol.jsonl: missing column system, layer, measure",
    ),
    "no benchmark": (("generate", "--benchmark", "gone.yaml", "--out", "b.parquet"), "gone.yaml: no such file"),
    "a benchmark that is no YAML": (("generate", "--benchmark", "bad.yaml", "--out", "b.jsonl"), "bad.yaml: not YAML"),
    "a benchmark of bytes": (("generate", "--benchmark", "bytes.yaml", "--out", "b.jsonl"), "bytes.yaml: not YAML"),
    "a list for a benchmark": (("generate", "--benchmark", "list.yaml", "--out", "b.jsonl"), "holds no mapping"),
    "a date in a benchmark": (("generate", "--benchmark", "date.yaml", "--out", "b.jsonl"), "put it in quotes"),
    "a key twice": (("generate", "--benchmark", "repeated.yaml", "--out", "b.jsonl"), "the key 'seed' stands twice"),
    "a list for a key": (("generate", "--benchmark", "listed.yaml", "--out", "b.jsonl"), "unhashable key"),
    "numbers as keys": (("generate", "--benchmark", "keys.yaml", "--out", "b.jsonl"), "texts as keys"),
    "a loop": (("generate", "--benchmark", "loop.yaml", "--out", "b.jsonl"), "Circular reference"),
    "a mistyped key": (("generate", "--benchmark", str(WORDING), "--out", "b.jsonl"), f"{WORDING}: the benchmark"),
    "no base kept": (
        ("generate", "--benchmark", str(BENCHMARK), "--sample", '{"rate_speed": 0}', "--out", "b.jsonl"),
        "--sample: keeps no base",
    ),
    "no bases": (
        (
            "render",
            "--bases",
            "smol.jsonl",
            "--benchmark",
            str(BENCHMARK),
            "--wording",
            str(WORDING),
            "--out",
            "v.jsonl",
        ),
        "smol.jsonl: missing column base_id, template",
    ),
    "old answers that are none": (("diff", "smol.jsonl", "smol.jsonl"), "missing column system, status, value"),
    "a journal under a file": (
        (
            *("infer", "--views", "prompts.jsonl", "--system", "s", "--model", "./script.json"),
            *("--settings", json.dumps(SETTINGS), "--journal", "views.jsonl/journal", "--out", "r.parquet"),
        ),
        "views.jsonl",
    ),
    "no settings": (
        (
            *("infer", "--views", "prompts.jsonl", "--system", "s", "--model", "./script.json"),
            *("--settings", "{}", "--journal", "journal", "--out", "r.parquet"),
        ),
        "settings of s",
    ),
    "no model": (
        (
            *("infer", "--views", "prompts.jsonl", "--system", "s", "--model", "gone.gguf"),
            *("--settings", json.dumps(SETTINGS), "--journal", "journal", "--out", "r.parquet"),
        ),
        "--model gone.gguf: no such file",
    ),
}


@pytest.fixture
def faulty(folder: Path) -> None:
    """Files of every bad kind."""
    (folder / "folder.parquet").mkdir()
    texts = {
        "smol.csv": "view_id,text\n",
        "fake.parquet": "PAR1",
        "bad.jsonl": json.dumps(RESPONSES[0]) + "\n{'view_id': 1}\n",
        "empty.jsonl": "",
        "bad.yaml": "a: [",
        "list.yaml": "- a",
        "date.yaml": "generator: 2026-07-25",
        "repeated.yaml": "seed: 1\nseed: 2",
        "listed.yaml": "[a]: b",
        "keys.yaml": "1: a\nb: c",
        "loop.yaml": "a: &a [*a]",
        "script.json": json.dumps({"one": "FINAL: 1 liter"}),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "bytes.yaml").write_bytes(b"\xff\xfe")
    write("prompts.jsonl", [{"view_id": "v", "prompt": "one"}])
    write("typed.jsonl", [{**RESPONSES[0], "text": 5}])
    write("nameless.jsonl", [{**RESPONSES[0], "view_id": None}])
    write("unknown.jsonl", [*RESPONSES, {**RESPONSES[0], "view_id": "nope"}])
    write("twice.jsonl", [*VIEWS, VIEWS[2]])
    write("pints.jsonl", [{**VIEWS[0], "canonical_unit": "pints"}, *VIEWS[1:]])
    write("inexact.jsonl", [{**VIEWS[0], "expected": "9.25e"}, *VIEWS[1:]])
    write("none.jsonl", [{"view_id": "a-0001/canonical", "status": "format_error", "value": None, "final_lines": 0}])
    write("smol.jsonl", [RESPONSES[0]])


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(("arguments", "reason"), FAULTS.values(), ids=FAULTS)
def test_it_ends_with_one_plain_message(arguments: tuple[str, ...], reason: str, folder: Path) -> None:
    before = {path for path in folder.rglob("*") if path.is_file()}
    ran = samequantity(*arguments)

    assert reason in ran.message
    assert ran.status in (1, 2)
    assert ran.out == ""
    assert ran.message.count("samequantity: ") <= 1
    strays = {path.name for path in folder.rglob("*") if path.is_file()} - {path.name for path in before}
    whole = {"answers.jsonl", "answers.manifest.json"} if "--store" in arguments else set()
    assert strays <= {"1-of-1.lock", "1-of-1.jsonl", *whole}, "a failed command leaves nothing half-written"


def test_the_faults_have_real_counterparts() -> None:
    """The same calls without the fault succeed."""
    done(*PARSE)
    done(*AUDIT)
    write("prompts.jsonl", [{"view_id": "v", "prompt": "one"}])
    Path("script.json").write_text(json.dumps({"one": "FINAL: 1 liter"}), encoding="utf-8")
    infer = FAULTS["no settings"][0]
    done(*(json.dumps(SETTINGS) if argument == "{}" else argument for argument in infer))

    assert [{"view_id": "v", "text": "FINAL: 1 liter"}] == pl.read_parquet("r.parquet")["view_id", "text"].rows(
        named=True
    )


SAMPLES = {
    "5": "wanted is a JSON object",
    "{": "--sample: not JSON",
    '{"nope": 1}': "unknown template nope",
    '{"rate_speed": "8"}': "rate_speed: wanted is a number of bases, found '8'",
    '{"rate_speed": -1}': "found -1",
    '{"rate_speed": 1.5}': "found 1.5",
    '{"rate_speed": true}': "found True",
    '{"rate_speed": null}': "found None",
    "@gone.yaml": "gone.yaml: no such file",
    "@.": "Is a directory",
    "@": "Is a directory",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_that_is_none_is_refused(sample: str) -> None:
    assert (
        SAMPLES[sample]
        in samequantity("generate", "--benchmark", BENCHMARK, "--sample", sample, "--out", "b.jsonl").message
    )


def test_a_sample_may_be_a_file_and_keeps_whole_orbits() -> None:
    Path("sample.yaml").write_text("rate_speed: 3\nrepeated_length: 1\n", encoding="utf-8")
    done("generate", "--benchmark", BENCHMARK, "--sample", "@sample.yaml", "--out", "b.jsonl")
    done("render", "--bases", "b.jsonl", "--benchmark", BENCHMARK, "--wording", WORDING, "--out", "v.parquet")

    bases = [f"rate_speed-{number:04}" for number in (1, 2, 3)]
    assert ["repeated_length-0001", *bases] == [row["base_id"] for row in rows("b.jsonl")]
    assert [f"{base}/{family}" for base in bases for family in ("canonical", "unit")] == [
        row["view_id"] for row in rows("v.parquet") if row["template"] == "rate_speed"
    ]


def test_an_export_that_would_be_the_table_is_refused() -> None:
    ran = samequantity("generate", "--benchmark", BENCHMARK, "--out", "bases.jsonl", "--jsonl", "bases.jsonl")

    assert "--out bases.jsonl is JSON Lines already" in ran.message
