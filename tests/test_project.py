"""The project's own files keep step with one another."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from samequantity.engines.llama.library import VENDORED_COMMITS
from samequantity.engines.opening import read_settings
from samequantity.models.pinning.pins import load_pins
from samequantity.registry import STAGES
from samequantity.reporting.runtime import PAPER_BUILD, PAPER_COMMIT

ROOT = Path(__file__).parents[1]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
LOCK = (ROOT / "requirements.lock").read_text()
LOCKED = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", LOCK, re.MULTILINE))


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    parts = (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values())
    for part in (*parts, schema.get("additionalProperties"), schema.get("items")):
        if isinstance(part, dict):
            yield from schemas(part)


@pytest.mark.parametrize("file", ["config/demo.yaml", "config/smoke.yaml", "bench/study.yaml"])
def test_a_shipped_configuration_fits_the_schema(file: str) -> None:
    study = read("config/config.yaml") | read("config/systems.yaml")

    jsonschema.validate(study, SCHEMA)
    jsonschema.validate(study | read(file), SCHEMA)


def test_the_schema_is_closed_and_has_no_defaults() -> None:
    parts = list(schemas(SCHEMA))

    assert "$schema" in SCHEMA
    assert [] == [part for part in parts if "default" in part]
    assert [] == [part for part in parts if "properties" in part and part.get("additionalProperties") is not False]


def test_every_key_of_the_configuration_is_in_the_schema_and_described() -> None:
    keys = read("config/config.yaml").keys() | read("config/systems.yaml").keys()
    leaves = [part for part in SCHEMA["properties"].values() if "properties" not in part]

    assert SCHEMA["properties"].keys() == keys == set(SCHEMA["required"])
    assert [] == [part for part in leaves if "description" not in part]


def test_every_shipped_system_has_settings_that_an_engine_takes_and_a_model_that_is_pinned() -> None:
    pinned = load_pins(ROOT / "resources/pinned_models.yaml")

    for name, entry in read("config/systems.yaml")["catalogue"].items():
        read_settings(entry["settings"], where=name)
        assert entry["model"] in pinned


def test_the_locked_llama_cpp_has_a_known_commit_and_the_documents_name_both() -> None:
    version = LOCKED["llama-cpp-python"]

    assert f"llama-cpp-python {version} with llama.cpp commit {VENDORED_COMMITS[version]}" in CONTRIBUTING
    assert f"the paper's is build {PAPER_BUILD} ({PAPER_COMMIT}" in CONTRIBUTING


def test_the_lock_has_hashes_and_no_addresses() -> None:
    requirements = [entry for entry in re.split(r"\n(?=\S)", LOCK) if entry.strip()]

    assert "://" not in LOCK
    assert [] == [entry.splitlines()[0] for entry in requirements if "--hash=sha256:" not in entry]


def test_one_version_of_each_package_serves_every_python() -> None:
    names = re.findall(r"^([a-z0-9-]+)==", LOCK, re.MULTILINE)

    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["analysis", "inference", "inference-cuda"])
def test_conda_environments_have_the_locks_versions(name: str) -> None:
    pip = next(entry["pip"] for entry in read(f"envs/{name}.yaml")["dependencies"] if isinstance(entry, dict))
    pinned = dict(entry.split("==") for entry in pip)

    assert {package: LOCKED[package] for package in pinned} == pinned


@pytest.mark.parametrize("name", ["inference", "inference-cuda"])
def test_an_inference_environment_builds_with_the_locks_version(name: str) -> None:
    script = (ROOT / f"envs/{name}.post-deploy.sh").read_text()

    assert f"scikit-build-core=={LOCKED['scikit-build-core']}" in script


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_a_rule_that_watches_its_sources(stage: str) -> None:
    rules = (ROOT / f"workflow/rules/{stage}.smk").read_text()

    assert f"rule {stage}:" in rules
    assert f'*source("{stage}")' in rules


def test_ci_runs_the_documented_test_command() -> None:
    commands = (ROOT / ".ci/run").read_text().split()

    assert "    make test\n" in (ROOT / "README.md").read_text()
    assert ["make", "test"] == commands[-2:]


def test_the_demo_asks_as_many_prompts_as_the_documents_say() -> None:
    sample = read("config/demo.yaml")["sample"]
    templates = read("config/benchmark.yaml")["templates"]
    prompts = sum(
        number + sum(min(number, family["quota"]) for family in templates[name]["families"].values())
        for name, number in sample.items()
    )

    assert f"{prompts} prompts" in (ROOT / "README.md").read_text()
    assert f"{prompts} prompts" in (ROOT / "Makefile").read_text()
    assert f"{prompts} prompts" in (ROOT / "config/demo.yaml").read_text()


def test_the_readme_has_no_blank_left_to_fill() -> None:
    assert [] == re.findall(r"\b[A-Z]{3,}_[A-Z]{3,}\b", (ROOT / "README.md").read_text())
