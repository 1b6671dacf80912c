"""The examples in docstrings hold."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import samequantity

MODULES = [
    module.name
    for module in pkgutil.walk_packages(samequantity.__path__, "samequantity.")
    if not module.name.endswith(".probe")  # a program, run on import of __main__ only
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    found = doctest.testmod(import_module(name))

    assert 0 == found.failed


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    examples = [test for name in MODULES for test in finder.find(import_module(name)) if test.examples]

    assert len(examples) >= 4
