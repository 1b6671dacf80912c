"""Dependencies point one way, and light commands stay light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import samequantity

SRC = Path(samequantity.__file__).parents[1]
MODULES = {".".join(path.relative_to(SRC).with_suffix("").parts): path for path in sorted(SRC.rglob("*.py"))}

ALLOWED = {
    "errors": set(),
    "closed": {"errors"},
    "domain": {"domain", "errors"},
    "messages": set(),
    "scoring": {"scoring", "messages", "domain", "errors"},
    "reporting": {"reporting", "scoring", "domain", "closed", "errors"},
    "stages": {"stages", "scoring", "reporting", "messages", "domain", "errors"},
    "engines": {"engines", "domain", "closed", "errors"},
    "store": {"store", "domain", "errors"},
    "models": {"models", "store", "closed", "errors"},
    "registry": {"store", "domain", "errors"},
    "cli": {
        *("cli", "registry", "stages", "reporting", "scoring", "messages", "engines", "store", "models"),
        *("domain", "closed", "errors"),
    },
}
HEAVY = {
    "polars",
    "pyarrow",
    "numpy",
    "scipy",
    "statsmodels",
    "matplotlib",
    "llama_cpp",
    "huggingface_hub",
    "snakemake",
    "jinja2",
    "httpx2",
    "tenacity",
}


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: the fingerprints do not follow relative imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer(module: str) -> str:
    """`stages` for samequantity.stages.parse, `registry` for samequantity.registry, `` for the package itself."""
    return module.partition(".")[2].partition(".")[0]


def test_the_tree_was_found() -> None:
    assert {"samequantity.stages.parse", "samequantity.cli.__init__", "samequantity.registry"} <= MODULES.keys()
    assert ALLOWED.keys() == {layer(name) for name in MODULES if name != "samequantity.__init__"}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "samequantity.__init__"])
def test_a_module_imports_its_own_layer_and_those_below(name: str) -> None:
    first_party = {module for module in imported(MODULES[name]) if module.split(".")[0] == "samequantity"}

    assert set() == {module for module in first_party if layer(module) not in ALLOWED[layer(name)] | {""}}


@pytest.mark.parametrize("name", [name for name in MODULES if layer(name) in {"domain", "errors"}])
def test_the_domain_needs_the_standard_library_alone(name: str) -> None:
    roots = {module.split(".")[0] for module in imported(MODULES[name])}

    assert set() == {root for root in roots if root not in sys.stdlib_module_names and root != "samequantity"}


def test_what_snakemake_imports_at_its_start_needs_the_standard_library_alone() -> None:
    for name in (
        *("registry", "store.fingerprints", "store.study", "store.manifests", "store.digests", "store.files"),
        "models.naming",
    ):
        path = MODULES[f"samequantity.{name}"]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        at_once = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        roots = {
            name.split(".")[0]
            for node in at_once
            for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [str(node.module)])
        }

        assert set() == roots - sys.stdlib_module_names - {"samequantity"}, path


@pytest.mark.parametrize("name", [name for name in MODULES if layer(name) != "cli"])
def test_only_the_command_line_imports_by_name(name: str) -> None:
    """What `import_module` takes, no fingerprint sees."""
    by_name = {module for module in imported(MODULES[name]) if module.startswith("importlib")}

    assert set() == {module for module in by_name if not module.startswith("importlib.metadata")}


@pytest.mark.parametrize("arguments", [["--help"], ["store", "--help"], ["status", "--help"], ["models", "--help"]])
def test_help_imports_no_heavy_package(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom samequantity.cli import cli\n"
        f"cli.main({arguments!r}, standalone_mode=False)\n"
        "print('HERE', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": str(SRC)}, capture_output=True, text=True, check=True
    )
    loaded = ran.stdout.splitlines()[-1].split()

    assert loaded[0] == "HERE"
    assert "samequantity" in loaded
    assert set() == HEAVY & set(loaded)
