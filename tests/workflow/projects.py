"""A copy of the project with a tiny model, and Snakemake run in it as a user would."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fixtures_gguf import SETTINGS
from tiny_gguf import TinyModel

ROOT = Path(__file__).parents[2]
COPIED = ("Snakefile", "workflow", "config", "resources", "src", "envs")
SYSTEM = "tiny"
SAMPLE = {"combined_volume": 2, "repeated_length": 2, "fraction_of_capacity": 1, "large_volume_addition": 1}
VIEWS = 2 * 3 + 2 * 4 + 3 + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a command ended and all that it printed."""

    status: int
    output: str

    def jobs(self) -> set[str]:
        """The rules that ran, or would run in a dry run."""
        marks = ("rule ", "localrule ")
        lines = (line.strip() for line in self.output.splitlines())
        found = {line.split(" ")[1].rstrip(":") for line in lines if line.startswith(marks) and line.endswith(":")}
        return found - {"default", "all"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A copy of the project in a folder of its own, whose study `test` asks a tiny model."""

    folder: Path

    @property
    def study(self) -> Path:
        return self.folder / "results" / "test"

    def path(self, name: str) -> Path:
        return self.study / name

    def run(self, *arguments: str) -> Run:
        """A command of the project's environment, in its folder."""
        done = subprocess.run(
            arguments,
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Run(status=done.returncode, output=done.stdout)

    def snakemake(self, *arguments: str) -> Run:
        """The study, or what `arguments` make of it."""
        return self.run(*self.command(*arguments))

    def command(self, *arguments: str) -> list[str]:
        return ["snakemake", "--cores", "2", "--configfile", "config/test.yaml", *arguments]

    def environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "PYTHONPATH": str(self.folder / "src")}

    def digests(self) -> dict[str, str]:
        """Content digest of every output of the study by manifest and role."""
        found: dict[str, str] = {}
        for manifest in sorted(self.study.rglob("*.manifest.json")):
            if "parts" not in manifest.parts:
                for role, output in json.loads(manifest.read_text())["outputs"].items():
                    found[f"{manifest.relative_to(self.study)} {role}"] = output["content"]
        return found

    def journalled(self) -> list[str]:
        """The requests in the journal, in the order of the files."""
        lines = (
            line for file in sorted(self.path("journal").rglob("*.jsonl")) for line in file.read_text().splitlines()
        )
        return [json.loads(line)["request"] for line in lines]

    def journalled_whole(self) -> list[str]:
        """As `journalled`, but for a last line that a kill cut off."""
        files = sorted(self.path("journal").rglob("*.jsonl"))
        lines = (line for file in files for line in file.read_text().splitlines(keepends=True))
        return [json.loads(line)["request"] for line in lines if line.endswith("\n")]

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that the file must hold."""
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def copy(self, folder: Path) -> "Project":
        """A second project in the same state."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder=folder)


def make_project(folder: Path, *, shards: int = 1, sample: dict[str, int] | None = None, **settings: Any) -> Project:
    """A fresh project: nothing has run in it. `settings` change those of the tiny system."""
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("models"))
        else:
            shutil.copy(source, folder / name)
    # `models` above leaves out model files, but the package of that name is needed.
    shutil.copytree(ROOT / "src/samequantity/models", folder / "src/samequantity/models", dirs_exist_ok=True)
    model = TinyModel(script=("FINAL:", " 6.25", " liters"), **_tiny(settings)).write(folder / "tiny.gguf")
    pins = {
        "models": {
            SYSTEM: {
                "licence": "Apache-2.0",
                "provenance": {"repository": "none", "revision": None, "checkpoint": None},
                "files": [
                    {"name": "tiny-model.gguf", "bytes": None, "sha256": None, "sources": [{"path": str(model)}]}
                ],
            }
        }
    }
    (folder / "resources/test_models.yaml").write_text(yaml.safe_dump(pins))
    system = {
        "model": SYSTEM,
        "shards": shards,
        "resources": {"gpus": 0, "memory_mb": 1000, "minutes": 10},
        "settings": SETTINGS | settings,
    }
    config = {
        "study": "test",
        "systems": [SYSTEM],
        "sample": sample or SAMPLE,
        "models": "resources/test_models.yaml",
        # Not in every test: each is a process or two more, and test_systems.py has both.
        "repeat_prompts": 0,
        "tokenizer_maps": False,
        "bootstrap": {"seed": 1, "draws": 200},
        "catalogue": {SYSTEM: system},
    }
    (folder / "config/test.yaml").write_text(yaml.safe_dump(config))
    return Project(folder=folder)


def _tiny(settings: dict[str, Any]) -> dict[str, Any]:
    """A long cap is for a model that never ends its turn."""
    return {"ends": False} if settings.get("max_tokens", 0) > SETTINGS["max_tokens"] else {}
