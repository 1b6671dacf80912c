"""A source fingerprint says what code does, not how it is written, and the same under every Python."""

import ast
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from samequantity.errors import SettingsError
from samequantity.store import fingerprints
from samequantity.store.fingerprints import fingerprint, source_digest

SRC = Path(fingerprints.__file__).parents[2]
SAMPLE = Path(__file__).parents[1] / "data" / "syntax_sample.txt"
SAMPLE_DIGEST = "bf95f501db7e430fc8fb09e976efc27f1276180cd70a3c91a7d3e291ec51154d"

PLAIN = '''
"""A module."""
import math

LIMIT: int = 3


class Thing:
    """A thing."""

    size: int = 1
    """Its size."""

    def area(self, scale=2):
        """Its area."""
        return f"{self.size * scale:>{LIMIT}} of {math.pi!r}"


def total(things):
    """A sum."""
    return sum(thing.size for thing in things) + 1
'''

SAME = {
    "a comment": ("LIMIT: int = 3", "# Why.\nLIMIT: int = 3  # and here"),
    "the module's docstring": ('"""A module."""', '"""Another\n\nmodule."""'),
    "no docstring of the module": ('"""A module."""', ""),
    "a class's docstring": ('"""A thing."""', "'A thing, \"quoted\"'"),
    "an attribute's docstring": ('"""Its size."""', ""),
    "a function's docstring": ('"""A sum."""', '"""A total."""'),
    "blank lines": ("\n\n\nclass", "\n\n\n\n\n\nclass"),
    "quotes": ('f"{self.size * scale:>{LIMIT}} of {math.pi!r}"', "f'{self.size * scale:>{LIMIT}} of {math.pi!r}'"),
    "pieces of a text": ('LIMIT}} of {math.pi!r}"', 'LIMIT}}" " o" f"f {math.pi!r}"'),
    "brackets and line breaks": ("return sum(thing.size", "return (\n    sum\n)(thing.size"),
    "a trailing comma and blanks": ("def area(self, scale=2):", "def area( self,scale = 2, ) :"),
    "how a number is written": ("LIMIT: int = 3", "LIMIT: int = 0x3"),
}
OTHER = {
    "a constant": ("LIMIT: int = 3", "LIMIT: int = 4"),
    "the kind of a constant": ("LIMIT: int = 3", "LIMIT: int = 3.0"),
    "a text for a number": ("LIMIT: int = 3", "LIMIT: int = '3'"),
    "an annotation": ("LIMIT: int = 3", "LIMIT: str = 3"),
    "an operator": ("self.size * scale", "self.size + scale"),
    "a default": ("scale=2", "scale=3"),
    "no default": ("scale=2", "scale"),
    "a parameter that must be named": ("self, scale=2", "self, *, scale=2"),
    "a name": ("thing.size for", "thing.width for"),
    "a decorator": ("    def area", "    @property\n    def area"),
    "a base class": ("class Thing:", "class Thing(dict):"),
    "the text of an f-string": (" of {", " in {"),
    "a conversion of an f-string": ("math.pi!r", "math.pi!s"),
    "a format of an f-string": (":>{LIMIT}", ":<{LIMIT}"),
    "a text instead of its value": ("{math.pi!r}", "math.pi"),
    "a statement more": ("    return sum", "    things = list(things)\n    return sum"),
    "a statement less": ("import math\n", ""),
    "another alias": ("import math", "import math as m"),
    "where a block ends": ("\n    return sum", "\n    if things: pass\n    return sum"),
    "async": ("def total", "async def total"),
    "a comprehension's kind": ("sum(thing.size for thing in things)", "sum([thing.size for thing in things])"),
    "a sign": (") + 1", ") + -1"),
    "nothing to return": ("return sum(thing.size for thing in things) + 1", "sum(thing.size for thing in things) + 1"),
}
ORDER = ("def f():\n    a()\n    b()\n", "def f():\n    b()\n    a()\n")


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_how_it_is_written_does_not_count(edit: tuple[str, str]) -> None:
    edited = PLAIN.replace(*edit)

    assert edited != PLAIN
    assert source_digest(PLAIN) == source_digest(edited)


@pytest.mark.parametrize("edit", OTHER.values(), ids=OTHER)
def test_what_it_does_counts(edit: tuple[str, str]) -> None:
    edited = PLAIN.replace(*edit)

    ast.parse(edited)
    assert source_digest(PLAIN) != source_digest(edited)


def test_the_order_of_statements_counts() -> None:
    assert source_digest(ORDER[0]) != source_digest(ORDER[1])


def test_texts_that_are_used_are_no_documentation() -> None:
    assert source_digest('print("a")') != source_digest('print("b")')
    assert source_digest('x = "a"') != source_digest('x = "b"')
    assert source_digest('f"{a()}"') != source_digest("")


def test_the_sample_has_the_digest_that_it_has_everywhere() -> None:
    """Pinned, so that this says something where there is one interpreter only."""
    assert SAMPLE_DIGEST == source_digest(SAMPLE.read_text(encoding="utf-8"))


