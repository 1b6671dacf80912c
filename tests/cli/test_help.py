"""Each command says what it needs."""

import pytest

from commands import done, samequantity
from samequantity.cli import cli

NEEDS = {
    "generate": ["--benchmark", "--sample", "--out", "--jsonl", "--store"],
    "render": ["--bases", "--benchmark", "--wording", "--out", "--jsonl", "--store"],
    "models": ["list", "fetch", "verify", "lock"],
    "infer": ["--views", "--system", "--model", "--settings", "--part", "--prompts", "--journal", "--out"],
    "merge": ["--views", "PARTS", "--out", "--store"],
    "tokens": ["--bases", "--views", "--benchmark", "--wording", "--system", "--model", "--settings", "--out"],
    "import": ["--views", "--transcript", "--system", "--column", "--finish-reason", "--reasoning-format", "--out"],
    "repeat": ["--views", "--responses", "--again", "--other-engine", "--asterisk-between-digits", "--out", "--store"],
    "parse": ["--views", "--responses", "--system", "--out", "--store", "view_id", "finish_reason", "expected"],
    "audit": ["--views", "--responses", "--answers", "--asterisk-between-digits", "--out", "--store", "keep"],
    "score": ["--views", "--answers", "--audits", "--complete-orbits-only", "--out", "--store", "family"],
    "bootstrap": ["--views", "--answers", "--audits", "--seed", "--draws", "--out", "--store", "10000"],
    "compare": ["--views", "--answers", "--audits", "--reference-answers", "--reference-audits", "--seed", "--draws"],
    "collect": ["TABLES", "--out", "--store"],
    "tables": ["--scores", "--intervals", "--system", "--out", "--store"],
    "figures": ["--scores", "--intervals", "--system", "--out", "--store"],
    "runtime": ["RESPONSES", "--runs", "--out"],
    "status": ["STUDIES"],
    "verify": ["PATHS"],
    "provenance": ["FILE"],
    "diff": ["OLD", "NEW"],
    "store": ["ls", "gc", "remove"],
    "devices": ["--require", "cuda"],
}


@pytest.mark.parametrize("command", NEEDS)
def test_help_says_what_a_command_needs(command: str) -> None:
    text = done(command, "--help").out

    assert [] == [word for word in NEEDS[command] if word not in text]
    assert text == done(command, "-h").out


def test_the_first_help_lists_every_command_in_the_order_of_the_pipeline() -> None:
    listed = done("--help").out.partition("Commands:\n")[2]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and not line.startswith("   ")]

    assert list(NEEDS) == names == cli.list_commands(cli.make_context("samequantity", ["status"]))


@pytest.mark.parametrize("command", [["store", "ls"], ["store", "gc"], ["store", "remove"], ["models", "fetch"]])
def test_commands_of_commands_have_help(command: list[str]) -> None:
    assert "Usage: samequantity " + " ".join(command) in done(*command, "--help").out


def test_the_version_is_told() -> None:
    assert done("--version").out.startswith("samequantity, version ")


@pytest.mark.parametrize(
    "arguments", [["pars"], ["parse", "--view", "x"], ["parse"], ["collect", "--out", "x.jsonl"], []]
)
def test_a_mistyped_call_ends_with_usage_and_status_2(arguments: list[str]) -> None:
    ran = samequantity(*arguments)

    assert ran.status == 2
    assert "Usage: samequantity" in ran.message
