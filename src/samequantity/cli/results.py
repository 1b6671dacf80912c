"""Commands score, bootstrap, collect, tables and figures: from verdicts to what a reader sees."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.inputs import TableInput
from samequantity.cli.options import FILE, Command, out, out_folder, store, table_in
from samequantity.cli.running import Job, run
from samequantity.errors import TableError
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore
from samequantity.store.tables import SYSTEM

if TYPE_CHECKING:
    import polars as pl

_complete = click.option(
    "--complete-orbits-only",
    is_flag=True,
    help="Drop bases that lack a response, and say how many in every caption. Default: a missing response is an error.",
)


def _verdicts(command: Command) -> Command:
    """The three tables that scoring reads."""
    for name, what in (
        ("audits", "The audited answers, as audit writes them"),
        ("answers", "The strict answers, as parse writes them"),
        ("views", "The views asked, with view_id, base_id, template, family"),
    ):
        command = table_in(name, what)(command)
    return command


@click.command()
@_verdicts
@_complete
@out("the scores go")
@store
def score(
    views: Path, answers: Path, audits: Path, complete_orbits_only: bool, out: Path, store: ObjectStore | None
) -> None:
    """Count one system: correctness, orbits, gaps and their tests, in both layers, exactly."""
    inputs = _judged(views, answers, audits)
    role = f"scores{out.suffix}"

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.score import score as stage

        frames = {name: table.frame for name, table in inputs.items()}
        return {role: stage(**frames, complete_orbits_only=complete_orbits_only)}

    settings = {"complete_orbits_only": complete_orbits_only}
    run(Job(stage=STAGES["score"], inputs=inputs, settings=settings, outputs={role: out}, store=store), compute)


@click.command()
@_verdicts
@_complete
@click.option("--seed", type=int, required=True, help="The study's seed; each system has a stream of its own from it.")
@click.option("--draws", type=click.IntRange(min=1), default=10_000, show_default=True, help="Bootstrap draws.")
@out("the intervals go")
@store
def bootstrap(
    views: Path,
    answers: Path,
    audits: Path,
    complete_orbits_only: bool,
    seed: int,
    draws: int,
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Give one system's rates and gaps their 95 % intervals, resampling whole bases."""
    inputs = _judged(views, answers, audits)
    settings = {"complete_orbits_only": complete_orbits_only, "seed": seed, "draws": draws}
    role = f"intervals{out.suffix}"

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.bootstrap import bootstrap as stage

        frames = {name: table.frame for name, table in inputs.items()}
        return {role: stage(**frames, seed=seed, draws=draws, complete_orbits_only=complete_orbits_only)}

    run(Job(stage=STAGES["bootstrap"], inputs=inputs, settings=settings, outputs={role: out}, store=store), compute)


def _judged(views: Path, answers: Path, audits: Path) -> dict[str, TableInput]:
    """The three tables with the columns that scoring needs."""
    from samequantity.scoring import outcomes

    kinds: dict[str, pl.DataType] = {**outcomes.SCHEMA, **dict.fromkeys(("status", "value"), outcomes.SCHEMA["system"])}
    needed = {
        "views": (views, outcomes.VIEW_COLUMNS),
        "answers": (answers, outcomes.ANSWER_COLUMNS),
        "audits": (audits, outcomes.AUDIT_COLUMNS),
    }
    return {
        table: TableInput(path=path, columns={name: kinds[name] for name in names})
        for table, (path, names) in needed.items()
    }


@click.command()
@click.argument("tables", type=FILE, nargs=-1, required=True)
@out("the study's table goes")
@store
def collect(tables: tuple[Path, ...], out: Path, store: ObjectStore | None) -> None:
    """Put the TABLES of single systems together, in the order given."""
    inputs = {f"{number:03}": TableInput(path=path) for number, path in enumerate(tables, start=1)}
    role = out.name

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.collect import collect as stage

        for table in inputs.values():
            if SYSTEM not in table.frame.columns:
                raise TableError(f"{table.path}: missing column {SYSTEM}; is it a table of scores or intervals?")
        return {role: stage([table.frame for table in inputs.values()])}

    run(Job(stage=STAGES["collect"], inputs=inputs, settings={}, outputs={role: out}, store=store), compute)


def _study(command: Command) -> Command:
    """What tables and figures read."""
    systems = click.option(
        "--system",
        "systems",
        multiple=True,
        help="A system of the study, in the order to show; one without scores is named.",
    )
    command = systems(command)
    return table_in("scores", "The scores of all systems")(table_in("intervals", "Their intervals")(command))


@click.command()
@_study
@out_folder("the tables, as CSV and Markdown")
@store
def tables(scores: Path, intervals: Path, systems: tuple[str, ...], out: Path, store: ObjectStore | None) -> None:
    """Write the study's tables as CSV and Markdown."""
    from samequantity.stages.tables import tables as stage

    _bundle("tables", stage, scores, intervals, systems, out, store)


@click.command()
@_study
@out_folder("the figures, as SVG and PNG")
@store
def figures(scores: Path, intervals: Path, systems: tuple[str, ...], out: Path, store: ObjectStore | None) -> None:
    """Draw the study's figures as SVG and PNG."""
    from samequantity.stages.figures import figures as stage

    _bundle("figures", stage, scores, intervals, systems, out, store)


def _bundle(
    name: str,
    stage: "Callable[..., dict[str, bytes]]",
    scores: Path,
    intervals: Path,
    systems: tuple[str, ...],
    folder: Path,
    store: ObjectStore | None,
) -> None:
    """Run a stage that makes a folder of files; which ones is known when they are made."""
    from samequantity.scoring.columns import INTERVALS, SCORES

    inputs = {
        "scores": TableInput(path=scores, columns=SCORES),
        "intervals": TableInput(path=intervals, columns=INTERVALS),
    }
    job = Job(stage=STAGES[name], inputs=inputs, settings={"systems": list(systems)}, folder=folder, store=store)

    def compute() -> "Mapping[str, pl.DataFrame | bytes]":
        return stage(inputs["scores"].frame, inputs["intervals"].frame, systems=list(systems) or None)

    run(job, compute)
