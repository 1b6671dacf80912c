"""Commands parse and audit: from responses to verdicts."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.inputs import TableInput
from samequantity.cli.options import out, store, table_in
from samequantity.cli.running import Job, run
from samequantity.domain.rewriting import AUDIT_VERSION, AsteriskBetweenDigits
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore

if TYPE_CHECKING:
    import polars as pl

_system = click.option(
    "--system", help="Name of the system, for responses that carry no system column. Default: the file's name."
)

asterisk_between_digits = click.option(
    "--asterisk-between-digits",
    "asterisk",
    type=click.Choice([choice.value for choice in AsteriskBetweenDigits]),
    default=AsteriskBetweenDigits.KEEP.value,
    show_default=True,
    help="Whether 2**3 keeps its operator, or becomes 23 as in the paper.",
)


@click.command()
@table_in("views", "The views asked, with view_id, dimension, canonical_unit, expected")
@table_in("responses", "The responses, with view_id, text, finish_reason (all but stop is cut off)")
@_system
@out("the answers go")
@store
def parse(views: Path, responses: Path, system: str | None, out: Path, store: ObjectStore | None) -> None:
    """Read every response with the strict parser.

    Works on anyone's responses: only the columns named below are needed, as Parquet or JSON Lines.
    """
    from samequantity.stages.questions import RESPONSE_COLUMNS, VIEW_COLUMNS

    asked = TableInput(path=views, columns=VIEW_COLUMNS)
    answered = TableInput(path=responses, columns=RESPONSE_COLUMNS)
    name = system or responses.stem
    job = Job(
        stage=STAGES["parse"],
        inputs={"views": asked, "responses": answered},
        settings={"system": name},
        outputs={f"answers{out.suffix}": out},
        store=store,
    )

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.parse import parse as stage

        return {f"answers{out.suffix}": stage(asked.frame, answered.frame, name)}

    run(job, compute)


@click.command()
@table_in("views", "The views asked, with view_id, dimension, canonical_unit, expected")
@table_in("responses", "The responses, with view_id, text, finish_reason (all but stop is cut off)")
@table_in("answers", "The strict parser's answers, as parse writes them")
@_system
@asterisk_between_digits
@out("the audited answers go")
@store
def audit(
    views: Path, responses: Path, answers: Path, system: str | None, asterisk: str, out: Path, store: ObjectStore | None
) -> None:
    """Read every strict failure again after the fixed rewrite (audit_v2)."""
    from samequantity.stages.questions import ANSWER_COLUMNS, RESPONSE_COLUMNS, VIEW_COLUMNS

    asked = TableInput(path=views, columns=VIEW_COLUMNS)
    answered = TableInput(path=responses, columns=RESPONSE_COLUMNS)
    judged = TableInput(path=answers, columns=ANSWER_COLUMNS)
    name = system or responses.stem
    job = Job(
        stage=STAGES["audit"],
        inputs={"views": asked, "responses": answered, "answers": judged},
        settings={"system": name, "audit": AUDIT_VERSION, "asterisk_between_digits": asterisk},
        outputs={f"audits{out.suffix}": out},
        store=store,
    )

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.audit import audit as stage

        audited = stage(asked.frame, answered.frame, judged.frame, name, AsteriskBetweenDigits(asterisk))
        return {f"audits{out.suffix}": audited}

    run(job, compute)
