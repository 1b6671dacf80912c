"""Commands compare and diff: two systems on the same prompts, and two tables of the same system's answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samequantity.cli.inputs import TableInput
from samequantity.cli.options import FILE, out, store, table_in
from samequantity.cli.options import draws as draws_option
from samequantity.cli.results import complete, judged, verdicts
from samequantity.cli.running import Job, run
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore

if TYPE_CHECKING:
    import polars as pl

    from samequantity.stages.difference import Movement, Transition

_EXAMPLES = 3


@click.command()
@verdicts
@table_in("reference-answers", "The strict answers of the system to compare with")
@table_in("reference-audits", "The audited answers of the system to compare with")
@complete
@click.option("--seed", type=int, required=True, help="The study's seed; each pair has a stream of its own from it.")
@draws_option
@out("the comparison goes")
@store
def compare(
    views: Path,
    answers: Path,
    audits: Path,
    reference_answers: Path,
    reference_audits: Path,
    complete_orbits_only: bool,
    seed: int,
    draws: int,
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Compare two systems on the same prompts: system − reference, with paired intervals and exact tests."""
    asked = judged(views, answers, audits)
    reference = judged(views, reference_answers, reference_audits)
    inputs = asked | {f"reference_{name}": reference[name] for name in ("answers", "audits")}
    settings: dict[str, Any] = {"complete_orbits_only": complete_orbits_only, "seed": seed, "draws": draws}
    role = f"comparison{out.suffix}"

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.compare import Verdicts
        from samequantity.stages.compare import compare as stage

        frames = {name: table.frame for name, table in inputs.items()}
        mine = Verdicts(answers=frames["answers"], audits=frames["audits"])
        other = Verdicts(answers=frames["reference_answers"], audits=frames["reference_audits"])
        return {role: stage(frames["views"], mine, other, **settings)}

    run(Job(stage=STAGES["compare"], inputs=inputs, settings=settings, outputs={role: out}, store=store), compute)


@click.command()
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
def diff(old: Path, new: Path) -> None:
    """Compare two tables of answers to the same views: old → new outcomes with counts, and the metrics that move.

    Made to be looked at after a parser change. The answers of an earlier parser are in the object store: samequantity
    store ls --stage parse.
    """
    import polars as pl

    from samequantity.stages.difference import COLUMNS, difference

    columns = dict.fromkeys(COLUMNS, pl.String())
    before, after = TableInput(path=old, columns=columns), TableInput(path=new, columns=columns)
    if before.digest == after.digest:
        click.echo("The two tables are equal.")
        return
    found = difference(before.frame, after.frame)
    changed = sum(len(transition.views) for transition in found.transitions)
    click.echo(f"{changed} of {found.compared} outcomes differ.")
    for transition in found.transitions:
        click.echo(_transition(transition))
    click.echo("Metrics that moved:" if found.movements else "No metric moved.")
    for movement in found.movements:
        click.echo(_movement(movement))


def _transition(transition: "Transition") -> str:
    what = f"{transition.old} → {transition.new}"
    if transition.old is transition.new:
        what = f"{transition.old}, another value"
    examples = ", ".join(transition.views[:_EXAMPLES]) + (", …" if len(transition.views) > _EXAMPLES else "")
    return f"  {transition.system}: {what}: {len(transition.views)} ({examples})"


def _movement(movement: "Movement") -> str:
    points = 100 * movement.change
    return (
        f"  {movement.system}: {movement.measure}: {movement.old}/{movement.denominator} →"
        f" {movement.new}/{movement.denominator} ({float(points):+.2f} points)"
    )