# Modules of a small project.


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with imports of every form; returns its folder."""
    package = tmp_path / "samequantity"
    files = {
        "__init__.py": "",
        "top.py": "import json\nfrom samequantity.sub import direct\nimport samequantity.plain\ndef f():\n"
        "    from samequantity.sub.late import name\n    return name\n",
        "plain.py": "import samequantity.deep as d\n",
        "deep.py": "if False:\n    from samequantity import guarded\n",
        "guarded.py": "from samequantity.top import f\n",
        "unused.py": "",
        "sub/__init__.py": "VALUE = 1\n",
        "sub/direct.py": "X = 1\n",
        "sub/late.py": "name = 1\n",
        "sub/unused.py": "",
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(fingerprints, "_SOURCES", tmp_path)
    return package


USED = {
    "samequantity",
    "samequantity.deep",
    "samequantity.guarded",
    "samequantity.plain",
    "samequantity.sub",
    "samequantity.sub.direct",
    "samequantity.sub.late",
    "samequantity.top",
}


@pytest.mark.usefixtures("project")
def test_imports_are_followed_wherever_they_stand_and_in_circles() -> None:
    assert USED == set(fingerprint("samequantity.top"))
    assert list(fingerprint("samequantity.top")) == sorted(USED)


@pytest.mark.parametrize("module", sorted(USED))
def test_a_change_of_a_module_is_seen_under_its_name(module: str, project: Path) -> None:
    before = fingerprint("samequantity.top")
    stem = project.parent.joinpath(*module.split("."))
    path = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
    path.write_text(path.read_text(encoding="utf-8") + "CHANGED = 1\n", encoding="utf-8")
    after = fingerprint("samequantity.top")

    assert {module} == {name for name in before if before[name] != after[name]}


def test_a_change_of_a_module_that_is_not_imported_is_not_seen(project: Path) -> None:
    before = fingerprint("samequantity.top")
    for path in (project / "unused.py", project / "sub" / "unused.py"):
        path.write_text("CHANGED = 1\n", encoding="utf-8")

    assert before == fingerprint("samequantity.top")


def test_a_module_that_is_just_being_edited_is_named(project: Path) -> None:
    path = project / "sub" / "late.py"
    path.write_text("name = 1\ndef (\n", encoding="utf-8")

    with pytest.raises(SettingsError, match=rf"^{path}, line 2: invalid syntax\. Mend it first\.$"):
        fingerprint("samequantity.top")


def test_several_roots_are_joined() -> None:
    roots = ("samequantity.stages.parse", "samequantity.stages.render")

    assert {**fingerprint(roots[0]), **fingerprint(roots[1])} == fingerprint(*roots)


def test_a_stage_consists_of_what_it_imports() -> None:
    assert {
        "samequantity",
        "samequantity.stages",
        "samequantity.stages.parse",
        "samequantity.stages.questions",
        "samequantity.domain",
        "samequantity.domain.answers",
        "samequantity.domain.units",
        "samequantity.errors",
    } <= set(fingerprint("samequantity.stages.parse"))
    assert not {name for name in fingerprint("samequantity.stages.parse") if ".cli" in name or ".store" in name}


# Other versions of Python.


def interpreters() -> Iterator[str]:
    """Every later Python that can be had: on PATH, or where pyenv and uv keep theirs."""
    homes = [Path.home() / ".pyenv" / "versions", Path.home() / ".local" / "share" / "uv" / "python"]
    for minor in (12, 13, 14):
        places = [path for home in homes for path in sorted(home.glob(f"*3.{minor}*/bin/python3.{minor}"))]
        yield from filter(None, [shutil.which(f"python3.{minor}"), *map(str, places)])


SCRIPT = """
import json, sys
from pathlib import Path
from samequantity.store.fingerprints import source_digest
paths = [Path(name) for name in sys.stdin.read().splitlines()]
print(json.dumps({str(path): source_digest(path.read_text(encoding="utf-8")) for path in paths}))
"""


def elsewhere(python: str, paths: list[Path]) -> dict[str, str] | None:
    """The files' digests under another interpreter; None when it does not start (a pyenv shim of no version)."""
    started = subprocess.run(
        [python, "-c", SCRIPT],
        input="\n".join(map(str, paths)),
        env={"PYTHONPATH": str(SRC), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if started.returncode == 127 or "not found" in started.stderr:
        return None
    assert started.stderr == ""
    found: dict[str, str] = json.loads(started.stdout)
    return found


def test_every_python_gives_the_same_digests() -> None:
    """All of src and the sample, under each version from 3.12 to 3.14 that is here; the pin above covers the rest."""
    paths = [*sorted(SRC.glob("samequantity/**/*.py")), SAMPLE]
    ours = {str(path): source_digest(path.read_text(encoding="utf-8")) for path in paths}
    theirs = {python: found for python in set(interpreters()) if (found := elsewhere(python, paths)) is not None}

    assert len(ours) > 50
    assert dict.fromkeys(theirs, ours) == theirs
