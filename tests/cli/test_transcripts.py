"""Anyone's responses become a system by a command, and go through every later command as our own do."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from commands import Ran, done, samequantity
from foreign import rows, write
from samequantity.domain.exchange import FinishReason
from small_study import VIEWS as STUDY_VIEWS

VIEWS = [
    {"view_id": "a-0001/canonical", "prompt": "Add 1 and 1."},
    {"view_id": "a-0001/words", "prompt": "Add one and one."},
]
RESPONSES = [
    {"view_id": "a-0001/words", "text": "FINAL: 2", "finish_reason": "stop"},
    {"view_id": "a-0001/canonical", "text": "FINAL: 3", "finish_reason": "max_tokens"},
]
OUT = "results/s/responses/theirs.parquet"


def imported(transcript: str = "t.jsonl", *options: str, out: str = OUT) -> Ran:
    return samequantity(
        *("import", "--views", "views.jsonl", "--transcript", transcript, "--system", "theirs", "--out", out, *options)
    )


def made() -> list[dict[str, Any]]:
    return pl.read_parquet(OUT).rows(named=True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with views and a transcript."""
    monkeypatch.chdir(tmp_path)
    write("views.jsonl", VIEWS)
    write("t.jsonl", RESPONSES)
    return tmp_path


@pytest.mark.usefixtures("here")
class TestAFewResponses:
    @pytest.mark.parametrize("suffix", ["jsonl", "ndjson", "parquet"])
    def test_columns_may_have_any_name(self, suffix: str) -> None:
        theirs = {"view_id": "id", "text": "raw", "finish_reason": "reason", "completion_tokens": "tokens"}
        named = [{theirs[name]: value for name, value in row.items()} | {"tokens": 4} for row in RESPONSES]
        write(f"t.{suffix}", [row | {"other": [1], "note": None} for row in named])
        options = [f"--column={ours}={there}" for ours, there in theirs.items()]

        assert imported(f"t.{suffix}", *options).status == 0
        assert [("FINAL: 3", "length", 4), ("FINAL: 2", "stop", 4)] == [
            (row["text"], row["finish_reason"], row["completion_tokens"]) for row in made()
        ]
        settings = json.loads(Path(OUT).with_suffix(".manifest.json").read_bytes())["settings"]
        assert settings == {
            "system": "theirs",
            "columns": theirs,
            "finish": {},
            "finish_reason": None,
            "reasoning_format": "none",
            "allow_missing": False,
            "outputs": ["responses.parquet"],
        }

    @pytest.mark.parametrize("reason", FinishReason)
    def test_an_assumed_finish_reason_stands_in_the_manifest(self, reason: FinishReason) -> None:
        write("t.jsonl", [{name: row[name] for name in ("view_id", "text")} for row in RESPONSES])

        assert "--finish-reason stop" in imported().message
        assert not Path(OUT).exists()
        assert imported("t.jsonl", "--finish-reason", reason.value).status == 0
        assert {(reason, None)} == {(row["finish_reason"], row["raw_finish_reason"]) for row in made()}
        assert f'"finish_reason": "{reason}"' in Path(OUT).with_suffix(".manifest.json").read_text()

    def test_reasoning_is_taken_out_where_the_option_says_how_it_is_marked(self) -> None:
        write("t.jsonl", [row | {"text": f"<think>hm</think>{row['text']}"} for row in RESPONSES])
        for form, text in (("none", "<think>hm</think>FINAL: 3"), ("think", "FINAL: 3")):
            assert imported("t.jsonl", "--reasoning-format", form).status == 0
            assert (text, "<think>hm</think>FINAL: 3") == (made()[0]["text"], made()[0]["raw"])
        assert {"hm"} == {row["reasoning"] for row in made()}

    def test_an_unknown_finish_reason_is_told_and_counts_as_cut_off(self) -> None:
        write("t.jsonl", [RESPONSES[0], RESPONSES[1] | {"finish_reason": "DONE"}])
        ran = imported()

        assert '1 of 2 responses ended by "DONE", which is not known to mean stop or length' in ran.err
        assert ["other", "stop"] == [row["finish_reason"] for row in made()]
        assert "not known to mean" not in imported("t.jsonl", "--finish", "done=other").err

    def test_what_an_unknown_finish_reason_means_can_be_said_and_stands_in_the_manifest(self) -> None:
        write("t.jsonl", [RESPONSES[0] | {"finish_reason": "a=B"}, RESPONSES[1] | {"finish_reason": "Cut"}])

        assert '"Cut" (1), "a=B" (1). Say what each means: --finish' in imported().message
        assert imported("t.jsonl", "--finish", "A=b=stop", "--finish", "cut=length").status == 0
        assert [("length", "Cut"), ("stop", "a=B")] == [
            (row["finish_reason"], row["raw_finish_reason"]) for row in made()
        ]
        settings = json.loads(Path(OUT).with_suffix(".manifest.json").read_bytes())["settings"]
        assert {"a=b": "stop", "cut": "length"} == settings["finish"]

    @pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
    def test_counts_that_are_floats_are_read_or_left_out(self, suffix: str) -> None:
        write(f"t.{suffix}", [RESPONSES[0] | {"completion_tokens": 4.0}, RESPONSES[1] | {"completion_tokens": None}])
        assert imported(f"t.{suffix}").status == 0
        assert [None, 4] == [row["completion_tokens"] for row in made()]

        write(f"t.{suffix}", [row | {"completion_tokens": 4.5} for row in RESPONSES])
        assert "2 values of completion_tokens that no number of tokens has: 4.5" in imported(f"t.{suffix}").message
        assert imported(f"t.{suffix}", "--column", "completion_tokens=").status == 0
        assert [None, None] == [row["completion_tokens"] for row in made()]

    def test_a_response_cut_off_inside_its_reasoning_is_length_finished(self) -> None:
        write("t.jsonl", [row | {"text": "<think>FINAL: 2", "finish_reason": "stop"} for row in RESPONSES])

        assert imported("t.jsonl", "--reasoning-format", "think").status == 0
        assert {("", "length", "stop")} == {
            (row["text"], row["finish_reason"], row["raw_finish_reason"]) for row in made()
        }

    def test_what_json_can_say_and_a_table_cannot_hold_is_replaced(self) -> None:
        texts = ["a\0b\r\n\u2028c" + "x" * 3_000_000, "\\ud800"]
        lines = [json.dumps(RESPONSES[0] | {"text": texts[0]}), json.dumps(RESPONSES[1]).replace("FINAL: 3", texts[1])]
        Path("t.jsonl").write_text("\n".join(lines), encoding="utf-8")

        assert imported().status == 0
        assert ["\ufffd", texts[0]] == [row["text"] for row in made()]

    def test_missing_views_are_accepted_when_asked_for(self) -> None:
        write("t.jsonl", RESPONSES[:1])

        assert "no response to 1 of 2 views: a-0001/canonical" in imported().message
        assert imported("t.jsonl", "--allow-missing").status == 0
        assert ["a-0001/words"] == [row["view_id"] for row in made()]

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ("", "t.jsonl: holds no row"),
            ("\n\n", "t.jsonl: holds no row"),
            ("{}\n", "t.jsonl: holds no row"),
            (
                '{"a": 1, "b": 2}\n',
                "t.jsonl: has neither view_id nor prompt; it has a, b. Name the column with --column",
            ),
            ('{"prompt": "a", "b": 2}\n', "t.jsonl: has neither text nor reasoning; it has prompt, b."),
            ("[]\n", "t.jsonl, line 1: not a JSON object (found list)"),
            ('{"view_id": 1, "text": "a"}', "t.jsonl, line 1: column view_id is 1, wanted is String"),
            ('{"view_id": "a", "text": ["a"]}', 'line 1: column text is ["a"], wanted is String'),
            ('{"view_id": "a", "text": "a", "completion_tokens": "5"}', 'completion_tokens is "5", wanted is Float64'),
            (
                '{"view_id": "a", "text": "a", "completion_tokens": true}',
                "completion_tokens is true, wanted is Float64",
            ),
            (f'{{"view_id": "a", "text": "a", "prompt_tokens": 1{"0" * 400}}}', "prompt_tokens is 1000"),
            ('{"view_id": "a", "text": "a\0"}', "t.jsonl, line 1: not a JSON object (Invalid control character"),
            (f'{{"view_id": "a", "text": "{"x" * 2_000_000}', "t.jsonl, line 1: not a JSON object"),
            (
                '{"view_id": "a", "text": "a", "finish_reason": "stop"}',
                "1 view id that the views table does not hold: a",
            ),
        ],
    )
    def test_a_file_that_cannot_be_used_is_one_message(self, lines: str, message: str) -> None:
        Path("t.jsonl").write_text(lines, encoding="utf-8")
        found = imported().message

        assert message in found
        assert len(found) < 500
        assert not Path(OUT).exists()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--column", "text"), "--column text: wanted is our name=their name"),
            (("--column", "txt=text"), "unknown name txt (did you mean text?); there are view_id, prompt, text"),
            (("--column", "text=completion"), "t.jsonl: has no column completion; it has view_id, text, finish_reason"),
            (("--column", "text=text", "--column", "text=raw"), "text is named twice"),
            (("--column", "text=text", "--column", "raw=text"), "text is named twice"),
            (("--system", " "), '--system " ": a name is letters, digits, dots, dashes and underscores'),
            (("--system", "../x"), '--system "../x": a name is letters'),
            (("--system", ".x"), '--system ".x": a name is letters'),
            (("--column", "text="), "t.jsonl: has neither text nor reasoning"),
            (("--column", "=text"), "--column =text: wanted is our name=their name"),
            (("--finish", "DONE"), "--finish DONE: wanted is their word=stop, =length or =other"),
            (("--finish", "=stop"), "--finish =stop: wanted is their word=stop"),
            (("--finish", "DONE=end"), "--finish DONE=end: wanted is their word=stop"),
            (("--finish", "a=stop", "--finish", "A=stop"), "--finish A=stop: A is there twice"),
            (("--finish", "a=stop", "--finish-reason", "stop"), "--finish-reason that there are none. Leave one out"),
            (("--out", "x.csv"), "--out x.csv: a table is written as"),
            (("--finish-reason", "stop"), "2 of 2 responses have a finish reason of their own"),
        ],
    )
    def test_an_option_that_cannot_be_used_is_one_message(self, options: tuple[str, ...], message: str) -> None:
        assert message in imported("t.jsonl", *options).message

    def test_a_file_of_another_kind_is_one_message(self) -> None:
        Path("folder.jsonl").mkdir()
        for name in ("t.csv", "fake.parquet"):
            Path(name).write_text("view_id,text\n", encoding="utf-8")

        assert "gone.jsonl: no such table" in imported("gone.jsonl").message
        assert "'folder.jsonl' is a directory" in imported("folder.jsonl").message
        assert "t.csv: a table is .jsonl or .ndjson or .parquet" in imported("t.csv").message
        assert "fake.parquet: not a readable Parquet file" in imported("fake.parquet").message
        pl.DataFrame(RESPONSES).with_columns(text=pl.lit(b"\xff")).write_parquet("t.parquet")
        assert "t.parquet: column text is Binary, wanted is String" in imported("t.parquet").message

    def test_the_same_transcript_is_read_once(self) -> None:
        imported("t.jsonl", "--store", "results/store")

        assert "taken from the store" in imported("t.jsonl", "--store", "results/store").err
        write("t.jsonl", [RESPONSES[0], RESPONSES[1] | {"text": "FINAL: 2"}])
        assert "computed" in imported("t.jsonl", "--store", "results/store").err


