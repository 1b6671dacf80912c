"""The steps that make a small study in the working directory, by the commands themselves."""

import json
from itertools import chain
from pathlib import Path

import polars as pl

from commands import done

VIEWS = ("--views", "results/tiny/views.parquet")
TOY = "elsewhere/toy.jsonl"
ANSWERS = "results/tiny/answers/toy.parquet"
PARSE = ("parse", *VIEWS, "--responses", TOY, "--out", ANSWERS, "--store", "results/store")

ROOT = Path(__file__).parents[1]
BENCHMARK = ROOT / "config" / "benchmark.yaml"
WORDING = ROOT / "resources" / "wording.yaml"
PUBLISHED = ROOT / "resources" / "published.yaml"
SAMPLE = {"rate_speed": 4, "fraction_of_capacity": 4, "large_volume_addition": 4}
SETTINGS = {
    "engine": "scripted",
    "reasoning_format": "none",
    "max_tokens": 512,
    "temperature": 0,
    "top_k": 1,
    "top_p": 1,
    "seed": 1,
}


def written(value: str, unit: str, number: int) -> str:
    """An answer as a model might write it: mostly right, now and then for the audit, wrong or unreadable."""
    kinds = (f"FINAL: {value} {unit}", f"**final:** {value} {unit}", f"FINAL: {value}0001 {unit}", "It is a lot.")
    return f"Let us see.\n{kinds[(0, 0, 0, 1, 0, 2, 0, 3)[number % 8]]}"


def generate_and_render() -> None:
    """Bases and views of results/tiny."""
    done(
        *("generate", "--benchmark", BENCHMARK, "--sample", json.dumps(SAMPLE), "--out", "results/tiny/bases.parquet"),
        *("--jsonl", "results/tiny/base_benchmark.jsonl", "--store", "results/store"),
    )
    done(
        *("render", "--bases", "results/tiny/bases.parquet", "--benchmark", BENCHMARK, "--wording", WORDING),
        *("--out", "results/tiny/views.parquet", "--jsonl", "results/tiny/views_benchmark.jsonl"),
        *("--store", "results/store"),
    )


def respond() -> None:
    """What somebody else's tool would write, and a script for the engine that answers from one."""
    Path("elsewhere").mkdir()
    script = {}
    with Path("elsewhere/toy.jsonl").open("w", encoding="utf-8") as lines:
        for number, row in enumerate(pl.read_parquet("results/tiny/views.parquet").iter_rows(named=True)):
            text = written(row["expected"], row["canonical_unit"], number)
            script[row["prompt"]] = written(row["expected"], row["canonical_unit"], number // 2)
            lines.write(json.dumps({"view_id": row["view_id"], "text": text, "finish_reason": "stop"}) + "\n")
    Path("elsewhere/script.json").write_text(json.dumps(script), encoding="utf-8")


def infer(part: str, *arguments: str, out: str | None = None) -> None:
    """Ask the scripted system a shard."""
    done(
        *("infer", "--views", "results/tiny/views.parquet", "--system", "scripted"),
        *("--model", "elsewhere/script.json", "--settings", json.dumps(SETTINGS), "--part", part),
        *("--journal", "results/tiny/journal/scripted", "--store", "results/store", *arguments),
        *("--out", out or f"results/tiny/parts/scripted/{part.replace('/', '-of-')}.parquet"),
    )


def merge(out: str = "results/tiny/responses/scripted.parquet") -> None:
    """Put the two shards together."""
    parts = [f"results/tiny/parts/scripted/{number}-of-2.parquet" for number in (1, 2)]
    done("merge", "--views", "results/tiny/views.parquet", "--out", out, "--store", "results/store", *parts)


def verdicts(system: str, responses: str) -> None:
    """From one system's responses to its scores and intervals."""
    views = ("--views", "results/tiny/views.parquet")
    answers, audits = f"results/tiny/answers/{system}.parquet", f"results/tiny/audits/{system}.parquet"
    store = ("--store", "results/store")
    done("parse", *views, "--responses", responses, "--out", answers, *store)
    done("audit", *views, "--responses", responses, "--answers", answers, "--out", audits, *store)
    judged = (*views, "--answers", answers, "--audits", audits)
    known = ("--responses", responses) if system == "scripted" else ()  # the other tool counts no tokens
    done("score", *judged, *known, "--out", f"results/tiny/scores/{system}.parquet", *store)
    intervals = f"results/tiny/intervals/{system}.parquet"
    done("bootstrap", *judged, "--seed", "1", "--draws", "40", "--out", intervals, *store)


def compare(system: str, reference: str) -> str:
    """The comparison of two systems; returns its place."""
    pair = [
        (f"--{role}{table}", f"results/tiny/{table}/{name}.parquet")
        for role, name in (("", system), ("reference-", reference))
        for table in ("answers", "audits")
    ]
    out = f"results/tiny/comparisons/{system}/{reference}.parquet"
    views = ("--views", "results/tiny/views.parquet")
    done("compare", *views, *chain(*pair), *("--seed", "1", "--draws", "40", "--out", out, "--store", "results/store"))
    return out


def conclude() -> None:
    """From the systems' scores and intervals to tables and figures."""
    store = ("--store", "results/store")
    done("collect", compare("toy", "scripted"), "--out", "results/tiny/comparisons.parquet", *store)
    for table in ("scores", "intervals"):
        systems = [f"results/tiny/{table}/{system}.parquet" for system in ("toy", "scripted")]
        done("collect", *systems, "--out", f"results/tiny/{table}.parquet", *store)
    results = ("--scores", "results/tiny/scores.parquet", "--intervals", "results/tiny/intervals.parquet")
    beside = ("--comparisons", "results/tiny/comparisons.parquet", "--published", PUBLISHED)
    for stage, more in (("tables", beside), ("figures", ())):
        systems = ("--system", "toy", "--system", "scripted")
        done(stage, *results, *more, *systems, "--out", f"results/tiny/{stage}", *store)


def make() -> None:
    """The whole study: system `toy` answered by somebody else's tool, system `scripted` by an engine of ours."""
    generate_and_render()
    respond()
    for part in ("1/2", "2/2"):
        infer(part)
    merge()
    verdicts("toy", "elsewhere/toy.jsonl")
    verdicts("scripted", "results/tiny/responses/scripted.parquet")
    conclude()


def contents(folder: str = "results/tiny") -> dict[str, bytes]:
    """Every file of the study but the records of runs, by path."""
    found = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return {
        str(path): path.read_bytes() for path in found if ".run." not in path.name and ".telemetry." not in path.name
    }


def keys() -> dict[str, str]:
    """The key of every manifest of the study, by path."""
    return {str(path): json.loads(path.read_bytes())["key"] for path in Path("results/tiny").rglob("*.manifest.json")}
