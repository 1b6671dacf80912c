"""Reads settings into a dataclass: closed and without defaults, since engines take a misspelt option in silence."""

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from samequantity.closed import hint
from samequantity.errors import SettingsError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

UNSHOWN = "unshown"
"""In a field's metadata, true: no message repeats what is written there, since it may be a secret."""


def settings_of(kind: type[T], raw: Mapping[str, object], *, where: str) -> T:
    """The settings in a plain mapping that has exactly the fields of the dataclass `kind`.

    `where` names the place, for instance "config/systems.yaml, system smol"; every message begins with it. Raises
    SettingsError for an unknown or a missing key, a wrong type or a value without a meaning.
    """
    allowed = [field.name for field in fields(kind)]
    for key in raw:
        if key not in allowed:
            near = hint(str(key), allowed)
            raise SettingsError(f"{where}: unknown setting {key!r}{near}. Allowed: {', '.join(allowed)}.")
    if missing := [name for name in allowed if name not in raw]:
        raise SettingsError(f"{where}: missing setting {', '.join(missing)}. Needed: {', '.join(allowed)}.")
    types = get_type_hints(kind)
    values = {
        field.name: _typed(where, field.name, raw[field.name], types[field.name], shown=not field.metadata.get(UNSHOWN))
        for field in fields(kind)
    }
    try:
        return kind(**values)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from error


def _typed(where: str, name: str, value: object, wanted_type: Any, *, shown: bool) -> Any:
    """`value` as the field `name` wants it, nothing converted but an integer to a float and a word to its Enum."""

    def refused(wanted: str) -> SettingsError:
        return SettingsError(
            f"{where}: {name} must be {wanted}, not {repr(value) if shown else 'what is written there'}"
        )

    if isinstance(wanted_type, type) and issubclass(wanted_type, StrEnum):
        choices = [member.value for member in wanted_type]
        if value in choices:
            return wanted_type(value)
        raise refused(f"one of {', '.join(choices)}")
    parts = get_args(wanted_type)
    if parts and all(isinstance(part, str) for part in parts):
        if value in parts:
            return value
        raise refused(f"one of {', '.join(parts)}")
    if wanted_type == dict[str, Any]:
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return dict(value)
        raise refused("a mapping")
    if wanted_type == tuple[str, ...]:
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise refused("a list of texts")
    if wanted_type is float and type(value) is int:
        return float(value)
    expected = parts or (wanted_type,)
    if type(value) in expected:  # exact: True is no integer here
        return value
    raise refused(" or ".join("null" if kind is type(None) else kind.__name__ for kind in expected))
