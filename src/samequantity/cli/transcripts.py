"""Command import: responses that were made elsewhere become a system of the study."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.inference import role, view_columns
from samequantity.cli.inputs import TableInput
from samequantity.cli.logs import log
from samequantity.cli.options import out, store, table_in
from samequantity.cli.running import Job, run
from samequantity.closed import hint
from samequantity.domain.exchange import FinishReason, folded
from samequantity.engines.settings import ReasoningFormat
from samequantity.errors import SettingsError, TableError
from samequantity.messages import EXAMPLES
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore
from samequantity.store.tables import SYSTEM

if TYPE_CHECKING:
    import polars as pl

    from samequantity.stages.transcripts import Channels


_SYSTEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""As the configuration's schema has it: a system is a file's name in a study."""


def _renames(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """What the columns are called there, by our names; "" for one that is not to be read."""
    named: dict[str, str] = {}
    for value in values:
        ours, equals, theirs = value.partition("=")
        if not (ours and equals):
            raise SettingsError(f"--column {value}: wanted is our name=their name, such as text=completion")
        if ours in named or (theirs and theirs in named.values()):
            raise SettingsError(f"--column {value}: {ours if ours in named else theirs} is named twice")
        named[ours] = theirs
    return named


def _meanings(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, FinishReason]:
    """What finish reasons mean, by the word in lower case."""
    meant: dict[str, FinishReason] = {}
    for value in values:
        word, equals, reason = value.rpartition("=")
        if not (word and equals) or reason not in list(FinishReason):
            raise SettingsError(f"--finish {value}: wanted is their word=stop, =length or =other, such as DONE=stop")
        if folded(word) in meant:
            raise SettingsError(f"--finish {value}: {word} is there twice; capital letters do not count")
        meant[folded(word)] = FinishReason(reason)
    return meant


@click.command("import")
@table_in("views", "The views that were asked, with view_id and prompt")
@table_in("transcript", "The responses, with view_id or prompt, text, finish_reason; where known also more, see below")
@click.option("--system", required=True, help="The name that the responses get as a system of the study.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    callback=_renames,
    help="What a column is called there, such as text=completion; nothing after the sign leaves one of that name "
    "unread. Can be given several times.",
)
@click.option(
    "--finish",
    multiple=True,
    callback=_meanings,
    metavar="WORD=[stop|length|other]",
    help="What a finish reason means that is no word known here, such as DONE=stop; stop is for the end of the model's "
    "own turn. Capital letters do not count. Can be given several times.",
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
    finish: dict[str, FinishReason],
    assumed: str | None,
    reasoning_format: str,
    allow_missing: bool,
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Make a system of responses from elsewhere, so that they can be scored.

    Read are view_id (or else the prompt, whose text must be a view's), text, finish_reason and, where they are there,
    reasoning, raw, prompt_tokens and completion_tokens. Only `stop` and what is known to mean the same is a finished
    response; all others count as cut off, and so does one that ends inside its reasoning.
    """
    if not _SYSTEM.fullmatch(system):
        raise SettingsError(
            f"--system {json.dumps(system[:40], ensure_ascii=False)}: a name is letters, digits, dots, dashes and "
            "underscores, a letter or digit first, such as their-model"
        )
    if finish and assumed is not None:
        raise SettingsError(
            "--finish: says what finish reasons mean, --finish-reason that there are none. Leave one out"
        )
    asked = TableInput(path=views, columns=view_columns())
    names = _names(transcript, columns)
    answered = TableInput(path=transcript, columns=_kinds(transcript, names))
    settings = {
        "system": system,
        "columns": names,
        "finish": {word: reason.value for word, reason in sorted(finish.items())},
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
            finish=finish,
            split=_splitter(reasoning_format),
            allow_missing=allow_missing,
        )
        made = responses_of(_renamed(answered.frame, names), asked.frame, reading)
        _tell_unfinished(made, known=finish.keys())
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
    if absent := [theirs for theirs in columns.values() if theirs and theirs not in there]:
        raise TableError(f"{transcript}: has no column {', '.join(absent)}; it has {', '.join(there)}")
    taken = set(columns.values())
    own = {name: name for name in COLUMNS if name in there and name not in taken and name not in columns}
    given = {ours: theirs for ours, theirs in columns.items() if theirs}
    names = dict(sorted((own | given).items()))
    for wanted in (("view_id", "prompt"), ("text", "reasoning")):
        if not names.keys() & set(wanted):
            raise TableError(
                f"{transcript}: has neither {wanted[0]} nor {wanted[1]}; it has {', '.join(there)}. "
                f"Name the column with --column {wanted[0]}=<its name>"
            )
    return names


def _kinds(transcript: Path, names: Mapping[str, str]) -> "dict[str, pl.DataType]":
    """The columns to read and their types: a count that is a float there is read as one, and looked at by the stage."""
    import polars as pl

    from samequantity.stages.transcripts import COLUMNS, TOKENS
    from samequantity.store.tables import PARQUET

    kinds = {theirs: COLUMNS[ours] for ours, theirs in names.items()}
    # Of JSON Lines any number is taken as a float, in which every count is exact.
    try:
        there = pl.read_parquet_schema(transcript) if transcript.suffix == PARQUET else {}
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{transcript}: not a readable Parquet file ({str(error).splitlines()[0]})") from error
    for theirs in [names[ours] for ours in TOKENS if ours in names]:
        found = there.get(theirs, pl.Float64())
        kinds[theirs] = found if found.is_float() else kinds[theirs]
    return kinds


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


def _tell_unfinished(responses: "pl.DataFrame", known: Collection[str]) -> None:
    """Say which finish reasons are no known word, since the responses that have one count as cut off."""
    import polars as pl

    strange = responses.filter(pl.col("finish_reason") == FinishReason.OTHER)["raw_finish_reason"].drop_nulls()
    untold = [row for row in strange.value_counts(sort=True).rows() if folded(row[0]) not in known]
    for reason, times in untold[:EXAMPLES]:
        log.info(
            "%s of %s responses ended by %s, which is not known to mean stop or length; they count as cut off (else: "
            "--finish)",
            *(times, len(responses), json.dumps(reason[:40], ensure_ascii=False)),
        )
