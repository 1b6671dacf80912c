"""However a command is stopped or shown, no traceback is seen."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import samequantity as package
from commands import Ran
from foreign import PARSE

SRC = Path(package.__file__).parents[1]
MAIN = "from samequantity.cli import main; main()"


def alone(*arguments: str, **environment: str) -> Ran:
    """The command in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        env={**os.environ, "PYTHONPATH": str(SRC), **environment},
        capture_output=True,
        check=False,
    )
    return Ran(status=ran.returncode, out=ran.stdout.decode(errors="replace"), err=ran.stderr.decode(errors="replace"))


def test_ctrl_c_ends_with_130_and_no_traceback(folder: Path) -> None:
    """While the command reads: its table is a pipe that nobody fills."""
    pipe = folder / "pipe.yaml"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", MAIN, "generate", "--benchmark", str(pipe), "--out", "b.parquet"]
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        writer = opened_for_writing(pipe, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        os.close(writer)

    assert process.returncode == 130
    assert out.strip() == b""
    assert err.strip() == b""


def opened_for_writing(pipe: Path, reader: "subprocess.Popen[bytes]") -> int:
    """The pipe's other end, as soon as `reader` has opened its own."""
    while reader.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time.sleep(0.02)
    raise AssertionError(reader.communicate())


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = f"{sys.executable} -c '{MAIN}' diff --help | true; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    ran = subprocess.run(["/bin/bash", "-c", script], env=environment, capture_output=True, text=True, check=True)

    assert ran.stdout == "0\n"
    assert ran.stderr == ""


def test_a_terminal_that_lacks_a_letter_shows_a_question_mark() -> None:
    ran = alone("diff", "--help", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")

    assert ran.status == 0
    assert "old ? new" in ran.out


def test_a_full_disk_is_one_message_that_names_the_file(folder: Path) -> None:
    """Here a file may not grow at all, the log's neither."""
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); {MAIN}"
    ran = subprocess.run(
        [sys.executable, "-c", script, "--log", "log", *PARSE],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == "samequantity: answers.jsonl: File too large"
    assert "Traceback" not in ran.stderr
    assert not (folder / "answers.jsonl").exists()
