"""Command import: responses that were made elsewhere become a system of the study."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.inference import role, view_columns
from samequantity.cli.inputs import TableInput
from samequantity.cli.logs import log
from samequantity.cli.options import out, store, table_in
from samequantity.cli.running import Job, run
from samequantity.closed import hint
from samequantity.domain.exchange import FinishReason
from samequantity.engines.settings import ReasoningFormat
from samequantity.errors import SettingsError, TableError
from samequantity.messages import EXAMPLES
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore
from samequantity.store.tables import SYSTEM

if TYPE_CHECKING:
    import polars as pl

    from samequantity.stages.transcripts import Channels


def _renames(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """What the columns are called there, by our names."""
    named: dict[str, str] = {}
    for value in values:
        ours, equals, theirs = value.partition("=")
        if not (ours and equals and theirs):
            raise SettingsError(f"--column {value}: wanted is our name=their name, such as text=completion")
        if ours in named or theirs in named.values():
            raise SettingsError(f"--column {value}: {ours if ours in named else theirs} is named twice")
        named[ours] = theirs
    return named


@click.command("import")
@table_in("views", "The views that were asked, with view_id and prompt")
@table_in("transcript", "The responses, with view_id or prompt, text, finish_reason; where known also more, see below")
@click.option("--system", required=True, help="The name that the responses get as a system of the study.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    callback=_renames,
    help="What a column is called there, such as text=completion. Can be given several times.",
)
@click.option(
    "--finish-reason",
    "assumed",
    type=click.Choice([reason.value for reason in FinishReason]),
    help="The finish reason of every response, for a transcript that has none. Default: that is an error.",
)
@click.option(
    "--reasoning-format",
    type=click.Choice([form.value for form in ReasoningFormat]),
    default=ReasoningFormat.NONE.value,
    show_default=True,
    help="How the texts mark what was thought aloud, which is then taken out of the answer.",
)
@click.option("--allow-missing", is_flag=True, help="Accept views without a response. Default: that is an error.")
@out("the responses go")
@store
def import_(
    views: Path,
    transcript: Path,
    system: str,
    columns: dict[str, str],
    assumed: str | None,
    reasoning_format: str,
    allow_missing: bool,
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Make a system of responses from elsewhere, so that they can be scored.

    Read are view_id (or else the prompt, whose text must be a view's), text, finish_reason and, where they are there,
    reasoning, raw, prompt_tokens and completion_tokens. Only `stop` and what is known to mean the same is a finished
    response; all others count as cut off.
    """
    if not system.strip():
        raise SettingsError("--system: a name is wanted, not blanks")
    asked = TableInput(path=views, columns=view_columns())
    names = _names(transcript, columns)
    answered = TableInput(path=transcript, columns=_kinds(names))
    settings = {
        "system": system,
        "columns": names,
        "finish_reason": assumed,
        "reasoning_format": reasoning_format,
        "allow_missing": allow_missing,
    }
    job = Job(
        stage=STAGES["import"],
        inputs={"views": asked, "transcript": answered},
        settings=settings,
        outputs={role(out): out},
        store=store,
    )

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.stages.transcripts import Reading, responses_of

        reading = Reading(
            system=system,
            assumed=None if assumed is None else FinishReason(assumed),
            split=_splitter(reasoning_format),
            allow_missing=allow_missing,
        )
        made = responses_of(_renamed(answered.frame, names), asked.frame, reading)
        _tell_unfinished(made)
        return {role(out): made}

    run(job, compute)


def _names(transcript: Path, columns: Mapping[str, str]) -> dict[str, str]:
    """What to read of a transcript: our names of columns → the names that they have there.

    A column that --column gives to one name is not read under its own as well.
    """
    from samequantity.stages.transcripts import COLUMNS
    from samequantity.store.tables import column_names

    for ours in columns:
        if ours not in COLUMNS:
            raise SettingsError(
                f"--column {ours}={columns[ours]}: unknown name {ours}{hint(ours, list(COLUMNS))}; "
                f"there are {', '.join(COLUMNS)}"
            )
    there = column_names(transcript)
    if not there:
        raise TableError(f"{transcript}: holds no row. Give the file with the responses")
    if absent := [theirs for theirs in columns.values() if theirs not in there]:
        raise TableError(f"{transcript}: has no column {', '.join(absent)}; it has {', '.join(there)}")
    taken = set(columns.values())
    own = {name: name for name in COLUMNS if name in there and name not in taken and name not in columns}
    names = dict(sorted((own | dict(columns)).items()))
    for wanted in (("view_id", "prompt"), ("text", "reasoning")):
        if not names.keys() & set(wanted):
            raise TableError(
                f"{transcript}: has neither {wanted[0]} nor {wanted[1]}; it has {', '.join(there)}. "
                f"Name the column with --column {wanted[0]}=<its name>"
            )
    return names


def _kinds(names: Mapping[str, str]) -> "dict[str, pl.DataType]":
    from samequantity.stages.transcripts import COLUMNS

    return {theirs: COLUMNS[ours] for ours, theirs in names.items()}


def _renamed(frame: "pl.DataFrame", names: Mapping[str, str]) -> "pl.DataFrame":
    """The columns by our names, and the column `system` where nothing else was made of it."""
    import polars as pl

    kept = [SYSTEM] if SYSTEM in frame.columns and SYSTEM not in names.values() else []
    return frame.select(*kept, *(pl.col(theirs).alias(ours) for ours, theirs in names.items()))


def _splitter(form: str) -> "Callable[[str], Channels] | None":
    """What takes a text apart, as the engines do with what a model generated."""
    if form == ReasoningFormat.NONE:
        return None
    from samequantity.engines.channels import split

    return lambda text: split(text, ReasoningFormat(form))


def _tell_unfinished(responses: "pl.DataFrame") -> None:
    """Say which finish reasons are no known word, since the responses that have one count as cut off."""
    import polars as pl

    strange = responses.filter(pl.col("finish_reason") == FinishReason.OTHER)["raw_finish_reason"].drop_nulls()
    for reason, times in strange.value_counts(sort=True).rows()[:EXAMPLES]:
        log.info(
            "%s of %s responses ended by %s, which is not known to mean stop or length; they count as cut off",
            *(times, len(responses), json.dumps(reason[:40], ensure_ascii=False)),
        )
