"""Where a command's messages go: the terminal, and the file of `--log`."""

import logging
import sys
from pathlib import Path
from typing import TextIO

log = logging.getLogger("samequantity")


def start_logging(log_file: Path | None) -> None:
    """Messages go to standard error, and to `log_file` if one is given, which begins anew."""
    log.setLevel(logging.INFO)
    _add(logging.StreamHandler(sys.stderr))
    if log_file is not None:
        log_file.parent.mkdir(parents=True, exist_ok=True)
        _add(_LogFile(log_file, mode="w", encoding="utf-8", errors="replace"))


def log_file_stream() -> TextIO | None:
    """The open file of `--log`, for what is shown in another way on a terminal; None without one."""
    files = (handler.stream for handler in log.handlers if isinstance(handler, logging.FileHandler))
    return next(files, None)


class _LogFile(logging.FileHandler):
    """A log file; a full disk costs what would stand in it, and not the message on the terminal."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - as logging calls it
        """Go on."""


def _add(handler: logging.Handler) -> None:
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.addHandler(handler)
