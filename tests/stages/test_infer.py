"""Every view is answered once, in order, however the work is cut or interrupted."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from fixtures_gguf import ANSWER, random_model, scripted_model, settings
from samequantity.domain.exchange import Completion, Request, Sampling, request_digest
from samequantity.engines.opening import open_engine
from samequantity.engines.scripted import ScriptedEngine
from samequantity.errors import ModelError, TableError
from samequantity.stages.infer import Decoding, Inference, infer
from samequantity.stages.responses import RESPONSES_SCHEMA, part, spread
from samequantity.store.journal import Journal

__all__ = ["random_model", "scripted_model"]

DECODING = Decoding(max_tokens=24, sampling=Sampling(temperature=0, top_k=1, top_p=1, seed=7))


class Watch:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def start(self, *, total: int, known: int) -> None:
        self.told.append((total, known))

    def answered(self, completion: Completion) -> None:
        self.told.append(completion.text)

    def finish(self) -> None:
        self.told.append("end")


def views(count: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "view_id": [f"combined_volume-{number:04}/fraction" for number in range(count)],
            "prompt": [f"A jug holds {number}/4 liters." for number in range(count)],
        }
    )


def ask(
    table: pl.DataFrame,
    engine: Any,
    directory: Path,
    name: str = "all",
    decoding: Decoding = DECODING,
    watch: Watch | None = None,
) -> Inference:
    with Journal.open(directory, name, wait_seconds=0) as journal:
        return infer(table, engine, journal, system="tiny", decoding=decoding, progress=watch or Watch())


def echo(prompt: str) -> str:
    return f"FINAL: {prompt}"


def failing_after(count: int) -> Callable[[str], str]:
    left = iter(range(count))

    def answer(prompt: str) -> str:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return echo(prompt)

    return answer


def test_the_table_has_the_agreed_columns_in_the_views_order(tmp_path: Path) -> None:
    responses = ask(views(3), ScriptedEngine(echo), tmp_path).responses

    assert responses.schema == RESPONSES_SCHEMA
    assert responses["order"].to_list() == [0, 1, 2]
    assert views(3)["view_id"].to_list() == responses["view_id"].to_list()
    assert [echo(prompt) for prompt in views(3)["prompt"]] == responses["text"].to_list()
    assert {"tiny"} == set(responses["system"])
    assert {"stop"} == set(responses["finish_reason"])


def test_no_view_at_all_is_an_empty_table(tmp_path: Path) -> None:
    found = ask(views(0), ScriptedEngine(echo), tmp_path)

    assert found.responses.schema == RESPONSES_SCHEMA
    assert 0 == found.responses.height == found.summary()["asked"]


def test_what_the_journal_knows_is_not_asked(tmp_path: Path) -> None:
    first, second, watch = ScriptedEngine(echo), ScriptedEngine(echo), Watch()
    before = ask(views(2), first, tmp_path).responses
    after = ask(views(4), second, tmp_path, watch=watch)

    assert views(4)["prompt"].to_list()[2:] == second.asked
    assert_frame_equal(before, after.responses.head(2))
    assert [(4, 2), *map(echo, second.asked), "end"] == watch.told
    assert after.telemetry["asked"].to_list() == [False, False, True, True]
    assert dict(list(after.summary().items())[:3]) == {"responses": 4, "asked": 2, "from_journal": 2}


def test_an_interrupted_job_goes_on_where_it_was(tmp_path: Path) -> None:
    undisturbed = ask(views(5), ScriptedEngine(echo), tmp_path / "one").responses
    watch, second = Watch(), ScriptedEngine(echo)

    with pytest.raises(KeyboardInterrupt):
        ask(views(5), ScriptedEngine(failing_after(3)), tmp_path / "two", watch=watch)
    resumed = ask(views(5), second, tmp_path / "two").responses

    assert watch.told[-1] == "end"
    assert len(second.asked) == 2
    assert_frame_equal(undisturbed, resumed)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_responses_are_the_same_whatever_the_number_of_shards(
    tmp_path: Path, random_model: Path, count: int
) -> None:
    """With a real model, each shard in an engine of its own; more shards than views included."""
    table = views(7)
    chosen = settings(max_tokens=8)
    decoding = Decoding(max_tokens=8, sampling=chosen.sampling())
    with open_engine(chosen, random_model, "digest") as engine:
        whole = ask(table, engine, tmp_path / "whole", decoding=decoding).responses
    shards = []
    for index in range(count):
        with open_engine(chosen, random_model, "digest") as engine:
            shard = part(table, index=index, count=count)
            shards.append(ask(shard, engine, tmp_path / "parts", f"{index}-of-{count}", decoding).responses)

    assert_frame_equal(whole, pl.concat(shards).sort("order"))
    with open_engine(chosen, random_model, "digest") as engine:
        again = ask(table, engine, tmp_path / "parts", decoding=decoding)
    assert again.summary()["asked"] == 0
    assert_frame_equal(whole, again.responses)


def test_the_shards_share_every_view_and_differ_by_at_most_one() -> None:
    shards = [part(views(11), index=index, count=4) for index in range(4)]

    assert list(range(11)) == sorted(order for shard in shards for order in shard["order"])
    assert {2, 3} == {shard.height for shard in shards}


@pytest.mark.parametrize(("index", "count"), [(-1, 2), (2, 2), (0, 0)])
def test_a_shard_that_does_not_exist_is_refused(index: int, count: int) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        part(views(3), index=index, count=count)


def test_a_real_model_answers_through_the_stage(tmp_path: Path, scripted_model: Path) -> None:
    with open_engine(settings(), scripted_model, "digest") as engine:
        found = ask(views(3), engine, tmp_path)

    assert found.responses["text"].to_list() == [ANSWER] * 3
    assert found.telemetry["completion_tokens"].to_list() == [4] * 3
    assert found.summary()["seconds"] > 0
    assert json.dumps(found.summary())


def test_a_prompt_that_cannot_be_asked_stops_before_the_first(tmp_path: Path, scripted_model: Path) -> None:
    table = pl.concat([views(2), pl.DataFrame({"view_id": ["long/fraction"], "prompt": ["x" * 600]})])

    with (
        open_engine(settings(), scripted_model, "digest") as engine,
        pytest.raises(ModelError, match="fit the context"),
    ):
        ask(table, engine, tmp_path)
    assert (tmp_path / "all.jsonl").read_bytes() == b""


def test_two_views_with_one_prompt_are_asked_once(tmp_path: Path) -> None:
    engine = ScriptedEngine(echo)
    table = views(2).with_columns(prompt=pl.lit("the same"))

    assert ask(table, engine, tmp_path).responses.height == 2
    assert engine.asked == ["the same"]


def test_a_repetition_another_cap_or_another_model_is_asked_anew(tmp_path: Path) -> None:
    ask(views(1), ScriptedEngine(echo), tmp_path)
    sampled = Sampling(temperature=0.7, top_k=0, top_p=0.95, seed=7)
    others = [
        (ScriptedEngine(echo), Decoding(max_tokens=24, sampling=DECODING.sampling, repeat=1)),
        (ScriptedEngine(echo), Decoding(max_tokens=25, sampling=DECODING.sampling)),
        (ScriptedEngine(echo), Decoding(max_tokens=24, sampling=sampled)),
        (ScriptedEngine(echo, digest="another"), DECODING),
        (ScriptedEngine(echo), DECODING),
    ]

    asked = [ask(views(1), engine, tmp_path, decoding=decoding).summary()["asked"] for engine, decoding in others]

    assert asked == [1, 1, 1, 1, 0]


def test_the_request_digest_is_pinned() -> None:
    """A journal stays readable: a change here asks everything again."""
    request = Request(prompt="2+2?", max_tokens=24, sampling=DECODING.sampling)
    digest = request_digest(request, engine={"engine": "scripted"}, prompt_sha256="ab" * 32, repeat=0)

    assert digest == "6b0b36bd535098d17c7b5a0be789efaa07d9eae1abc255e3b5d7706cb51d54b6"


def test_zero_and_zero_point_zero_are_one_temperature() -> None:
    """A configuration file may write either; the journal must know the answer."""
    assert repr(DECODING.sampling) == repr(Sampling(temperature=0.0, top_k=1, top_p=1.0, seed=7))


def test_what_a_server_did_not_count_is_null_and_what_it_calls_itself_is_in_the_telemetry_alone(tmp_path: Path) -> None:
    class Server(ScriptedEngine):
        def complete(self, request: Request) -> Completion:
            whole = super().complete(request)
            number = len(self.asked) % 2
            return replace(whole, prompt_tokens=None, completion_tokens=None, system_fingerprint=f"fp_{number}")

    found = ask(views(3), Server(echo), tmp_path)

    assert [None] * 3 == found.responses["completion_tokens"].to_list() == found.responses["prompt_tokens"].to_list()
    assert found.summary()["completion_tokens"] == 0
    assert ["fp_1", "fp_0", "fp_1"] == found.telemetry["system_fingerprint"].to_list()
    assert "fp_1" not in str(found.responses.rows())
    again = ask(views(3), Server(echo), tmp_path)
    assert found.summary()["system_fingerprints"] == {"fp_0": 1, "fp_1": 2} == again.summary()["system_fingerprints"]
    assert_frame_equal(found.responses, again.responses)
    assert ["fp_1", "fp_0", "fp_1"] == again.telemetry["system_fingerprint"].to_list()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (views(2).drop("prompt"), "lacks prompt"),
        (pl.concat([views(2), views(1)]), "1 views occur more than once.*0000/fraction"),
    ],
)
def test_a_table_that_cannot_be_asked_is_refused(tmp_path: Path, table: pl.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        ask(table, ScriptedEngine(echo), tmp_path)


@pytest.mark.parametrize(("count", "orders"), [(1, [0]), (3, [0, 3, 6]), (10, list(range(10))), (99, list(range(10)))])
def test_a_few_views_are_spread_over_all_and_keep_their_places(count: int, orders: list[int]) -> None:
    views = pl.DataFrame({"view_id": [f"v{number}" for number in range(10)]})

    chosen = spread(views, count)

    assert (orders, [f"v{order}" for order in orders]) == (chosen["order"].to_list(), chosen["view_id"].to_list())
    assert orders[1::2] == part(chosen, index=1, count=2)["order"].to_list()
