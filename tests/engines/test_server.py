"""A real llama.cpp server answers what llama.cpp in this process answers, as far as its interface tells."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import shipped
from fake_endpoint import endpoint_settings
from fixtures_gguf import ANSWER, settings
from llama_server import Options, compare, llama_server, report
from samequantity.domain.exchange import Completion, FinishReason
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.engines.llama.engine import LlamaEngine
from samequantity.errors import ModelError
from samequantity.stages.infer import Decoding
from samequantity.stages.responses import spread
from tiny_gguf import CHATML, TinyModel

PROMPT = "A jug holds 3/4 liters, twice."
CONTROL = "{% if brief %}Be brief.{% endif %}"
VARIABLE, KEY = "TINY_SERVER_KEY", "sk-tiny-0123456789"


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that answers everything with `ANSWER`, and whose template knows a control."""
    template = CHATML.replace("{% if add", CONTROL + "{% if add")
    model = TinyModel(script=("FINAL:", " 6.25", " liters"), template=template)
    return model.write(tmp_path_factory.mktemp("models") / "scripted.gguf")


@pytest.fixture(scope="module")
def address(scripted: Path) -> Iterator[str]:
    with llama_server(Options(model=str(scripted), alias="scripted", parallel=2, context=512, api_key=KEY)) as found:
        yield found


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


def server(address: str, **changes: Any) -> EndpointEngine:
    chosen: dict[str, Any] = {
        "model": "scripted",
        "api_key": VARIABLE,
        "attempts": 1,
        "timeout": 30,
        "seed": 20260725,
        **changes,
    }
    return EndpointEngine(endpoint_settings(f"{address}/v1", **chosen))


def answer(address: str, prompt: str = PROMPT, **changes: Any) -> Completion:
    chosen = endpoint_settings(**changes)
    with server(address, **changes) as engine:
        return engine.complete(chosen.request(prompt))


def test_an_answer_ends_and_is_counted_as_in_process(address: str, scripted: Path) -> None:
    chosen = settings()
    with LlamaEngine(chosen, scripted, "digest") as engine:
        ours = engine.complete(chosen.request(PROMPT))
    theirs = answer(address)

    assert ours.text == theirs.text == ANSWER
    assert FinishReason.STOP is ours.finish_reason is theirs.finish_reason
    assert (ours.prompt_tokens, ours.completion_tokens) == (theirs.prompt_tokens, theirs.completion_tokens)
    assert theirs.raw_finish_reason == "stop"
    assert json.loads(theirs.raw)["content"] == ANSWER
    assert theirs.system_fingerprint


def test_an_answer_that_is_cut_says_so(address: str) -> None:
    cut = answer(address, max_tokens=2)

    assert (cut.text, cut.finish_reason, cut.completion_tokens) == ("FINAL: 6.25", FinishReason.LENGTH, 2)


@pytest.mark.parametrize("kwargs", [{}, {"brief": True}, {"brief": False}])
def test_what_the_template_is_given_reaches_it(address: str, scripted: Path, kwargs: dict[str, bool]) -> None:
    chosen = settings(template_kwargs=kwargs)
    with LlamaEngine(chosen, scripted, "digest") as engine:
        ours = engine.complete(chosen.request(PROMPT))
    theirs = answer(address, extra={"chat_template_kwargs": kwargs})

    assert ours.prompt_tokens == theirs.prompt_tokens
    assert theirs.prompt_tokens == (answer(address).prompt_tokens or 0) + 9 * kwargs.get("brief", False)


def test_the_server_says_which_model_it_serves(address: str, scripted: Path) -> None:
    with server(address) as first, server(address) as second:
        listed = first.identity()["listed"]

        assert listed == second.identity()["listed"]
        assert isinstance(listed, dict)
        assert listed["owned_by"] == "llamacpp"
        assert listed["meta"]["n_embd"] == 320
        assert str(scripted.parent) not in json.dumps(first.identity())
        assert KEY not in json.dumps([first.identity(), first.host_facts()])


def test_another_name_is_refused_with_the_one_that_is_there(address: str) -> None:
    with pytest.raises(ModelError, match=r"does not serve other\. Set model to one that it lists: scripted"):
        server(address, model="other")


def test_a_prompt_that_is_too_long_is_reported_with_the_cure(address: str) -> None:
    with pytest.raises(ModelError, match=r"status 400, .*\n.*lower max_tokens or start the server with more context"):
        answer(address, "x" * 600)


def test_a_wrong_key_is_named_by_its_variable(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This server lists its models to anyone."""
    monkeypatch.setenv(VARIABLE, "sk-wrong-0123456789")

    with pytest.raises(ModelError, match=rf"status 401\. .*{VARIABLE}") as refused:
        answer(address)
    assert "sk-wrong" not in str(refused.value)


def test_the_same_prompts_have_the_same_tokens_in_process_and_through_the_server(tmp_path: Path) -> None:
    """What bench/server.py does with the demo's model, on a small one with random weights."""
    model = TinyModel().write(tmp_path / "random.gguf")
    views = spread(shipped.views(), 5)
    chosen = settings(context=1024, batch=512, ubatch=512, max_tokens=8)
    asked = endpoint_settings(max_tokens=8, extra={"cache_prompt": False})
    with (
        LlamaEngine(chosen, model, "digest") as local,
        llama_server(Options(model=str(model), alias="tiny")) as found,
        EndpointEngine(endpoint_settings(f"{found}/v1", extra=asked.extra, max_tokens=8)) as remote,
    ):
        decoding = Decoding(max_tokens=8, sampling=chosen.sampling())
        pairs = compare(views, local, remote, found, decoding)

    assert len(pairs) == 5
    assert all(pair.same_tokens and len(pair.tokens[0]) > 100 for pair in pairs)
    assert len({tuple(pair.tokens[0]) for pair in pairs}) == 5
    assert [len(pair.tokens[0]) for pair in pairs] == [pair.completions[1].prompt_tokens for pair in pairs]
    assert "equal prompt token ids     5/5" in report(pairs)
