"""How long it takes from the parsed answers of five systems to all tables, intervals and figures.

Runs the workflow's own rules on two cores, from nothing: every process starts, no result is in the store. The answers
are planted by a script (tests/planted.py). Everything is under results/bench, which is removed first.
"""

import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import planted
from samequantity.store.tables import write_table

ROOT = Path(__file__).parents[1]
STUDY = Path("results/bench")
VIEWS = STUDY / "views.parquet"
RULES = ("audit", "score", "bootstrap", "collect", "tables", "figures")
WANTED = ("scores.parquet", "intervals.parquet", "tables", "figures")


def main() -> None:
    """Prepare the answers, time the rest, and print it."""
    shutil.rmtree(ROOT / STUDY, ignore_errors=True)
    prepare()
    workflow = ("snakemake", "--cores", "2", "--quiet", "all", "--configfile", "bench/study.yaml")
    used = processor_seconds()
    started = time.perf_counter()
    call(*workflow, "--allowed-rules", *RULES, "--", *(STUDY / wanted for wanted in WANTED))
    seconds = time.perf_counter() - started
    rows = len(planted.SYSTEMS) * len(planted.views())
    print(
        f"{rows:,} answers of {len(planted.SYSTEMS)} systems to all tables, intervals and figures:"
        f" {seconds:.1f} s on two cores ({processor_seconds() - used:.1f} s of processor time)"
    )


def prepare() -> None:
    """Bases, views, responses and answers, where the workflow has them."""
    config = ("--benchmark", "config/benchmark.yaml")
    bases = STUDY / "bases.parquet"
    samequantity("generate", *config, "--out", bases, "--jsonl", STUDY / "base_benchmark.jsonl")
    wording = ("--wording", "resources/wording.yaml")
    jsonl = STUDY / "views_benchmark.jsonl"
    samequantity("render", "--bases", bases, *config, *wording, "--out", VIEWS, "--jsonl", jsonl)
    with tempfile.TemporaryDirectory() as folder:
        for system in planted.SYSTEMS:
            part = Path(folder) / f"{system}.parquet"
            write_table(planted.responses(system), part)
            responses = STUDY / "responses" / part.name
            samequantity("collect", part, "--out", responses)
            answers = STUDY / "answers" / part.name
            samequantity("parse", "--views", VIEWS, "--responses", responses, "--out", answers)


def samequantity(*arguments: str | Path) -> None:
    """A command of the project, in its root."""
    call("samequantity", *arguments)


def call(*arguments: str | Path) -> None:
    """Run a command quietly; when it fails, say what it said."""
    done = subprocess.run(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments[0]} {arguments[1]} failed:\n{done.stdout}")


def processor_seconds() -> float:
    """Seconds of processor time of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
