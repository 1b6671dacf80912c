"""What is answered stays answered, whatever happens to the process that asks."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.domain.exchange import Completion, FinishReason
from samequantity.errors import JournalError
from samequantity.store.digests import canonical_json, json_digest
from samequantity.store.journal import Journal

RESPONSE = Completion(
    text="FINAL: 6.25 liters",
    reasoning="",
    raw="FINAL: 6.25 liters<|im_end|>",
    finish_reason=FinishReason.STOP,
    raw_finish_reason="eog",
    prompt_sha256="ab" * 32,
    prompt_tokens=70,
    completion_tokens=9,
    seconds=0.25,
)

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from test_journal import RESPONSE
from samequantity.store.journal import Journal

with Journal.open(Path(sys.argv[1]), "all", wait_seconds=0) as journal:
    number = len(journal)
    while True:
        journal.append(str(number), replace(RESPONSE, text=f"FINAL: {number} × 10^4\\u2028"))
        number += 1
        print(number, flush=True)
"""

HOLDER = """
import sys
from pathlib import Path
from samequantity.store.journal import Journal

with Journal.open(Path(sys.argv[1]), "all", wait_seconds=0):
    print("held", flush=True)
    sys.stdin.readline()
"""


def numbered(number: int) -> Completion:
    return replace(RESPONSE, text=f"FINAL: {number}")


def write(directory: Path, requests: list[str], name: str = "all") -> None:
    with Journal.open(directory, name, wait_seconds=0) as journal:
        for number, request in enumerate(requests):
            journal.append(request, numbered(number))


def child(code: str, directory: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", code, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_what_is_appended_is_found_again(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "journal", ["a", "b"])

    with Journal.open(tmp_path / "deep" / "journal", "all", wait_seconds=0) as journal:
        assert (numbered(0), numbered(1), None) == (journal.find("a"), journal.find("b"), journal.find("c"))
        assert (len(journal), journal.appended) == (2, 0)


@given(
    text=st.text(st.characters(exclude_categories=[])),
    seconds=st.floats(min_value=0, allow_infinity=False, allow_nan=False),
)
def test_any_text_is_read_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, text: str, seconds: float) -> None:
    """Line ends of every kind and lone surrogates included."""
    directory = tmp_path_factory.mktemp("journal")
    response = replace(RESPONSE, text=text, raw=text, seconds=seconds)
    with Journal.open(directory, "all", wait_seconds=0) as journal:
        journal.append("a", response)
    with Journal.open(directory, "all", wait_seconds=0) as journal:
        assert response == journal.find("a")


def test_a_last_line_torn_at_any_byte_is_dropped_for_good(tmp_path: Path) -> None:
    write(tmp_path, ["a", "b"])
    path = tmp_path / "all.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1

    for size in range(first, len(whole)):
        path.write_bytes(whole[:size])
        with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
            assert journal.find("a") is not None
            assert journal.find("b") is None
            assert whole[:first] == path.read_bytes()
            journal.append("b", numbered(1))
        assert whole == path.read_bytes()


