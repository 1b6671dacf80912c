"""Writing values into the empty places of a YAML text, with every other byte left as it is."""

from collections.abc import Mapping
from typing import Any

import yaml

from samequantity.closed import load_yaml
from samequantity.errors import SettingsError

Place = tuple[str | int, ...]
"""Keys and positions from the top of the document, for example ("models", "tiny", "files", 0, "bytes")."""

_NULL = "tag:yaml.org,2002:null"


def fill_nulls(text: str, values: Mapping[Place, str | int]) -> str:
    """The text with each value in its place, where `null`, `~` or nothing stands now.

    Raises SettingsError for a place that is not there or not empty, and for a text in which an edit of that place
    would change another (an alias, a merge).

    >>> fill_nulls("a: {b: null, c: ~}  # mine", {("a", "b"): "x", ("a", "c"): 3})
    'a: {b: x, c: 3}  # mine'
    """
    top = yaml.compose(text, Loader=yaml.SafeLoader)
    nodes = {place: _null_at(top, place) for place in values}
    filled = text
    for place, node in sorted(nodes.items(), key=lambda item: item[1].start_mark.index, reverse=True):
        start, end = node.start_mark.index, node.end_mark.index
        # Nothing at all stands right behind the colon.
        filled = f"{filled[:start]}{' ' if start == end else ''}{_scalar(values[place])}{filled[end:]}"
    if load_yaml(filled) != _with_values(load_yaml(text), values):
        raise SettingsError(
            f"{written(next(iter(values)))} and what is filled with it: an alias or an unusual form of the file leads "
            f"elsewhere. Write `null` there, or the values by hand."
        )
    return filled


def written(place: Place) -> str:
    """The place as a reader writes it down.

    >>> written(("models", "tiny", "files", 0, "bytes"))
    'models.tiny.files[0].bytes'
    """
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")


def _null_at(top: yaml.Node | None, place: Place) -> yaml.Node:
    node = top
    for key in place:
        if isinstance(node, yaml.MappingNode):
            node = next((value for name, value in node.value if name.value == key), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
        else:
            node = None
    if node is None or node.tag != _NULL:
        raise SettingsError(f"{written(place)}: nothing empty stands there, so nothing can be filled in.")
    return node


def _scalar(value: str | int) -> str:
    """The value as YAML; quoted when it would be read as something else, as forty digits would."""
    plain = str(value)
    return plain if load_yaml(plain) == value else f'"{plain}"'


def _with_values(data: Any, values: Mapping[Place, str | int]) -> Any:
    wanted = _apart(data)
    for place, value in values.items():
        holder = wanted
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = value
    return wanted


def _apart(data: Any) -> Any:
    """A copy in which no two places share one object, as an alias makes them."""
    if isinstance(data, dict):
        return {key: _apart(value) for key, value in data.items()}
    return [_apart(value) for value in data] if isinstance(data, list) else data
