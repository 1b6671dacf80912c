"""A server's answer is taken as it is, and nothing is invented."""

import hashlib
import json
from typing import Any

import pytest

from fake_endpoint import (
    MODEL,
    PROMPT,
    FakeEndpoint,
    Reply,
    answer,
    at_once,
    endpoint_settings,
    engine,
    failure,
    listing,
    refusal,
    request,
    said,
    server,
)
from samequantity.domain.exchange import FinishReason
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.engines.opening import engine_identity, open_engine

__all__ = ["server"]


def test_a_request_is_one_user_message_with_the_cap_and_the_sampling(server: FakeEndpoint) -> None:
    with engine(server, extra={"chat_template_kwargs": {"enable_thinking": False}, "min_p": 0}) as opened:
        opened.complete(request(temperature=0.7, top_k=0, top_p=0.95, seed=11))

    (asked,) = server.chats
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": MODEL,
        "stream": False,
        "messages": [{"role": "user", "content": PROMPT}],
        "max_tokens": 24,
        "temperature": 0.7,
        "top_k": 0,
        "top_p": 0.95,
        "seed": 11,
        "chat_template_kwargs": {"enable_thinking": False},
        "min_p": 0,
    }
    assert "Authorization" not in asked.headers


def test_what_a_server_does_not_take_is_not_sent(server: FakeEndpoint) -> None:
    other = {"omit": ["temperature", "top_k", "top_p"], "token_cap": "max_completion_tokens"}
    answer(server, **other)

    assert server.chats[0].body.keys() == {"model", "stream", "messages", "max_completion_tokens", "seed"}


def test_an_answer_is_kept_whole(server: FakeEndpoint) -> None:
    completion = answer(server)

    assert completion.text == "FINAL: 6.25 liters"
    assert completion.reasoning == ""
    assert completion.raw == '{"content":"FINAL: 6.25 liters","role":"assistant"}'
    assert (completion.prompt_tokens, completion.completion_tokens) == (25, 4)
    assert completion.system_fingerprint == "fp_one"
    assert completion.prompt_sha256 == hashlib.sha256(PROMPT.encode()).hexdigest()
    assert 0 < completion.seconds < 5


@pytest.mark.parametrize(
    ("raw", "kept", "meaning"),
    [
        ("stop", "stop", FinishReason.STOP),
        ("length", "length", FinishReason.LENGTH),
        ("max_tokens", "max_tokens", FinishReason.LENGTH),
        ("tool_calls", "tool_calls", FinishReason.OTHER),
        ("content_filter", "content_filter", FinishReason.OTHER),
        ("STOP", "STOP", FinishReason.STOP),
        ("", "", FinishReason.OTHER),
        (None, "null", FinishReason.OTHER),
        (7, "7", FinishReason.OTHER),
    ],
)
def test_only_stop_means_that_the_model_had_finished(
    server: FakeEndpoint, raw: Any, kept: str, meaning: FinishReason
) -> None:
    server.will(said(reason=raw))
    completion = answer(server)

    assert (kept, meaning) == (completion.raw_finish_reason, completion.finish_reason)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_that_the_server_keeps_apart_stays_apart(server: FakeEndpoint, name: str) -> None:
    server.will(said(message={name: "3/4 is 0.75"}))
    completion = answer(server, reasoning_format="think")

    assert (completion.reasoning, completion.text) == ("3/4 is 0.75", "FINAL: 6.25 liters")
    assert json.loads(completion.raw)[name] == "3/4 is 0.75"


@pytest.mark.parametrize("empty", [{}, {"reasoning_content": None}, {"reasoning_content": ""}])
def test_reasoning_in_the_text_is_split_from_it_by_its_marks(server: FakeEndpoint, empty: dict[str, Any]) -> None:
    server.will(said("<think>3/4 is 0.75</think>FINAL: 1 liters", message=empty))
    completion = answer(server, reasoning_format="think")

    assert (completion.reasoning, completion.text) == ("3/4 is 0.75", "FINAL: 1 liters")


@pytest.mark.parametrize("message", [{"content": None}, {"content": None, "tool_calls": [{"id": "1"}]}])
def test_a_message_without_content_is_an_empty_answer(server: FakeEndpoint, message: dict[str, Any]) -> None:
    server.will(said(message=message))
    completion = answer(server)

    assert completion.text == ""
    assert message | {"role": "assistant"} == json.loads(completion.raw)