def test_a_torn_line_of_another_shard_is_passed_over_and_left_alone(tmp_path: Path) -> None:
    """Its writer may be in the middle of it."""
    write(tmp_path, ["a"], "1-of-2")
    path = tmp_path / "1-of-2.jsonl"
    torn = path.read_bytes() + b'{"request": "b"'
    path.write_bytes(torn)

    with Journal.open(tmp_path, "0-of-2", wait_seconds=0) as journal:
        assert journal.find("a") is not None
        assert len(journal) == 1
    assert torn == path.read_bytes()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"",
        lambda _: b"null",
        lambda line: b"\x00" * len(line),
        lambda line: line[:-10],
        lambda line: line.replace(b"FINAL: 1", b"FINAL: 7"),
        lambda line: line.replace(b'"stop"', b'"done"'),
        lambda line: b"\xff" + line,
        lambda line: b"[" * 100 + line,
    ],
)
def test_a_damaged_line_in_the_middle_is_named_with_a_cure_that_works(
    tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    write(tmp_path, ["a", "b", "c"])
    path = tmp_path / "all.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[1] = spoil(lines[1])
    path.write_bytes(b"\n".join(lines))

    with pytest.raises(JournalError, match=r"all\.jsonl, line 2: .*sed -i 2d"):
        Journal.open(tmp_path, "all", wait_seconds=0)

    path.write_bytes(b"\n".join(lines[:1] + lines[2:]))
    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        assert len(journal) == 2


def test_a_killed_writer_loses_nothing_that_was_reported(tmp_path: Path) -> None:
    reported = 0
    for _ in range(3):
        writer = child(WRITER, tmp_path)
        assert writer.stdout is not None
        for _ in range(40):
            line = writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        reported = int((rest.splitlines() or [line])[-1])

        with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
            kept = len(journal)
            assert kept >= reported
            assert all(
                f"FINAL: {number} × 10^4\u2028" == getattr(journal.find(str(number)), "text", None)
                for number in range(kept)
            )
        reported = kept
    assert reported >= 120


def test_a_second_writer_waits_and_then_gives_up_by_name(tmp_path: Path) -> None:
    holder = child(HOLDER, tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    notices: list[str] = []

    started = time.monotonic()
    with pytest.raises(JournalError, match=rf"all\.lock: still held by process {holder.pid} on .* after 0\.3 s"):
        Journal.open(tmp_path, "all", wait_seconds=0.3, notice=notices.append)
    assert 0.3 <= time.monotonic() - started < 5
    assert len(notices) == 1

    with Journal.open(tmp_path, "other", wait_seconds=0) as other:
        other.append("x", RESPONSE)
    holder.communicate(b"\n")


def test_a_second_writer_goes_on_when_the_first_dies(tmp_path: Path) -> None:
    holder = child(HOLDER, tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"

    with Journal.open(tmp_path, "all", wait_seconds=30, notice=lambda _: holder.kill()) as journal:
        assert len(journal) == 0
    holder.communicate()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_one_plain_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "lockf", refuse)

    with pytest.raises(JournalError, match=r"all\.lock: this file system refuses locks"):
        Journal.open(tmp_path, "all", wait_seconds=0)


def test_a_place_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(JournalError, match=r"all\.jsonl: cannot be opened"):
        Journal.open(tmp_path / "file", "all", wait_seconds=0)


def test_a_full_disk_is_a_message_and_the_next_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, ["a"])

    def write_half(file: int, data: memoryview) -> int:
        os.pwrite(file, data[:5], os.lseek(file, 0, os.SEEK_CUR))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", write_half)
            with pytest.raises(JournalError, match=r"No space left.*after the 1 responses"):
                journal.append("b", RESPONSE)
        assert journal.find("b") is None
    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        journal.append("b", RESPONSE)
        assert len(journal) == 2


def test_a_line_is_json_that_any_tool_reads(tmp_path: Path) -> None:
    write(tmp_path, ["a"])

    record = json.loads((tmp_path / "all.jsonl").read_text(encoding="ascii"))
    assert {"request", "response", "check"} == record.keys()
    assert record["response"]["text"] == "FINAL: 0"


def test_a_journal_from_before_servers_had_fingerprints_is_read(tmp_path: Path) -> None:
    write(tmp_path, ["a"])
    path = tmp_path / "all.jsonl"
    record = json.loads(path.read_text(encoding="ascii"))
    del record["check"], record["response"]["system_fingerprint"]
    path.write_bytes(canonical_json({**record, "check": json_digest(record)[:16]}) + b"\n")

    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        assert numbered(0) == journal.find("a")


def test_what_a_server_did_not_count_and_what_it_calls_itself_are_kept(tmp_path: Path) -> None:
    response = replace(RESPONSE, prompt_tokens=None, completion_tokens=None, system_fingerprint="fp_one")
    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        journal.append("a", response)
    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        assert response == journal.find("a")
