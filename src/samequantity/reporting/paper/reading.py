"""The entries of `resources/published.yaml`: what does not fit is a SettingsError that names its place in the file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, TypeVar

from samequantity import closed
from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import SettingsError
from samequantity.reporting.paper.publication import Pair, Printed, Range, Unit
from samequantity.scoring.measures import Measure

T = TypeVar("T")
Choice = TypeVar("Choice", bound=StrEnum)

_LAYERS: Mapping[Measure, Sequence[Layer | None]] = {
    Measure.RECOVERED: (Layer.AUDITED,),
    Measure.MAGNITUDE_DROP: (Layer.AUDITED,),
    Measure.LENGTH_FINISHED: (None,),
}
"""The layers in which the scores have a measure; both where none is named."""

_LARGEST = {Unit.RATE: 1, Unit.POINTS: 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A mapping and its place, such as `published.figures.h1`; a value is checked when it is asked for."""

    content: Mapping[str, Any]
    where: str

    @classmethod
    def of(cls, content: object, where: str) -> Self:
        """The mapping at a place, whatever its keys are; it must have some."""
        if not (found := closed.open_mapping(content, where)):
            raise SettingsError(f"{where}: a mapping with at least one key is wanted.")
        return cls(content=found, where=where)

    def closed(self, *keys: str) -> Self:
        """This mapping, when it has exactly these keys."""
        closed.closed_mapping(self.content, self.where, keys=keys)
        return self

    def place(self, key: str) -> str:
        """Where the value of a key stands."""
        return f"{self.where}.{key}"

    def entry(self, key: str) -> "Entry":
        """The mapping under a key."""
        return Entry.of(self.content[key], self.place(key))

    def text(self, key: str) -> str:
        """A text that is not empty."""
        return closed.text(self.content[key], self.place(key))

    def whole(self, key: str) -> int:
        """A whole number above 0."""
        return closed.count(self.content[key], self.place(key))

    def optional_whole(self, key: str) -> int | None:
        """A whole number above 0, or None for null."""
        return closed.optional_count(self.content[key], self.place(key))

    def choice(self, key: str, choices: type[Choice]) -> Choice:
        """One of a closed set of words."""
        return chosen(self.content[key], choices, self.place(key))

    def optional_choice(self, key: str, choices: type[Choice]) -> Choice | None:
        """One of a closed set of words, or None for null."""
        return None if self.content[key] is None else self.choice(key, choices)

    def choices(self, key: str, choices: type[Choice]) -> tuple[Choice, ...]:
        """Several of a closed set of words."""
        return tuple(chosen(word, choices, self.place(key)) for word in self.items(key))

    def between(self, unit: Unit) -> Range:
        """The range from `low` to `high`, of which one can be null."""
        low, high = (
            None if self.content[key] is None else printed(self.content[key], self.place(key), unit)
            for key in ("low", "high")
        )
        try:
            return Range(low=low, high=high)
        except ValueError as error:
            raise SettingsError(f"{self.where}: {error}") from error

    def items(self, key: str) -> Sequence[object]:
        """A list that is not empty, nothing in it twice."""
        value = closed.sequence(self.content[key], self.place(key))
        if twice := [item for number, item in enumerate(value) if item in value[:number]]:
            raise SettingsError(f"{self.place(key)}: {twice[0]!r} stands twice")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureEntry(Entry):
    """The entry of one figure, which has a name and can speak of the paper's systems."""

    name: str
    known: Sequence[str]

    @property
    def label(self) -> str:
        """What readers see."""
        return self.text("label")

    def layer(self, measures: Sequence[Measure]) -> Layer | None:
        """The layer, null for the response itself, when the scores have the measures in it."""
        found = self.optional_choice("layer", Layer)
        if stray := [measure for measure in measures if found not in _LAYERS.get(measure, tuple(Layer))]:
            raise SettingsError(f"{self.place('layer')}: the scores have no {stray[0]} of layer {found or 'null'}")
        return found

    def family(self, measures: Sequence[Measure]) -> Family | None:
        """The family, null for whole orbits; a gap is that of a transformation."""
        found = self.optional_choice("family", Family)
        for measure in measures:
            if measure.is_of_orbits is not (found is None) or (measure.is_gap and found is Family.CANONICAL):
                raise SettingsError(f"{self.place('family')}: the scores have no {measure} of family {found or 'null'}")
        return found

    def system(self, name: object, where: str) -> str:
        """A name, when it is that of one of the paper's systems."""
        if not isinstance(name, str) or name not in self.known:
            raise SettingsError(f"{where}: unknown system {name!r}; there are {', '.join(self.known)}")
        return name

    def systems(self) -> tuple[str, ...]:
        """The systems listed under `systems`."""
        return tuple(self.system(name, self.place("systems")) for name in self.items("systems"))

    def by_system(self, key: str, reader: Callable[[object, str], T]) -> dict[str, T]:
        """What a mapping says of each system in it; `reader` takes the value and its place."""
        given = self.entry(key)
        return {
            self.system(name, given.where): reader(value, given.place(name)) for name, value in given.content.items()
        }


def chosen(value: object, choices: type[Choice], where: str) -> Choice:
    """The member of `choices` that a text names."""
    words = [choice.value for choice in choices]
    if not isinstance(value, str) or value not in words:
        hint = closed.hint(str(value), words)
        raise SettingsError(f"{where}: unknown {value!r}{hint}; there are {', '.join(words)}")
    return choices(value)


def printed(value: object, where: str, unit: Unit) -> Printed:
    """A number as it is printed, of a size that its unit allows."""
    try:
        number = Printed(text=value if isinstance(value, str) else "")
    except ValueError:
        raise SettingsError(
            f"{where}: {value!r} is no number as printed, a text such as '.915', '6.1' or '13'"
        ) from None
    largest = _LARGEST.get(unit)
    if largest is not None and number.value > largest:
        raise SettingsError(f"{where}: {number.text} is no number of {unit}; the largest is {largest}")
    if unit is Unit.COUNT and number.places:
        raise SettingsError(f"{where}: {number.text} is no count")
    return number


def pair(value: object, where: str) -> Pair:
    """A text k/n."""
    ends = value.split("/") if isinstance(value, str) else []
    try:
        numerator, denominator = (int(printed(end, where, Unit.COUNT).value) for end in ends)
        return Pair(numerator=numerator, denominator=denominator)
    except ValueError:
        raise SettingsError(f"{where}: {value!r} is not k/n with k of 0 to n, such as '985/987'") from None
