"""Waiting between two attempts: how long, said in one line each time, and over at once when the job is stopped."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from samequantity.engines.base import Notice, tell

_SECONDS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,9})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds between two attempts: they double from `first` to `longest`, and a random part of `first` comes on top.

    A server that says how long to wait is obeyed up to `told`. `sleep` waits so many seconds, or until the event is
    set; `notice` is told of each wait beforehand.
    """

    first: float = 1.0
    longest: float = 60.0
    told: float = 300.0
    sleep: Callable[[threading.Event, float], object] = threading.Event.wait
    notice: Notice = tell


def wanted_wait(header: str | None) -> float:
    """Seconds that a Retry-After header asks for, in numbers or as a date; 0 when it says nothing intelligible."""
    if header is None:
        return 0.0
    if _SECONDS.fullmatch(header):
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):  # TypeError: a date without a zone
        return 0.0
