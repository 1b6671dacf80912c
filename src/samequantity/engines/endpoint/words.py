"""A server's own words in a message: on one line, not too many, and nothing in them that a terminal would obey."""

SHOWN = 300
"""Characters of a server's own words in a message."""

_NAMES = 20
"""How many names of a server's listing a message repeats."""


def shown(text: str, limit: int = SHOWN) -> str:
    r"""The text on one line, at most `limit` characters, what cannot be printed as an escape such as `\x1b`."""
    line = " ".join(text[: 4 * limit].split())
    visible = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in line)
    return visible[:limit]


def shown_names(names: list[str]) -> str:
    """The first of a server's names, with a mark where there are more."""
    return ", ".join(shown(name, 100) for name in names[:_NAMES]) + (", …" if len(names) > _NAMES else "")
