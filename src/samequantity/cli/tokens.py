"""Command tokens: how a system's vocabulary cuts every prompt, and every quantity in it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samequantity.cli.inputs import ConfigInput, TableInput
from samequantity.cli.options import FILE, out, store, table_in
from samequantity.cli.running import Job, run
from samequantity.cli.systems import System, system_of, system_options
from samequantity.errors import SettingsError
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore

if TYPE_CHECKING:
    import polars as pl

    from samequantity.engines.llama.tokenizer import Tokenizer


@click.command()
@table_in("bases", "The bases, as generate writes them")
@table_in("views", "Their views, as render writes them")
@click.option("--benchmark", type=FILE, required=True, help="The benchmark that they are of.")
@click.option("--wording", type=FILE, required=True, help="The words of the prompts.")
@system_options
@out("the tokens of the quantities go; those of whole prompts go beside it, NAME.prompts.SUFFIX")
@store
def tokens(
    bases: Path,
    views: Path,
    benchmark: Path,
    wording: Path,
    system: str,
    model: str | None,
    models_file: Path,
    folder: Path,
    settings: dict[str, Any],
    out: Path,
    store: ObjectStore | None,
) -> None:
    """Show how a system's vocabulary cuts every prompt, and every quantity in it, into tokens.

    Reads the chat template and the vocabulary of a model file, not its weights: it takes seconds, and no GPU.
    """
    from samequantity.stages.generate import SCHEMA
    from samequantity.stages.tokens import VIEW_COLUMNS

    made, asked = TableInput(path=bases, columns=SCHEMA), TableInput(path=views, columns=VIEW_COLUMNS)
    config, words = ConfigInput(path=benchmark), ConfigInput(path=wording)
    tokenizer = _tokenizer(system_of(system, model, models_file, folder, settings))
    prompts = out.with_name(f"{out.stem}.prompts{out.suffix}")
    job = Job(
        stage=STAGES["tokens"],
        inputs={"bases": made, "views": asked, "benchmark": config, "wording": words},
        settings={"system": system, "tokenizer": tokenizer.identity()},
        outputs={path.name: path for path in (out, prompts)},
        store=store,
    )

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.domain.benchmark import Benchmark
        from samequantity.domain.wording import Wording
        from samequantity.stages.tokens import tokens as stage

        plan, skeletons = config.read(Benchmark.from_config), words.read(Wording.from_config)
        with tokenizer:
            found = stage(made.frame, asked.frame, plan, skeletons, tokenizer, system=system)
        return {out.name: found.quantities, prompts.name: found.prompts}

    run(job, compute)


def _tokenizer(system: System) -> "Tokenizer":
    """The system's chat template and vocabulary. SettingsError for an engine that runs no model file."""
    from samequantity.engines.llama.settings import LlamaSettings
    from samequantity.engines.llama.tokenizer import Tokenizer

    settings, files = system.settings, system.files
    if not isinstance(settings, LlamaSettings):
        raise SettingsError(
            f"{system.name}: its engine {settings.engine} has no vocabulary here, so there is nothing to show;"
            " tokens wants the engine llama.cpp"
        )
    if files is None:
        raise SettingsError(f"{system.name}: engine {settings.engine} needs a model: --model NAME or FILE")
    return Tokenizer(settings, files.path, files.digest)
