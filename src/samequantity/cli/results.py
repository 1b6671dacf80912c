"""Commands score, bootstrap, collect, tables and figures: from verdicts to what a reader sees."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.inputs import ConfigInput, Input, TableInput
from samequantity.cli.options import FILE, Command, out, out_folder, store, table_in
from samequantity.cli.options import draws as draws_option
from samequantity.cli.running import Job, run
from samequantity.errors import TableError
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore
from samequantity.store.tables import SYSTEM

if TYPE_CHECKING:
    import polars as pl

complete = click.option(
    "--complete-orbits-only",
    is_flag=True,
    help="Drop bases that lack a response, and say how many in every caption. Default: a missing response is an error.",
)


def verdicts(command: Command) -> Command:
    """The three tables that scoring reads."""
    for name, what in (
        ("audits", "The audited answers, as audit writes them"),
        ("answers", "The strict answers, as parse writes them"),
        ("views", "The views asked, with view_id, base_id, template, family"),
    ):
        command = table_in(name, what)(command)
    return command


@click.command()
@verdicts
@table_in("responses", "The responses, for completion tokens and responses at the cap", required=False)
@complete
@out("the scores go")
@store
def score(
    views: Path,
    answers: Path,
    audits: Path,
    responses: Path | None,
    complete_orbits_only: bool,
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Count one system: correctness, orbits, gaps and their tests, in both layers, exactly."""
    inputs = judged(views, answers, audits, responses)
    role = f"scores{out.suffix}"

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.score import score as stage

        frames = {name: table.frame for name, table in inputs.items()}
        return {role: stage(**frames, complete_orbits_only=complete_orbits_only)}

    settings = {"complete_orbits_only": complete_orbits_only}
    run(Job(stage=STAGES["score"], inputs=inputs, settings=settings, outputs={role: out}, store=store), compute)


@click.command()
@verdicts
@complete
@click.option("--seed", type=int, required=True, help="The study's seed; each system has a stream of its own from it.")
@draws_option
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
    inputs = judged(views, answers, audits)
    settings = {"complete_orbits_only": complete_orbits_only, "seed": seed, "draws": draws}
    role = f"intervals{out.suffix}"

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.bootstrap import bootstrap as stage

        frames = {name: table.frame for name, table in inputs.items()}
        return {role: stage(**frames, seed=seed, draws=draws, complete_orbits_only=complete_orbits_only)}

    run(Job(stage=STAGES["bootstrap"], inputs=inputs, settings=settings, outputs={role: out}, store=store), compute)


def judged(views: Path, answers: Path, audits: Path, responses: Path | None = None) -> dict[str, TableInput]:
    """The tables with the columns that scoring needs."""
    from samequantity.scoring import outcomes

    layered = {name: outcomes.SCHEMA[f"strict_{name}"] for name in ("status", "value", "final_lines")}
    kinds: dict[str, pl.DataType] = {**outcomes.SCHEMA, **layered}
    needed = {
        "views": (views, outcomes.VIEW_COLUMNS),
        "answers": (answers, outcomes.ANSWER_COLUMNS),
        "audits": (audits, outcomes.AUDIT_COLUMNS),
        "responses": (responses, outcomes.RESPONSE_COLUMNS),
    }
    return {
        table: TableInput(path=path, columns={name: kinds[name] for name in names})
        for table, (path, names) in needed.items()
        if path is not None
    }


@click.command()
@click.argument("tables", type=FILE, nargs=-1, required=True)
@out("the study's table goes")
@store
def collect(tables: tuple[Path, ...], out: Path, store: ObjectStore | None) -> None:
    """Put the TABLES of single systems, or of pairs of them, together, in the order given."""
    inputs = {f"{number:03}": TableInput(path=path) for number, path in enumerate(tables, start=1)}
    role = out.name

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.collect import collect as stage

        for table in inputs.values():
            if SYSTEM not in table.frame.columns:
                raise TableError(
                    f"{table.path}: missing column {SYSTEM}; is it a table of scores, intervals or comparisons?"
                )
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
@table_in("comparisons", "Comparisons of pairs of systems, as compare and collect write them", required=False)
@table_in("repeats", "What was asked again, as repeat and collect write it", required=False)
@table_in("tokens", "How vocabularies cut quantities, as tokens and collect write it", required=False)
@click.option("--published", type=FILE, help="The paper's published figures, to stand beside ours (.yaml).")
@out_folder("the tables, as Parquet, CSV, Markdown and LaTeX")
@store
def tables(
    scores: Path,
    intervals: Path,
    comparisons: Path | None,
    repeats: Path | None,
    tokens: Path | None,
    published: Path | None,
    systems: tuple[str, ...],
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Write the study's tables as Parquet, CSV, Markdown and LaTeX."""
    from samequantity.scoring.columns import COMPARISONS, REPEATS, TOKENS

    inputs = _results(scores, intervals)
    beside: dict[str, Input] = {}
    if comparisons is not None:
        beside["comparisons"] = compared = TableInput(path=comparisons, columns=COMPARISONS)
    if repeats is not None:
        beside["repeats"] = repeated = TableInput(path=repeats, columns=REPEATS)
    if tokens is not None:
        beside["tokens"] = cut = TableInput(path=tokens, columns=TOKENS)
    if published is not None:
        # Not "published", which is also the name of a table that this makes: status would take one for the other.
        beside["publication"] = known = ConfigInput(path=published)

    def compute() -> "Mapping[str, pl.DataFrame | bytes]":
        from samequantity.reporting.paper.published import read_published
        from samequantity.stages.tables import tables as stage

        return stage(
            inputs["scores"].frame,
            inputs["intervals"].frame,
            comparisons=None if comparisons is None else compared.frame,
            repeats=None if repeats is None else repeated.frame,
            tokens=None if tokens is None else cut.frame,
            published=None if published is None else known.read(read_published),
            systems=list(systems) or None,
        )

    run(_bundle("tables", inputs | beside, systems, out, store), compute)


@click.command()
@_study
@out_folder("the figures, as SVG and PNG")
@store
def figures(scores: Path, intervals: Path, systems: tuple[str, ...], out: Path, store: ObjectStore | None) -> None:
    """Draw the study's figures as SVG and PNG."""
    inputs = _results(scores, intervals)

    def compute() -> "Mapping[str, pl.DataFrame | bytes]":
        from samequantity.stages.figures import figures as stage

        return stage(inputs["scores"].frame, inputs["intervals"].frame, systems=list(systems) or None)

    run(_bundle("figures", inputs, systems, out, store), compute)


def _results(scores: Path, intervals: Path) -> dict[str, TableInput]:
    """The two tables that hold what was found about each system."""
    from samequantity.scoring.columns import INTERVALS, SCORES

    return {
        "scores": TableInput(path=scores, columns=SCORES),
        "intervals": TableInput(path=intervals, columns=INTERVALS),
    }


def _bundle(
    name: str, inputs: Mapping[str, Input], systems: tuple[str, ...], folder: Path, store: ObjectStore | None
) -> Job:
    """A stage that makes a folder of files; which ones is known when they are made."""
    return Job(stage=STAGES[name], inputs=inputs, settings={"systems": list(systems)}, folder=folder, store=store)
