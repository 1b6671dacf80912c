"""One study of every kind of system: each architecture that the five need, a server, a transcript, a laptop model."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from projects import ROOT, Project, make_project

from fake_endpoint import ENDPOINT, listing, said, serving
from fixtures_gguf import SETTINGS
from tiny_gguf import Architecture, tiny

SAMPLE = {"fraction_of_capacity": 1}
VIEWS = 3
REPEATED = 1
ARCHITECTURES: tuple[Architecture, ...] = ("qwen35", "gpt-oss", "mistral4")
FORMATS = {"qwen35": "think", "gpt-oss": "harmony", "mistral4": "bracket_think"}
DEMO = ROOT / "resources/models/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
VARIABLE, KEY = "SOMEBODYS_KEY", "sk-0123456789abcdef"  # it opens nothing
RESOURCES = {"gpus": 0, "memory_mb": 1000, "minutes": 10}


def asked(model: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    return {"model": model, "shards": 1, "resources": RESOURCES, "settings": settings}


def catalogue(folder: Path, url: str) -> dict[str, Any]:
    """The systems, whose files are written into the project's folder; the demo's model where it has been fetched."""
    systems: dict[str, Any] = {}
    for architecture in ARCHITECTURES:
        tiny(architecture).write(folder / f"{architecture}.gguf")
        systems[architecture] = asked(f"{architecture}.gguf", SETTINGS | {"reasoning_format": FORMATS[architecture]})
    systems["server"] = asked(None, ENDPOINT | {"url": url, "api_key": VARIABLE, "in_flight": 2})
    systems["theirs"] = {
        "transcript": "theirs.jsonl",
        "columns": {"text": "completion"},
        "finish": {},
        "finish_reason": "stop",
        "reasoning_format": "none",
        "allow_missing": False,
    }
    if DEMO.exists():
        demo = SETTINGS | {"max_tokens": 64, "context": 1024, "batch": 512, "ubatch": 512, "threads": None}
        systems["demo"] = asked(str(DEMO), demo)
    return systems


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The finished study."""
    project = make_project(tmp_path_factory.mktemp("systems") / "project", sample=SAMPLE)
    with serving() as fake, pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, KEY)
        fake.models = listing("tiny")
        # A server that says the key back, wherever it can.
        fake.usual = said(f"{KEY}\nFINAL: 6.25 liters", system_fingerprint=KEY)
        systems = catalogue(project.folder, fake.url)
        path = project.folder / "config/test.yaml"
        config = yaml.safe_load(path.read_text())
        config |= {"systems": list(systems), "catalogue": systems, "repeat_prompts": REPEATED, "tokenizer_maps": True}
        path.write_text(yaml.safe_dump(config))
        assert 0 == (run := project.snakemake("--", "results/test/views.parquet")).status, run.output
        views = pl.read_parquet(project.path("views.parquet"))
        lines = ({"prompt": prompt, "completion": "FINAL: 6.25 liters"} for prompt in views["prompt"])
        (project.folder / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert 0 == (run := project.snakemake()).status, run.output
        assert {f"Bearer {KEY}"} == {request.headers["Authorization"] for request in fake.chats}
    return project


def test_every_system_answers_every_view_and_reaches_the_tables(study: Project) -> None:
    systems = yaml.safe_load((study.folder / "config/test.yaml").read_text())["systems"]
    answered = {name: pl.read_parquet(study.path(f"responses/{name}.parquet")).height for name in systems}
    shown = pl.read_parquet(study.path("tables/correctness.parquet"))["system"].unique()

    assert dict.fromkeys(systems, VIEWS) == answered
    assert set(systems) == set(shown)
    assert {f"## {name}" for name in systems} <= set(study.path("runtime.md").read_text().splitlines())


def test_systems_that_are_asked_are_asked_twice_and_those_with_a_vocabulary_are_mapped(study: Project) -> None:
    systems = yaml.safe_load((study.folder / "config/test.yaml").read_text())["systems"]
    repeats = pl.read_parquet(study.path("repeats.parquet"))
    tokens = pl.read_parquet(study.path("tokens.parquet"))

    assert {name: REPEATED for name in systems if name != "theirs"} == dict(repeats.group_by("system").len().rows())
    assert repeats["byte_identical"].all()
    assert set(systems) - {"server", "theirs"} == set(tokens["system"])


def test_a_key_is_in_no_file(study: Project) -> None:
    places = [study.folder / name for name in ("results", ".snakemake")]
    files = [path for place in places for path in place.rglob("*") if path.is_file()]

    assert len(files) > 100
    assert [] == [path for path in files if KEY.encode() in path.read_bytes()]


def test_a_second_run_has_nothing_to_do(study: Project) -> None:
    assert "Nothing to be done" in study.snakemake("-n").output
