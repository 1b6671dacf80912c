"""Command infer: from views to one system's responses, in shards."""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samequantity.cli.inputs import TableInput
from samequantity.cli.logs import log, log_file_stream
from samequantity.cli.options import FOLDER, out, store, table_in
from samequantity.cli.running import Job, finish, write_products
from samequantity.cli.systems import System, system_of, system_options
from samequantity.errors import SettingsError
from samequantity.registry import STAGES
from samequantity.store.manifests import Manifest
from samequantity.store.objects import ObjectStore

if TYPE_CHECKING:
    import polars as pl

    from samequantity.stages.infer import Inference

ROLE = "responses.parquet"
"""The responses in the object store, and in the key, whatever format they are written in."""

_PART = re.compile(r"([1-9][0-9]*)/([1-9][0-9]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Shard `number` of `count`, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def rows(self, views: "pl.DataFrame") -> "pl.DataFrame":
        """The shard's views, with their place in the whole."""
        from samequantity.stages.responses import part

        return part(views, index=self.number - 1, count=self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The journal that keeps the responses: one file a shard and repetition, all read by each."""

    folder: Path
    part: Part
    repeat: int
    wait: float

    @property
    def name(self) -> str:
        """The name of the journal's file."""
        again = f"again-{self.repeat}-" if self.repeat else ""
        return f"{again}{self.part.number}-of-{self.part.count}"

    def label(self, system: str) -> str:
        """What progress is shown under."""
        return " ".join(
            [system, *([str(self.part)] if self.part.count > 1 else []), *(["again"] if self.repeat else [])]
        )


def _part(_: click.Context, __: click.Parameter, value: str) -> Part:
    match = _PART.fullmatch(value)
    if match is None or int(match[1]) > int(match[2]):
        raise SettingsError(f"--part {value}: wanted is number/count such as 2/3")
    return Part(number=int(match[1]), count=int(match[2]))


@click.command()
@table_in("views", "The views to ask, with view_id and prompt")
@system_options
@click.option("--part", callback=_part, default="1/1", show_default=True, help="Shard to ask: number/count.")
@click.option("--prompts", type=click.IntRange(min=1), help="Ask so many views, spread evenly. Default: all.")
@click.option("--repeat", type=click.IntRange(min=0), default=0, show_default=True, help="Repetition of the study.")
@click.option(
    "--journal", type=FOLDER, required=True, help="Folder of the system's journal; what is there is not asked."
)
@click.option(
    "--wait",
    type=float,
    default=600,
    show_default=True,
    help="Seconds to wait for another process's hold on the journal.",
)
@out("the responses go")
@store
def infer(
    views: Path,
    system: str,
    model: str | None,
    models_file: Path,
    folder: Path,
    settings: dict[str, Any],
    part: Part,
    prompts: int | None,
    repeat: int,
    journal: Path,
    wait: float,
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Ask a system every view.

    Every response is in the journal before the next prompt is asked: killed at any moment, the same command goes on
    where it was. The result of a shard is put together by merge.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    asked = TableInput(path=views, columns=view_columns())
    answering = system_of(system, model, models_file, folder, settings)
    job = Job(
        stage=STAGES["infer"],
        inputs={"views": asked},
        settings={
            "system": system,
            "engine": answering.identity(),
            "decoding": answering.settings.key_settings(),
            "prompts": prompts,
            "repeat": repeat,
        },
        outputs={ROLE: out},
        store=store,
    )
    recipe = job.recipe()
    stored = store.get(recipe.stage, recipe.key) if store else None
    facts: dict[str, Any] = {}
    if store and stored:
        responses = part.rows(TableInput(path=store.root / recipe.stage / recipe.key / ROLE).frame)
    else:
        chosen = part.rows(_spread(asked.frame, prompts))
        result, facts = _ask(chosen, answering, _Place(folder=journal, part=part, repeat=repeat, wait=wait))
        responses = result.responses
        _write_telemetry(result, out)
    outputs = write_products({role(out): out}, {role(out): responses})
    manifest = Manifest(recipe=recipe, outputs=outputs, part=str(part))
    manifest.write(job.manifest_path)
    seconds = time.perf_counter() - clock
    finish(job, manifest, started=started, seconds=seconds, from_store=stored is not None, **facts)


def _spread(views: "pl.DataFrame", prompts: int | None) -> "pl.DataFrame":
    from samequantity.stages.responses import spread

    return views if prompts is None else spread(views, prompts)


def _ask(views: "pl.DataFrame", system: System, place: _Place) -> "tuple[Inference, dict[str, Any]]":
    """The shard's responses, and what the record of the run says of them."""
    from samequantity.cli.interruption import resumable
    from samequantity.cli.progress import progress_for
    from samequantity.stages.infer import Decoding
    from samequantity.stages.infer import infer as stage
    from samequantity.store.journal import Journal

    settings = system.settings
    decoding = Decoding(max_tokens=settings.max_tokens, sampling=settings.sampling(), repeat=place.repeat)
    with (
        Journal.open(place.folder, place.name, wait_seconds=place.wait, notice=log.info) as journal,
        resumable(journal),
        system.opened() as engine,
    ):
        progress = progress_for(place.label(system.name), log_file=log_file_stream())
        result = stage(views, engine, journal, system=system.name, decoding=decoding, progress=progress)
        return result, {"inference": result.summary(), "engine": engine.host_facts()}


def _write_telemetry(result: "Inference", out: Path) -> None:
    """Seconds and tokens of each response, beside the table and never in it: they differ from run to run."""
    from samequantity.store.tables import write_table

    write_table(result.telemetry, out.with_name(f"{out.stem}.telemetry.jsonl"))


def role(out: Path) -> str:
    """The role of a file of responses in its manifest."""
    return f"responses{out.suffix}"


def view_columns() -> "dict[str, pl.DataType]":
    """What asking needs of the views."""
    import polars as pl

    return {"view_id": pl.String(), "prompt": pl.String()}
