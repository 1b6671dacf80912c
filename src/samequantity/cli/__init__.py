"""The command line: one command a stage, and commands to look after what the stages made.

Each command reads, calls one transformation, and writes. Modules are imported when their command is called, since
start-up time dominates small jobs.
"""

import errno
import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from pathlib import Path

import click

from samequantity.cli.logs import log, start_logging
from samequantity.errors import SameQuantityError

_COMMANDS = {
    "generate": "benchmark",
    "render": "benchmark",
    "models": "models",
    "infer": "inference",
    "merge": "merging",
    "tokens": "tokens",
    "import": "transcripts",
    "repeat": "repeat",
    "parse": "answers",
    "audit": "answers",
    "score": "results",
    "bootstrap": "results",
    "compare": "comparison",
    "collect": "results",
    "tables": "results",
    "figures": "results",
    "runtime": "runtime",
    "status": "upkeep",
    "verify": "upkeep",
    "provenance": "upkeep",
    "diff": "comparison",
    "store": "storage",
    "devices": "runtime",
}

_CURES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), ". Make room and run the same command again."),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS), ". Give the folder to this user or choose another, and run it again."
    ),
}


class _Commands(click.Group):
    """The commands in the order of the pipeline, each imported when it is called."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"samequantity.cli.{_COMMANDS[cmd_name]}")
        command = getattr(module, f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name)
        return command if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away, as `| head` does
            return None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="samequantity")
@click.option(
    "--log", "log_file", type=click.Path(path_type=Path), help="Write messages to this file as well as to the terminal."
)
def cli(log_file: Path | None) -> None:
    """Does a language model give the same answer when the same quantity is written another way?

    One command a stage, in the order generate, render, infer, parse, audit, score, bootstrap, compare, tables and
    figures; the workflow (snakemake) calls them, and each can be called alone on any Parquet or JSON Lines file of its
    shape.
    """
    start_logging(log_file)


def main() -> None:
    """Run a command; an error that the user can cure is one message and exit status 1, without a traceback."""
    # Most commands end within a second or two; looking for cycles took a tenth of that.
    gc.set_threshold(200_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show → shows a question mark
    try:
        cli.main(prog_name="samequantity", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except SameQuantityError as error:
        log.error("samequantity: %s", error)
        sys.exit(1)
    except OSError as error:
        cure = _CURES.get(error.errno or 0, "")
        log.error("samequantity: %s: %s%s", error.filename or "system", error.strerror or error, cure)
        sys.exit(1)
