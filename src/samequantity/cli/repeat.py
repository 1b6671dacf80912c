"""Command repeat: prompts that were asked again, compared with what was answered the first time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.answers import asterisk_between_digits
from samequantity.cli.inputs import TableInput
from samequantity.cli.options import out, store, table_in
from samequantity.cli.running import Job, run
from samequantity.domain.rewriting import AUDIT_VERSION, AsteriskBetweenDigits
from samequantity.errors import SettingsError
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore

if TYPE_CHECKING:
    import polars as pl


@click.command()
@table_in("views", "The views asked, with view_id, dimension, canonical_unit, expected")
@table_in("responses", "A system's responses, as infer, merge or import writes them")
@table_in("again", "Responses to some of the same views, asked again or of another system")
@click.option(
    "--other-engine",
    is_flag=True,
    help="Another engine asked the second time, so that the rendered prompts cannot be held against each other. "
    "Default: another prompt is an error.",
)
@asterisk_between_digits
@out("the comparison goes")
@store
def repeat(
    views: Path,
    responses: Path,
    again: Path,
    other_engine: bool,
    asterisk: str,
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Compare responses with those to the same prompts asked again: byte for byte, and answer for answer.

    Asking again is `samequantity infer --repeat 1`, with --prompts for a few of them.
    """
    from samequantity.stages.questions import VIEW_COLUMNS
    from samequantity.stages.repeat import COLUMNS

    if responses.resolve() == again.resolve():
        raise SettingsError(f"--again {again}: the same file as --responses; ask again with infer --repeat 1")
    inputs = {
        "views": TableInput(path=views, columns=VIEW_COLUMNS),
        "responses": TableInput(path=responses, columns=COLUMNS),
        "again": TableInput(path=again, columns=COLUMNS),
    }
    role = f"repeats{out.suffix}"
    job = Job(
        stage=STAGES["repeat"],
        inputs=inputs,
        settings={"other_engine": other_engine, "audit": AUDIT_VERSION, "asterisk_between_digits": asterisk},
        outputs={role: out},
        store=store,
    )

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.repeat import repeat as stage

        frames = {name: table.frame for name, table in inputs.items()}
        return {role: stage(**frames, other_engine=other_engine, asterisk=AsteriskBetweenDigits(asterisk))}

    run(job, compute)
