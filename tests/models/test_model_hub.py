"""The hub as a source, through the real huggingface_hub, against a server on this machine that plays the hub."""

import threading
from pathlib import Path

import pytest

from fake_hub import REVISION, FakeHub, sha256
from fake_sources import Settings, StartFetch
from samequantity.models.fetching.hub_api import within

MEGABYTES = 2**20
TOKEN = "not-a-real-one"  # noqa: S105 - it opens nothing


def test_a_file_comes_from_the_hub_with_the_users_token(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch
) -> None:
    settings.write(hub.content, hub.source)

    outcome = start_fetch(HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN).outcome()

    assert outcome["error"] is None
    assert hub.content == (settings.folder / "tiny.gguf").read_bytes()
    assert {f"Bearer {TOKEN}"} == set(hub.tokens)
    assert ["tiny.gguf"] == [entry.name for entry in settings.folder.iterdir()]


def test_a_killed_download_goes_on_in_the_next_process(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch
) -> None:
    hub.content = bytes(range(256)) * (24 * MEGABYTES // 256)
    settings.write(hub.content, hub.source)

    killed = start_fetch(HF_ENDPOINT=hub.url, dies_at=20 * MEGABYTES).was_killed()
    left = sorted(entry.name for entry in settings.folder.iterdir())
    outcome = start_fetch(HF_ENDPOINT=hub.url).outcome()

    assert killed
    assert ["tiny.gguf.part"] == left
    assert outcome["error"] is None
    assert [None, f"bytes={10 * MEGABYTES}-"] == hub.ranges
    assert hub.content == (settings.folder / "tiny.gguf").read_bytes()
    assert ["tiny.gguf"] == [entry.name for entry in settings.folder.iterdir()]


def test_a_file_that_the_hub_itself_calls_another_is_refused_before_the_download(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch
) -> None:
    settings.write(b"x" * len(hub.content), hub.source)

    outcome = start_fetch(HF_ENDPOINT=hub.url).outcome()

    assert outcome["kind"] == "IntegrityError"
    assert f"SHA-256 {sha256(hub.content)}" in outcome["error"]
    assert f"wanted {sha256(b'x' * len(hub.content))}" in outcome["error"]
    assert [] == hub.ranges
    assert [] == list(settings.folder.iterdir())


def test_a_hub_that_sends_other_bytes_than_it_says_is_refused_after_the_download(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch
) -> None:
    settings.write(b"x" * len(hub.content), hub.source)
    hub.announced["weights.gguf"] = sha256(b"x" * len(hub.content))

    outcome = start_fetch(HF_ENDPOINT=hub.url).outcome()

    assert outcome["kind"] == "IntegrityError"
    assert f"tiny.gguf: what the model hub (somebody/tiny at {REVISION[:12]}) has is SHA-256" in outcome["error"]
    assert [] == list(settings.folder.iterdir())


@pytest.mark.parametrize(
    ("gated", "revision", "reason"),
    [
        (True, REVISION, "the repository is gated: accept its terms on its page and set HF_TOKEN"),
        (False, "f" * 40, "404"),
    ],
)
def test_a_hub_that_refuses_the_file_is_one_line_and_the_next_source_is_tried(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch, *, gated: bool, revision: str, reason: str
) -> None:
    copy = settings.path.with_name("copy.gguf")
    copy.write_bytes(hub.content)
    settings.write(hub.content, {"hub": hub.source["hub"] | {"revision": revision}}, {"path": str(copy)})
    hub.gated = gated

    outcome = start_fetch(HF_ENDPOINT=hub.url).outcome()

    assert reason in outcome["lines"][0]
    assert "\n" not in outcome["lines"][0]
    assert copy == (settings.folder / "tiny.gguf").readlink()


def test_a_hub_that_refuses_connections_costs_a_moment_and_one_line(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch, closed_port: int, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(hub.content)
    settings.write(hub.content, hub.source, {"path": str(copy)})

    outcome = start_fetch(HF_ENDPOINT=f"http://127.0.0.1:{closed_port}").outcome()

    assert outcome["error"] is None
    assert "no connection" in outcome["lines"][0]
    assert len(outcome["lines"]) == 2
    assert outcome["seconds"] < 5


def test_what_the_hubs_cache_holds_is_used_without_a_network(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch, tmp_path: Path
) -> None:
    settings.write(hub.content, hub.source)
    away = start_fetch(HF_HUB_OFFLINE="1").outcome()
    snapshot = tmp_path / "hf" / "hub" / "models--somebody--tiny" / "snapshots" / REVISION
    snapshot.mkdir(parents=True)
    (snapshot / "weights.gguf").write_bytes(hub.content)
    there = start_fetch(HF_HUB_OFFLINE="1").outcome()

    assert away["kind"] == "ModelError"
    assert "offline, and the hub's cache does not hold the file" in away["error"]
    assert there["error"] is None
    assert snapshot / "weights.gguf" == (settings.folder / "tiny.gguf").readlink()


def test_two_fetches_at_once_download_once_and_both_end_well(
    settings: Settings, hub: FakeHub, start_fetch: StartFetch
) -> None:
    settings.write(hub.content, hub.source)

    runs = [start_fetch(HF_ENDPOINT=hub.url) for _ in range(2)]
    outcomes = [run.outcome() for run in runs]

    assert [None, None] == [outcome["error"] for outcome in outcomes]
    assert outcomes[0]["receipt"] == outcomes[1]["receipt"]
    assert [None] == hub.ranges
    assert ["tiny.gguf"] == [entry.name for entry in settings.folder.iterdir()]


def test_a_call_that_hangs_is_left_behind_and_one_that_ends_gives_its_result() -> None:
    forever = threading.Event()

    with pytest.raises(TimeoutError, match="no result within"):
        within(0.05, forever.wait)
    forever.set()
    assert within(5, lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)
