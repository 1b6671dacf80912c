"""Source fingerprints: what a stage's code does, whatever its comments, docstrings and layout say.

A fingerprint is a hash over the syntax trees of a module and of all first-party modules that it imports, directly or
not, with the packages around them, whose code runs first. It is the same under every supported version of Python.
Standard library only, since Snakemake asks for it at the start of every run.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from samequantity.errors import SettingsError

PACKAGE = "samequantity"
_SOURCES = Path(__file__).parents[2]

# Fields that say how a program is written, not what it does.
_SILENT_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def fingerprint(*modules: str) -> dict[str, str]:
    """The fingerprint of each first-party module that `modules` consist of, by name; equal code gives an equal dict.

    SettingsError names the file and the line of a module that is no Python, as when it is just being edited.
    """
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        source = _source(name)
        try:
            found[name] = source_digest(source)
        except SyntaxError as error:
            raise SettingsError(f"{_path(name)}, line {error.lineno}: {error.msg}. Mend it first.") from error
        waiting.extend(_imports(source))
        if package := name.rpartition(".")[0]:
            waiting.append(package)
    return dict(sorted(found.items()))


def source_digest(source: str) -> str:
    """SHA-256 of the normalised syntax tree of one module's text, in hexadecimal."""
    return _digest_of(source)[0]


def _imports(source: str) -> frozenset[str]:
    return _digest_of(source)[1]


@cache
def _digest_of(source: str) -> tuple[str, frozenset[str]]:
    """Digest and first-party imports of one module's text; parsing is what costs, so both come from one tree."""
    tree = ast.parse(source)
    text = json.dumps(_normalised(tree), separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest(), frozenset(_first_party(tree))


def _source(module: str) -> str:
    return _path(module).read_text(encoding="utf-8")


def _path(module: str) -> Path:
    stem = _SOURCES.joinpath(*module.split("."))
    return stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")


def _first_party(tree: ast.AST) -> Iterator[str]:
    """The first-party modules that a tree imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
            yield node.module
            yield from (name for alias in node.names if _path(name := f"{node.module}.{alias.name}").exists())


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


def _normalised(node: object) -> object:
    """A syntax tree as JSON: node names and fields that are set, in a fixed order, without documentation."""
    if isinstance(node, ast.Constant):
        return ["Constant", type(node.value).__name__, ascii(node.value)]
    if isinstance(node, ast.JoinedStr):
        return ["JoinedStr", _merged(node.values)]
    if isinstance(node, ast.AST):
        fields = {
            name: _normalised(value)
            for name in _telling(node._fields)
            if (value := getattr(node, name, None)) is not None and value != []
        }
        return [type(node).__name__, fields]
    if isinstance(node, list):
        return [_normalised(item) for item in node if not _is_documentation(item)]
    return node if node is None or isinstance(node, int) else str(node)


@cache
def _telling(fields: tuple[str, ...]) -> list[str]:
    """Those of a node's fields that decide what code does, sorted."""
    return sorted(set(fields) - _SILENT_FIELDS)


def _is_documentation(node: object) -> bool:
    """A text that stands as a statement of its own: a docstring of a module, class, function or constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _merged(values: list[ast.expr]) -> list[object]:
    """The parts of an f-string with neighbouring texts joined, which versions of Python do differently."""
    parts: list[object] = []
    text = ""
    for value in values:
        if isinstance(value, ast.Constant):
            text += str(value.value)
            continue
        if text:
            parts.append(ascii(text))
            text = ""
        parts.append(_normalised(value))
    return [*parts, ascii(text)] if text else parts
