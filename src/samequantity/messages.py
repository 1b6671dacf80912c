"""Words that the messages of several stages share: how many, and which ones for example."""

from collections.abc import Sequence

EXAMPLES = 5
"""How many a message names at most; the count beside them is always whole."""


def counted(items: Sequence[str], noun: str) -> str:
    """`1 view`, `3 views`."""
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"


def some(items: Sequence[str]) -> str:
    """The first few, with a mark where there are more."""
    return ", ".join(items[:EXAMPLES]) + (", …" if len(items) > EXAMPLES else "")
