"""The ways in which one quantity is written, and the names of bases and views."""

from enum import StrEnum
from typing import NewType

BaseId = NewType("BaseId", str)
"""`<template>-<number, four digits>`, for instance `combined_volume-0001`."""

ViewId = NewType("ViewId", str)
"""`<base id>/<family>`, for instance `combined_volume-0001/fraction`."""


class Family(StrEnum):
    """How the quantities of a prompt are written."""

    CANONICAL = "canonical"
    FRACTION = "fraction"
    SCIENTIFIC = "scientific"
    PERCENT = "percent"
    WORDS = "words"
    UNIT = "unit"

    @property
    def is_transformation(self) -> bool:
        """Every family but the canonical one is compared with the canonical one."""
        return self is not Family.CANONICAL


TRANSFORMATIONS = tuple(family for family in Family if family.is_transformation)


def view_id(base: BaseId, family: Family) -> ViewId:
    """The name of one rendering of a base."""
    return ViewId(f"{base}/{family}")


def split_view_id(view: str) -> tuple[BaseId, Family]:
    """The base and the family of a view's name; ValueError when it is none."""
    base, slash, family = view.rpartition("/")
    if not slash or not base:
        raise ValueError(f"{view!r} is not <base id>/<family>")
    return BaseId(base), Family(family)
