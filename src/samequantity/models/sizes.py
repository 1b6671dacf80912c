"""Sizes of files as people read them."""

_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def size_text(size: int) -> str:
    """A number of bytes in the unit that fits it, so that no size but 0 is shown as 0.

    >>> [size_text(size) for size in (0, 999, 1_400, 25_000_000, 70_000_000_000)]
    ['0 bytes', '999 bytes', '1.40 kB', '25.00 MB', '70.00 GB']
    """
    for factor, unit in _UNITS:
        if size >= factor:
            return f"{size / factor:.2f} {unit}"
    return exact_size(size)


def exact_size(size: int | None) -> str:
    """A number of bytes to the last one, where a message tells two sizes apart; None is one that nobody gives."""
    return "of unknown size" if size is None else f"{size} byte{'' if size == 1 else 's'}"
