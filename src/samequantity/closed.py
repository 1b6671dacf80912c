"""Reading a YAML file whose keys are all known: a mistyped, repeated or missing key is an error that names it.

`where` is a place in the file as a reader writes it down, for example
`resources/pinned_models.yaml: models.demo.files[0]`.
"""

import difflib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import cast

import yaml

from samequantity.errors import SettingsError


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe loader, except that a key written twice is refused; YAML alone would keep the last one silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                break  # a list or a mapping for a key, which the loader itself refuses
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key!r} stands twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def load_yaml(content: str) -> object:
    """What a YAML text says; YAMLError when it is none, or repeats a key."""
    loader = _UniqueKeyLoader(content)
    try:
        return cast("object", loader.get_single_data())
    finally:
        loader.dispose()


def read_yaml(path: Path) -> object:
    """The content of a YAML file.

    Raises SettingsError when the file is missing, not readable, not YAML, or repeats a key.
    """
    try:
        return load_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}). Give the path of the file.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not a YAML file that can be used: {error}") from error


def closed_mapping(value: object, where: str, *, keys: tuple[str, ...]) -> dict[str, object]:
    """The mapping at `where`, which must have exactly `keys`."""
    found = open_mapping(value, where)
    for key in found:
        if key not in keys:
            raise SettingsError(f"{where}: unknown key {key!r}{hint(key, keys)}; the keys here are {', '.join(keys)}.")
    for key in keys:
        if key not in found:
            raise SettingsError(f"{where}: the key {key!r} is missing; the keys here are {', '.join(keys)}.")
    return found


def open_mapping(value: object, where: str) -> dict[str, object]:
    """The mapping at `where`, whose keys are names that the user chooses."""
    if not isinstance(value, dict):
        raise SettingsError(f"{where}: a mapping is wanted, not {value!r}.")
    for key in value:
        if not isinstance(key, str):
            raise SettingsError(f"{where}: the key {key!r} is not text; quote it.")
    return dict(value)


def sequence(value: object, where: str) -> list[object]:
    """The list at `where`, which must not be empty."""
    if not isinstance(value, list) or not value:
        raise SettingsError(f"{where}: a list with at least one item is wanted, not {value!r}.")
    return list(value)


def text(value: object, where: str) -> str:
    """The text at `where`, which must not be empty."""
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{where}: text is wanted, not {value!r}; quote it if it looks like a number.")
    return value


def optional_text(value: object, where: str) -> str | None:
    """The text at `where`, or None for `null`."""
    return None if value is None else text(value, where)


def count(value: object, where: str) -> int:
    """The whole number above zero at `where`."""
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise SettingsError(f"{where}: a whole number above zero is wanted, not {value!r}.")
    return value


def optional_count(value: object, where: str) -> int | None:
    """The whole number above zero at `where`, or None for `null`."""
    return None if value is None else count(value, where)


def hint(word: str, words: Sequence[str]) -> str:
    """Which of the words that there are was probably meant, to be put behind the unknown one; empty if none is near."""
    near = difflib.get_close_matches(word, words, n=1)
    return f" (did you mean {near[0]}?)" if near else ""
