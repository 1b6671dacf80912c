"""Runs the command line in this process: what it prints, how it ends."""

import io
import logging
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from samequantity.cli import main


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended; `out` and `err` are what it printed."""

    status: int
    out: str
    err: str

    @property
    def message(self) -> str:
        """The one message of a command that failed: without a traceback, and after notices of files from elsewhere."""
        assert self.status != 0, self
        assert "Traceback" not in self.err
        return "\n".join(line for line in self.err.splitlines() if not line.endswith("taken as it is"))


def samequantity(*arguments: str | Path) -> Ran:
    """Run `samequantity <arguments>`."""
    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    log = logging.getLogger("samequantity")
    with patch.object(sys, "argv", ["samequantity", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
        finally:
            for handler in list(log.handlers):
                log.removeHandler(handler)
                handler.close()
    assert isinstance(status, int)
    return Ran(status=status, out=out.getvalue(), err=err.getvalue())


def done(*arguments: str | Path) -> Ran:
    """Run a command that must succeed."""
    ran = samequantity(*arguments)
    assert ran.status == 0, ran.err
    return ran
