"""The commands work on anyone's files, whatever their format."""

import json
import time
from pathlib import Path

import polars as pl
import pytest

from commands import done, samequantity
from foreign import PARSE, RESPONSES, VIEWS, rows, write

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("given", ["jsonl", "parquet", "ndjson"])
@pytest.mark.parametrize("made", ["jsonl", "parquet"])
def test_parse_and_audit_need_only_the_named_columns(given: str, made: str) -> None:
    for name, table in (("v", VIEWS), ("smol", RESPONSES)):
        write(f"{name}.{given}", table)
    inputs = ("--views", f"v.{given}", "--responses", f"smol.{given}")
    done("parse", *inputs, "--out", f"answers.{made}")
    done("audit", *inputs, "--answers", f"answers.{made}", "--out", f"audits.{made}")
    common = {"system": "smol"}
    missed = {"value": None, "final_lines": 0}
    right = {"status": "correct", "value": "37/4", "final_lines": 1}

    assert rows(f"answers.{made}") == [
        {**common, "view_id": "a-0001/fraction", "status": "format_error", "unit": None, **missed},
        {**common, "view_id": "own name", "status": "truncation_error", "unit": None, **missed},
        {**common, "view_id": "a-0001/canonical", **right, "unit": "milliliters"},
    ]
    audited = {"recovered": False, "rewrites": [], "magnitude_k": None}
    found = rows(f"audits.{made}")
    assert found[0].pop("rewrites") != []
    audited_first = {"view_id": "a-0001/fraction", **right, "recovered": True, "magnitude_k": None}
    assert found == [
        {**common, **audited_first},
        {**common, "view_id": "own name", "status": "truncation_error", **missed, **audited},
        {**common, "view_id": "a-0001/canonical", **right, **audited},
    ]


def test_every_format_of_the_same_tables_gives_the_same_answers() -> None:
    write("v.parquet", VIEWS)
    write("r.parquet", RESPONSES)
    done(*PARSE)
    done("parse", "--views", "v.parquet", "--responses", "r.parquet", "--system", "smol", "--out", "other.jsonl")
    manifests = [json.loads(Path(f"{name}.manifest.json").read_bytes()) for name in ("answers", "other")]

    assert manifests[0]["key"] == manifests[1]["key"]
    assert Path("answers.jsonl").read_bytes() == Path("other.jsonl").read_bytes()


def test_the_system_is_the_columns_the_options_or_the_files_name() -> None:
    done(*PARSE)
    assert {"smol"} == {row["system"] for row in rows("answers.jsonl")}
    done(*PARSE, "--system", "named")
    assert {"named"} == {row["system"] for row in rows("answers.jsonl")}
    write("smol.jsonl", [{**row, "system": f"s{number}"} for number, row in enumerate(RESPONSES)])
    done(*PARSE, "--system", "named")
    assert ["s0", "s1", "s2"] == [row["system"] for row in rows("answers.jsonl")]


def test_columns_of_any_kind_beside_the_needed_ones_are_left_alone() -> None:
    frame = pl.DataFrame(RESPONSES).with_columns(when=pl.lit(0).cast(pl.Datetime), raw=pl.lit(b"\xff"), cost=1.5)
    frame.write_parquet("smol.parquet")
    done(*PARSE[:4], "smol.parquet", *PARSE[5:])

    assert ["format_error", "truncation_error", "correct"] == [row["status"] for row in rows("answers.jsonl")]


def test_a_file_from_elsewhere_is_noticed_in_one_line_each() -> None:
    lines = done(*PARSE).err.splitlines()

    assert lines[:2] == [f"{name}.jsonl: no manifest beside it, taken as it is" for name in ("views", "smol")]
    assert lines[2].startswith("parse: answers.jsonl (computed in ")
    assert len(lines) == 3


def test_what_is_made_holds_no_time_host_or_path() -> None:
    done(*PARSE)
    first = {name: Path(name).read_bytes() for name in ("answers.jsonl", "answers.manifest.json")}
    time.sleep(0.01)
    done(*PARSE[:-1], str(Path("deep", "er", "other.jsonl").absolute()))

    assert list(first.values()) == [Path("deep/er", f"other.{end}").read_bytes() for end in ("jsonl", "manifest.json")]


def test_log_takes_every_message_of_a_good_and_of_a_bad_run() -> None:
    assert done("--log", "logs/new/run.log", *PARSE).err == Path("logs/new/run.log").read_text(encoding="utf-8")
    ran = samequantity("--log", "logs/new/run.log", *PARSE[:-1], "answers.csv")

    assert ran.err == Path("logs/new/run.log").read_text(encoding="utf-8")
    assert ran.err.startswith("samequantity: --out answers.csv")