@pytest.mark.parametrize(
    "usage",
    [None, {}, 7, {"prompt_tokens": None, "completion_tokens": "4"}, {"prompt_tokens": -1}, {"prompt_tokens": True}],
)
def test_tokens_that_the_server_does_not_count_are_not_invented(server: FakeEndpoint, usage: Any) -> None:
    server.will(said(usage=usage))
    completion = answer(server)

    assert (None, None) == (completion.prompt_tokens, completion.completion_tokens)


def test_half_of_a_surrogate_pair_becomes_a_character_that_a_table_can_hold(server: FakeEndpoint) -> None:
    server.will(Reply(body=said("6 \ud83d liters \ud83d\ude00").body))

    assert answer(server).text == "6 \ufffd liters 😀"


META = {"vocab_type": 2, "n_params": 82752, "n_ctx": 1024, "uptime": 7}


def test_the_identity_holds_what_the_server_says_of_the_model_and_stays_the_same(server: FakeEndpoint) -> None:
    server.models = lambda _: listing("other", MODEL, owned_by="me", root="/a", permission=[{"id": id(_)}], meta=META)
    with engine(server) as first, engine(server) as second:
        facts = first.identity()

        assert facts == second.identity()
        assert facts["listed"] == {
            "id": MODEL,
            "owned_by": "me",
            "root": "/a",
            "meta": {"vocab_type": 2, "n_params": 82752, "n_ctx": 1024},
        }
        assert {"engine", "model", "extra", "omit", "token_cap", "one_at_a_time", "engine_revision"} <= facts.keys()
        assert not {"url", "api_key", "timeout", "attempts", "in_flight", "temperature"} & facts.keys()
        assert json.dumps(facts)


def test_another_model_behind_the_same_name_is_another_identity(server: FakeEndpoint) -> None:
    found = []
    for size in (1, 2):
        server.models = listing(MODEL, meta={"size": size})
        with engine(server) as opened:
            found.append(opened.identity())

    assert found[0] != found[1]


def test_a_model_may_be_named_by_an_alias(server: FakeEndpoint) -> None:
    server.models = listing("tiny.gguf", aliases=["small", MODEL])
    with engine(server) as opened:
        assert opened.identity()["listed"] == {"id": "tiny.gguf"}


@pytest.mark.parametrize("models", [refusal(404), refusal(405), refusal(501), listing()])
def test_a_server_without_a_listing_is_taken_with_one_line(server: FakeEndpoint, models: Reply) -> None:
    server.models = models
    told: list[str] = []

    with EndpointEngine(endpoint_settings(server.url), patience=at_once(), notice=told.append) as opened:
        assert opened.identity()["listed"] is None
        assert opened.complete(request()).text == "FINAL: 6.25 liters"
    assert told == [f"{server.url}: lists no models; that it serves {MODEL} is taken on trust."]


def test_a_server_that_lists_other_models_only_is_refused_with_their_names(server: FakeEndpoint) -> None:
    server.models = listing("small", "large")

    assert failure(server).endswith("does not serve tiny. Set model to one that it lists: small, large")
    assert server.chats == []

    server.models = listing("\x1b[31mred", *(f"m{number}" for number in range(1000)))
    assert r"it lists: \x1b[31mred, m0, m1" in failure(server)
    assert failure(server).endswith(", m18, …")


def test_each_completion_has_the_fingerprint_that_came_with_it(server: FakeEndpoint) -> None:
    server.will(said(), said(system_fingerprint="fp_two"), said(system_fingerprint=None))
    with engine(server) as opened:
        found = [opened.complete(request(f"{number}?")).system_fingerprint for number in range(3)]

    assert ["fp_one", "fp_two", ""] == found


def test_the_engine_is_opened_by_its_settings_and_named_without_a_word(
    server: FakeEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    server.models = refusal(404)
    settings = endpoint_settings(server.url)
    identity = engine_identity(settings, None, None)
    assert caplog.messages == []

    with open_engine(settings, None, None) as opened:
        assert identity == opened.identity()
        assert opened.in_flight == 1
        assert opened.complete(request()).text == "FINAL: 6.25 liters"
    assert "taken on trust" in caplog.text


def test_an_address_may_end_with_a_slash(server: FakeEndpoint) -> None:
    with EndpointEngine(endpoint_settings(server.url + "/"), patience=at_once()) as opened:
        opened.complete(request())

    assert ["/v1/models", "/v1/chat/completions"] == [asked.path for asked in server.asked]
