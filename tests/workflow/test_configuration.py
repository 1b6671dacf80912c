"""What is wrong in a configuration is said before anything runs, and a key in it is never shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from projects import SYSTEM, Project, make_project

from fake_endpoint import ENDPOINT

SECRET = "sk-0123456789abcdef"  # noqa: S105 - it opens nothing
SERVER: dict[str, Any] = {
    "model": None,
    "shards": 1,
    "resources": {"gpus": 0, "memory_mb": 1000, "minutes": 10},
    "settings": ENDPOINT,
}
THEIRS: dict[str, Any] = {
    "transcript": "theirs.jsonl",
    "columns": {},
    "finish": {},
    "finish_reason": None,
    "reasoning_format": "none",
    "allow_missing": False,
}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("configuration") / "project")


def planned(project: Project, change: Callable[[dict[str, Any]], object]) -> tuple[int, str]:
    """A dry run of the configuration after a change."""
    path = project.folder / "config/test.yaml"
    before = path.read_text()
    config = yaml.safe_load(before)
    change(config)
    path.write_text(yaml.safe_dump(config))
    try:
        run = project.snakemake("-n")
    finally:
        path.write_text(before)
    return run.status, run.output


def server(**settings: Any) -> Callable[[dict[str, Any]], object]:
    return lambda config: config["catalogue"].update(server=SERVER | {"settings": ENDPOINT | settings})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: c["catalogue"][SYSTEM]["settings"].update(contxt=1),
            "unknown setting 'contxt' (did you mean context",
        ),
        (lambda c: c["catalogue"][SYSTEM].update(model="smol"), "no model smol in resources/test_models.yaml"),
        (lambda c: c["catalogue"].update({SYSTEM: SERVER | {"shards": 2}}), "a server has one shard"),
        (lambda c: c["catalogue"].update({SYSTEM: THEIRS | {"columns": {"tekst": "x"}}}), "'tekst' is not one of"),
    ],
)
def test_a_wrong_entry_is_named_by_a_dry_run(
    fresh: Project, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    status, output = planned(fresh, change)

    assert status != 0
    assert message in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "change",
    [
        server(api_key=SECRET),
        server(url=f"https://me:{SECRET}@example.org/v1"),
        server(extra={"extra_headers": {"Authorization": f"Bearer {SECRET}"}}),
        lambda c: c["catalogue"].update(server={"settings": ENDPOINT | {"api_key": SECRET}}),  # and no other key
    ],
)
def test_a_key_in_the_configuration_is_refused_and_neither_shown_nor_kept(
    fresh: Project, change: Callable[[dict[str, Any]], object]
) -> None:
    status, output = planned(fresh, change)
    kept = [path for path in Path(fresh.folder / ".snakemake").rglob("*") if path.is_file()]

    assert status != 0
    assert SECRET not in output
    assert [] == [path for path in kept if SECRET.encode() in path.read_bytes()]
