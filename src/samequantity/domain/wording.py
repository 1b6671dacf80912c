"""Prompts: a skeleton of words, and quantity tokens that differ from view to view."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Self

from samequantity.domain.bases import Base
from samequantity.domain.benchmark import FamilyPlan
from samequantity.domain.programs import Quantity
from samequantity.domain.rationals import as_decimal, as_fraction, as_scientific, as_words
from samequantity.domain.templates import CONSENSUS_TEMPLATES, TEMPLATES, TemplateName
from samequantity.domain.units import Dimension, Unit
from samequantity.domain.views import Family
from samequantity.errors import SettingsError

_PARAPHRASES = 2


class WordingError(SettingsError):
    """A skeleton that does not fit its template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """The words of a template's question, with one `{name}` for each quantity token."""

    text: str

    def slots(self) -> list[str]:
        """The names of the quantity tokens, in the order of the text."""
        return _names(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """All hand-written words: a skeleton a template, two paraphrases for the consensus study, the instruction."""

    instruction: str
    unit_request: str
    skeletons: Mapping[TemplateName, Skeleton]
    paraphrases: Mapping[TemplateName, tuple[Skeleton, Skeleton]]

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Read a parsed `resources/wording.yaml`; WordingError names what does not fit."""
        _closed(config, {"instruction", "unit_request", "templates"}, "the wording")
        if not isinstance(config["templates"], Mapping):
            raise WordingError("templates: wanted is a mapping of templates")
        skeletons, paraphrases = {}, {}
        for name, entry in config["templates"].items():
            if name not in set(TemplateName):
                raise WordingError(f"templates: unknown template {name!r}; there are {', '.join(TemplateName)}")
            template = TemplateName(name)
            paraphrased = template in CONSENSUS_TEMPLATES
            _closed(entry, {"skeleton"} | ({"paraphrases"} if paraphrased else set()), f"templates.{name}")
            skeletons[template] = _skeleton(template, entry["skeleton"])
            if paraphrased:
                if not isinstance(entry["paraphrases"], list) or len(entry["paraphrases"]) != _PARAPHRASES:
                    raise WordingError(f"templates.{name}.paraphrases: wanted are {_PARAPHRASES}")
                second, third = (_skeleton(template, text) for text in entry["paraphrases"])
                paraphrases[template] = (second, third)
        if _names(config["unit_request"]) != ["unit"]:
            raise WordingError(f"unit_request: {config['unit_request']!r} must hold {{unit}} once, and nothing else")
        return cls(
            instruction=config["instruction"],
            unit_request=config["unit_request"],
            skeletons=skeletons,
            paraphrases=paraphrases,
        )

    def prompt(self, skeleton: Skeleton, tokens: Mapping[str, str], unit: Unit) -> str:
        """The user message: question, unit asked for, instruction."""
        question = skeleton.text.format_map(tokens)
        return f"{question} {self.unit_request.format(unit=unit)}\n{self.instruction}"


def tokens(base: Base, family: Family, plan: FamilyPlan | None) -> dict[str, str]:
    """The quantity tokens of one view: what the family rewrites, and the rest as in the canonical view.

    `plan` is the family's plan for the base's template, None for the canonical view.
    """
    rewritten = plan.rewrites if plan else ()
    try:
        return {
            name: _WRITERS[family](quantity, plan) if name in rewritten else _canonical(quantity, plan)
            for name, quantity in base.parameters.items()
        }
    except ValueError as error:
        raise WordingError(f"{base.id} has no {family} view: {error}") from error


def _closed(config: Mapping[str, Any], keys: set[str], where: str) -> None:
    if not isinstance(config, Mapping):
        raise WordingError(f"{where}: wanted is a mapping with the keys {', '.join(sorted(keys))}")
    if stray := set(config) ^ keys:
        raise WordingError(
            f"{where}: wanted are exactly the keys {', '.join(sorted(keys))};"
            f" unknown or missing: {', '.join(sorted(map(str, stray)))}"
        )


def _names(text: str) -> list[str]:
    """The names in braces, in their order; WordingError for braces that do not pair."""
    try:
        return [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise WordingError(f"{text!r}: {error}") from error


def _skeleton(template: TemplateName, text: str) -> Skeleton:
    skeleton = Skeleton(text=text)
    if sorted(skeleton.slots()) != sorted(TEMPLATES[template].units):
        raise WordingError(f"{template}: the skeleton {text!r} must hold each of its parameters once")
    return skeleton


def _with_unit(number: str, unit: Unit) -> str:
    return number if unit.dimension is Dimension.DIMENSIONLESS else f"{number} {unit}"


def _canonical(quantity: Quantity, _: FamilyPlan | None) -> str:
    return _with_unit(as_decimal(quantity.value), quantity.unit)


def _fraction(quantity: Quantity, _: FamilyPlan | None) -> str:
    return _with_unit(as_fraction(quantity.value), quantity.unit)


def _scientific(quantity: Quantity, _: FamilyPlan | None) -> str:
    return _with_unit(as_scientific(quantity.value), quantity.unit)


def _percent(quantity: Quantity, _: FamilyPlan | None) -> str:
    return f"{as_decimal(quantity.value * 100)}%"


def _words(quantity: Quantity, _: FamilyPlan | None) -> str:
    return _with_unit(as_words(quantity.value), quantity.unit)


def _unit(quantity: Quantity, plan: FamilyPlan | None) -> str:
    if plan is None or plan.sub_unit is None:
        raise WordingError("the unit family needs a sub_unit")
    return _canonical(quantity.to(plan.sub_unit), None)


_WRITERS: Mapping[Family, Callable[[Quantity, FamilyPlan | None], str]] = {
    Family.CANONICAL: _canonical,
    Family.FRACTION: _fraction,
    Family.SCIENTIFIC: _scientific,
    Family.PERCENT: _percent,
    Family.WORDS: _words,
    Family.UNIT: _unit,
}
