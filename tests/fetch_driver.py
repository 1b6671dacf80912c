"""A fetch in a process of its own, since huggingface_hub reads its environment once, when it is imported.

Usage: fetch_driver.py MODELS_FILE NAME FOLDER [POSITION]. Prints one JSON object: the seconds that the fetch took,
the lines that it told, and its receipt or its error. With a position, the process kills itself once the transfer has
come to it.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from samequantity.errors import SameQuantityError
from samequantity.models.fetching.files import fetch_models
from samequantity.models.fetching.progress import Meter
from samequantity.models.pinning.pins import load_pins, pin_of


class MortalMeter:
    def __init__(self, dies_at: int | None) -> None:
        self.dies_at = dies_at

    def at(self, position: int) -> None:
        if self.dies_at is not None and position >= self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)


class Listener:
    def __init__(self, dies_at: int | None) -> None:
        self.lines: list[str] = []
        self.dies_at = dies_at

    def line(self, text: str) -> None:
        self.lines.append(text)

    @contextmanager
    def meter(self, label: str, total: int | None) -> Iterator[Meter]:
        del label, total
        yield MortalMeter(self.dies_at)


def main(models_file: str, name: str, folder: str, dies_at: str | None = None) -> None:
    reporter = Listener(int(dies_at) if dies_at else None)
    told: dict[str, object] = {"receipt": None, "error": None, "kind": None}
    start = time.monotonic()
    try:
        (receipt,) = fetch_models([pin_of(load_pins(Path(models_file)), name)], Path(folder), reporter=reporter)
        told["receipt"] = receipt.to_json()
    except SameQuantityError as error:
        told |= {"error": str(error), "kind": type(error).__name__}
    print(json.dumps(told | {"seconds": time.monotonic() - start, "lines": reporter.lines}))


if __name__ == "__main__":
    main(*sys.argv[1:])
