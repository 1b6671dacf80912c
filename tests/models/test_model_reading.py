"""What lies where a model file is looked for and is none: nothing of it is opened."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_hub import WEIGHTS, FakeHub, hub_source
from fake_sources import Settings, Told, fetch
from samequantity.errors import IntegrityError, ModelError
from samequantity.models.folder.listing import Presence, model_rows
from samequantity.models.folder.reading import model_digest
from samequantity.models.folder.verification import verify
from samequantity.models.sizes import size_text

KINDS: dict[str, Callable[[Path], None]] = {
    "a FIFO": os.mkfifo,
    "a folder": os.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_no_regular_file_is_refused_before_it_is_opened(
    settings: Settings, told: Told, kind: str
) -> None:
    pin = settings.write(None, {"path": None})
    settings.folder.mkdir()
    path = settings.folder / "tiny.gguf"
    KINDS[kind](path)

    for command in (
        lambda: model_digest(path),
        lambda: verify(pin, settings.folder),
        lambda: fetch(pin, settings.folder, reporter=told),
    ):
        with pytest.raises(ModelError, match=rf"tiny\.gguf: not a regular file, but {kind}\."):
            command()
    (row,) = model_rows([pin], settings.folder)
    assert Presence.NOT_A_FILE == row.files[0].presence


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_is_no_regular_file_is_said_to_be_none(
    settings: Settings, told: Told, tmp_path: Path, kind: str
) -> None:
    KINDS[kind](tmp_path / "mine")

    with pytest.raises(ModelError, match=rf"the path .*/mine: not a regular file, but {kind}\n"):
        fetch(settings.write(None, {"path": str(tmp_path / "mine")}), settings.folder, reporter=told)


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_is_no_regular_file_is_refused_before_it_is_opened(
    settings: Settings, told: Told, kind: str
) -> None:
    settings.folder.mkdir()
    (settings.folder / "tiny.gguf").write_bytes(b"x")
    KINDS[kind](settings.folder / "tiny.gguf.sha256")

    with pytest.raises(IntegrityError, match=rf"tiny\.gguf\.sha256: {kind}; the record of a model file has that name"):
        fetch(settings.write(None, {"path": None}), settings.folder, reporter=told)


def test_a_list_of_digests_of_another_file_is_not_taken_for_the_record_of_this_one(settings: Settings) -> None:
    pin = settings.write(None, {"path": None})
    settings.folder.mkdir()
    (settings.folder / "tiny.gguf").write_bytes(b"x")
    (settings.folder / "tiny.gguf.sha256").write_text(f"{'ab' * 32}  other.gguf\n")

    with pytest.raises(IntegrityError, match=r"tiny\.gguf\.sha256: the record of other\.gguf, by what it says"):
        verify(pin, settings.folder)


def test_a_file_that_is_not_the_recorded_one_is_told_where_the_other_digest_stands(settings: Settings) -> None:
    pin = settings.write(None, {"path": None})
    settings.folder.mkdir()
    record = settings.folder / "tiny.gguf.sha256"
    (settings.folder / "tiny.gguf").write_bytes(b"x")
    record.write_text(f"{'ab' * 32}  tiny.gguf\n")

    with pytest.raises(IntegrityError, match=rf"\(1 byte\); wanted {'ab' * 32} for the model tiny, as {record} says\."):
        verify(pin, settings.folder)


@pytest.mark.usefixtures("hub_here")
def test_a_file_where_a_fetch_puts_the_model_together_is_named_as_what_is_in_the_way(
    settings: Settings, told: Told
) -> None:
    settings.folder.mkdir()
    (settings.folder / "tiny.gguf.part").write_bytes(b"mine")

    with pytest.raises(
        ModelError, match=r"tiny\.gguf\.part: not a folder; a fetch puts tiny\.gguf together in a folder"
    ):
        fetch(settings.write(None, hub_source(WEIGHTS, None)), settings.folder, reporter=told)
    assert b"mine" == (settings.folder / "tiny.gguf.part").read_bytes()


@pytest.mark.parametrize("pinned", [{"sha256": "ab" * 32}, {"bytes": 3}])
def test_what_is_not_pinned_is_not_shown_as_none(
    settings: Settings, hub_here: FakeHub, told: Told, pinned: dict[str, object]
) -> None:
    with pytest.raises(IntegrityError) as error:
        fetch(settings.write(None, hub_here.source, **pinned), settings.folder, reporter=told)

    assert (
        f"({len(hub_here.content)} bytes); wanted {'any (3 bytes)' if 'bytes' in pinned else 'ab' * 32}. Nothing"
        in str(error.value)
    )
    assert "None" not in str(error.value)


@given(st.integers(1, 10**15))
def test_no_size_is_shown_as_nothing_or_in_a_unit_too_small(size: int) -> None:
    number, unit = size_text(size).split()
    factor = {"byte": 1, "bytes": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}[unit]

    assert 1 <= float(number) <= (1000 if unit != "GB" else 10**6)
    assert abs(float(number) * factor - size) <= 0.0051 * factor