@pytest.mark.usefixtures("study")
class TestAWholeStudy:
    def test_an_imported_system_goes_the_whole_way_with_its_lengths_unknown(self) -> None:
        """From the prompts' texts alone: import, parse, audit, score, bootstrap, collect, tables, figures."""
        prompts = dict(pl.read_parquet(STUDY_VIEWS[1]).select("view_id", "prompt").iter_rows())
        answers = rows("results/tiny/views_benchmark.jsonl")
        write(
            "elsewhere/run.jsonl",
            [
                {"prompt": prompts[row["view_id"]], "answer": f"FINAL: {row['expected']} {row['canonical_unit']}"}
                for row in answers
            ],
        )
        table = "results/tiny/{}/theirs.parquet".format
        store = ("--store", "results/store")
        done(
            *("import", *STUDY_VIEWS, "--transcript", "elsewhere/run.jsonl", "--system", "theirs", *store),
            *("--column", "text=answer", "--finish-reason", "stop", "--out", table("responses")),
        )
        responses, judged = ("--responses", table("responses")), ("--answers", table("answers"))
        done("parse", *STUDY_VIEWS, *responses, "--out", table("answers"), *store)
        done("audit", *STUDY_VIEWS, *responses, *judged, "--out", table("audits"), *store)
        layers = (*STUDY_VIEWS, *judged, "--audits", table("audits"))
        done("score", *layers, *responses, "--out", table("scores"), *store)
        done("bootstrap", *layers, "--seed", "1", "--draws", "10", "--out", table("intervals"), *store)
        for name in ("scores", "intervals"):
            of_both = [f"results/tiny/{name}/{system}.parquet" for system in ("scripted", "theirs")]
            done("collect", *of_both, "--out", f"two/{name}.parquet")
        for stage in ("tables", "figures"):
            done(
                stage, "--scores", "two/scores.parquet", "--intervals", "two/intervals.parquet", "--out", f"two/{stage}"
            )

        assert {"correct"} == set(pl.read_parquet(table("answers"))["status"])
        tokens = Path("two/tables/completion_tokens.md").read_text(encoding="utf-8")
        assert "–: not known: the responses do not say how many tokens they have (theirs)." in tokens
        lines = [line for line in tokens.splitlines() if line.startswith("| theirs")]
        assert lines
        assert all("| – | – | 0/" in line for line in lines), "their ends are known"
        assert not any("| – |" in line for line in tokens.splitlines() if line.startswith("| scripted"))
        assert "up to date" in done("status", "tiny").out

    def test_our_own_responses_under_another_name_get_the_same_answers(self) -> None:
        ours, theirs = "results/tiny/responses/scripted.parquet", "elsewhere/copy.parquet"
        out = ("--system", "theirs", "--out", "results/tiny/responses/theirs.parquet")
        done("import", *STUDY_VIEWS, "--transcript", ours, *out)
        done("import", *STUDY_VIEWS, "--transcript", ours, *out[:3], theirs)
        answers = []
        for path in (ours, theirs):
            done("parse", *STUDY_VIEWS, "--responses", path, "--out", "elsewhere/answers.parquet")
            answers.append(pl.read_parquet("elsewhere/answers.parquet"))

        assert ["scripted", "theirs"] == [table["system"][0] for table in answers]
        assert answers[0].drop("system").equals(answers[1].drop("system"))
        assert "transcript" in done("provenance", "results/tiny/responses/theirs.parquet").out
