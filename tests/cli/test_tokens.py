"""A system's vocabulary is looked at by a command, and what it does to quantities reaches the study's tables."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from commands import Ran, done, samequantity
from fake_endpoint import ENDPOINT
from fixtures_gguf import SETTINGS
from small_study import BENCHMARK, VIEWS, WORDING
from small_study import SETTINGS as SCRIPTED
from tiny_gguf import TinyModel

pytestmark = pytest.mark.usefixtures("study")

OUT = "results/tiny/tokens/scripted.parquet"
PROMPTS = "results/tiny/tokens/scripted.prompts.parquet"
BASES = "results/tiny/bases.parquet"


def tokens(
    *,
    out: str = OUT,
    model: tuple[str, ...] = ("--model", "tiny.gguf"),
    wording: Path = WORDING,
    settings: dict[str, Any] = SETTINGS,
) -> Ran:
    return samequantity(
        *("tokens", "--bases", BASES, *VIEWS, "--benchmark", BENCHMARK, "--wording", wording, "--system", "scripted"),
        *(*model, "--settings", json.dumps(settings), "--out", out, "--store", "results/store"),
    )


@pytest.fixture(autouse=True)
def _model(study: Path) -> None:
    TinyModel(script=("%",)).write(study / "tiny.gguf")


def test_the_prompts_are_those_that_the_system_is_asked_token_for_token() -> None:
    """Fingerprint, number of tokens and order are those of the responses that the same model gives."""
    assert tokens().status == 0
    done(
        *("infer", *VIEWS, "--system", "scripted", "--model", "tiny.gguf", "--journal", "journal"),
        *("--settings", json.dumps(SETTINGS | {"max_tokens": 1}), "--out", "responses.parquet"),
    )
    asked = pl.read_parquet("responses.parquet").sort("order")
    columns = ("system", "view_id", "prompt_sha256", "prompt_tokens")

    assert asked.select(columns).equals(pl.read_parquet(PROMPTS).select(columns))
    lengths = pl.read_parquet(PROMPTS)["ids"].list.len().to_list()
    assert asked["prompt_tokens"].to_list() == lengths


def test_a_table_is_kept_shown_and_traced_back() -> None:
    assert "computed" in tokens().err
    first = [Path(path).read_bytes() for path in (OUT, PROMPTS)]
    assert "taken from the store" in tokens(settings=SETTINGS | {"threads": 2, "temperature": 0.7, "context": 1024}).err
    assert first == [Path(path).read_bytes() for path in (OUT, PROMPTS)]
    assert "computed" in tokens(settings=SETTINGS | {"strftime_now": "2026-07-26"}).err
    assert "taken from the store" in tokens().err
    done("collect", OUT, "--out", "results/tiny/tokens.parquet")
    inputs = ("--scores", "results/tiny/scores.parquet", "--intervals", "results/tiny/intervals.parquet")
    done("tables", *inputs, "--tokens", "results/tiny/tokens.parquet", "--out", "tables")
    table = Path("tables/tokens.md").read_text(encoding="utf-8")

    # Four bases each, byte by byte: a percent is 3 to 5 bytes long and, where it is a token of its own, so is its sign.
    percents = pl.read_parquet(OUT).filter(family="percent", parameter="f")["quantity"].to_list()
    assert f"| scripted | percent | {sum(map(len, percents))}/4 = " in table
    assert "Without a vocabulary at hand: toy." in table
    assert "up to date" in done("status", "tiny").out.splitlines()[0]
    for path in (OUT, PROMPTS):
        assert "files are what their manifests say" in done("verify", path).out
        assert "stage tokens" in (told := done("provenance", path).out)
        assert "model_digest" in told
        assert "views: " in told


def test_tables_may_be_json_lines() -> None:
    assert tokens(out="tokens.jsonl").status == 0
    lines = [json.loads(line) for line in Path("tokens.jsonl").read_text(encoding="utf-8").splitlines()]
    done("collect", "tokens.jsonl", "--out", "collected.parquet")

    assert {"7", "."} <= {piece for line in lines for piece in line["pieces"]}
    assert ["system", "view_id", "prompt_sha256", "prompt_tokens", "ids"] == list(
        json.loads(Path("tokens.prompts.jsonl").read_text(encoding="utf-8").splitlines()[0])
    )
    assert len(lines) == pl.read_parquet("collected.parquet").height


def test_other_words_than_the_views_are_one_message() -> None:
    words = Path("words.yaml")
    words.write_text(WORDING.read_text(encoding="utf-8").replace("A train", "One train"), encoding="utf-8")

    assert (
        "with another prompt than bases, benchmark and wording give: rate_speed-0001" in tokens(wording=words).message
    )
    assert not Path(OUT).exists()


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (("--model", "elsewhere/script.json"), SCRIPTED, "scripted: its engine scripted has no vocabulary here"),
        ((), ENDPOINT, "scripted: its engine openai has no vocabulary here"),
        ((), SETTINGS, "scripted: engine llama.cpp needs a model: --model NAME or FILE"),
        (("--model", "broken.gguf"), SETTINGS, "broken.gguf: llama.cpp cannot read it as a GGUF model"),
        (("--model", "gone.gguf"), SETTINGS, "--model gone.gguf: no such file"),
        (("--model", "tiny.gguf"), SETTINGS | {"chat_template": "{{ a"}, "chat template does not compile"),
        (
            ("--model", "tiny.gguf"),
            SETTINGS | {"chat_template": "{{ messages[0].content | replace('9920', '9,920') }}"},
            "does not put the user's message into the prompt as it stands",
        ),
    ],
)
def test_a_system_without_a_usable_vocabulary_is_one_message(
    model: tuple[str, ...], settings: dict[str, Any], message: str
) -> None:
    shutil.copy("elsewhere/script.json", "broken.gguf")

    assert message in tokens(model=model, settings=settings).message
    assert not Path(OUT).exists()
