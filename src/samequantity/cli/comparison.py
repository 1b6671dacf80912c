"""Command diff: what changed between two tables of answers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.inputs import TableInput
from samequantity.cli.options import FILE

if TYPE_CHECKING:
    from samequantity.stages.difference import Movement, Transition

_EXAMPLES = 3


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
