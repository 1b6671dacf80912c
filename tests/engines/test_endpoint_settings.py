"""What a server is asked is told without a default, and no key can be told at all."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_endpoint import ENDPOINT, endpoint_settings
from fixtures_gguf import SETTINGS
from samequantity.engines.endpoint.settings import EndpointSettings
from samequantity.engines.opening import engine_identity, open_engine, read_settings
from samequantity.engines.settings_reading import settings_of
from samequantity.errors import SettingsError

LEAK = "sk-proj-Zm9vYmFyZm9vYmFy"
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize("name", ENDPOINT)
def test_no_setting_has_a_default(name: str) -> None:
    with pytest.raises(SettingsError, match=f"^here: missing setting {name}"):
        read_settings({key: value for key, value in ENDPOINT.items() if key != name}, where="here")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"modle": "x"}, "unknown setting 'modle' \\(did you mean model?\\)"),
        ({"model": " "}, "model must be the name"),
        ({"in_flight": 0}, "in_flight must be positive"),
        ({"in_flight": 1.5}, "in_flight must be int"),
        ({"attempts": 0}, "attempts must be positive"),
        ({"timeout": 0}, "timeout must be a positive number"),
        ({"timeout": 1e308}, "timeout must be a positive number of seconds, at most 86400"),
        ({"in_flight": 1025}, "in_flight must be at most 1024"),
        ({"model": "a\ud800"}, "model must be the name"),
        ({"model": "a\x1b[31m"}, "model must be the name"),
        ({"extra": {"user": "a\ud800"}}, "extra must be what JSON can hold"),
        ({"extra": {"user": [{"\udfff": 1}]}}, "extra must be what JSON can hold"),
        ({"extra": {"min_p": DEEP}}, "extra must be what JSON can hold"),
        ({"timeout": float("inf")}, "timeout must be a positive number"),
        ({"timeout": float("nan")}, "timeout must be a positive number"),
        ({"token_cap": "max_new_tokens"}, "token_cap must be one of max_tokens, max_completion_tokens"),
        ({"omit": ["top_k", "messages"]}, "omit may name temperature, top_p, top_k, seed, not messages"),
        ({"omit": "seed"}, "omit must be a list"),
        ({"extra": {"stream": True, "temperature": 1}}, "extra must not set stream, temperature"),
        ({"extra": {"n": 2}}, "extra must not set n:"),
        ({"extra": {"when": object()}}, "extra must be what JSON can hold"),
        ({"extra": {"min_p": float("nan")}}, "extra must be what JSON can hold"),
        ({"reasoning_format": "xml"}, "reasoning_format must be one of"),
        ({"max_tokens": 0}, "max_tokens must be positive"),
        ({"seed": 0}, "seed must be from 1"),
    ],
)
def test_a_value_without_a_meaning_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=rf"^here: .*{message.replace('?', chr(92) + '?')}"):
        settings_of(EndpointSettings, {**ENDPOINT, **changes}, where="here")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:80/v1",
        "ftp://host/v1",
        "http:///v1",
        "http://a..b/v1",
        f"http://{'a' * 64}.example.org/v1",
        f"http://{'a.' * 130}org/v1",
        "http://a%41/v1",
        "http://[::1%/v1",
        "http://[1]/v1",
        "http://a,b/v1",
        "http://\ud800/v1",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://host/v1 ",
        "http://host/v1\n",
        f"http://user:{LEAK}@host/v1",
        f"http://{LEAK}@host/v1",
        f"https://host/v1?api-key={LEAK}",
        f"https://host/v1#{LEAK}",
        "https://host/v1?",
    ],
)
def test_an_address_of_another_form_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(SettingsError, match="the test's settings: url must") as refused:
        endpoint_settings(url)

    assert LEAK not in str(refused.value)
    assert not url or url not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1",
        "https://api.example.org/openai/v1/",
        "https://API.Example.org./v1",
        "http://[::1]:80/v1",
        "http://node_7:80/v1",
        "https://größe.example.org/v1",
    ],
)
def test_an_address_of_either_scheme_is_taken(url: str) -> None:
    assert url == endpoint_settings(url).url


@pytest.mark.parametrize("key", [LEAK, "MY-KEY", "key", "$KEY", "1KEY", "", "KEY\n", 12345678, [LEAK], {"is": LEAK}])
def test_a_key_in_the_place_of_its_variables_name_is_refused_without_being_repeated(key: Any) -> None:
    with pytest.raises(SettingsError, match="the test's settings: api_key must be") as refused:
        endpoint_settings(api_key=key)

    assert LEAK not in str(refused.value)
    assert "12345678" not in str(refused.value)
    assert "MY-KEY" not in str(refused.value)


@pytest.mark.parametrize(
    "extra",
    [
        *({name: LEAK} for name in ("api_key", "Authorization", "apiKey", "APIKEY", "x-goog-api-key", "access_token")),
        *(
            {name: "it"}
            for name in ("token", "auth", "key", "authToken", "Cookie", "my_secret", "PASSWORD", "user.pwd")
        ),
        {"api_key": 12345678},
        {"token": 1234567890},
        {"extra_headers": {"X-Auth": "it"}},
        {"a": [{"b": {"c": [{"clientSecret": "it"}]}}]},
        {"credentials": {"user": "it"}},
        {"key": {"value": ["it"]}},
        {"a": f"Bearer {LEAK}"},
        {"a": [1, {"b": ["  bearer it"]}]},
        {"a": "Basic aXQ6aXQ="},
        {"user": LEAK},
        {LEAK: 1},
        {f"token {LEAK}": "it"},
    ],
)
def test_a_secret_anywhere_in_the_further_fields_is_refused_without_being_repeated(extra: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="extra must not hold a key or a password") as refused:
        endpoint_settings(extra=extra)

    assert LEAK not in str(refused.value)
    assert "123456" not in str(refused.value)
    assert "it" not in str(refused.value).replace("Take it out", "").split()


@pytest.mark.parametrize(
    "extra",
    [
        {"stop_token_ids": [1, 2], "min_tokens": 0, "skip_special_tokens": False, "thinking_token_budget": 0},
        {"chat_template_kwargs": {"enable_thinking": False, "eos_token": "</s>", "keyword": "a", "author": "b"}},
        {
            "prompt_cache_key": "study-1",
            "logit_bias": {"50256": -100},
            "stop": ["token", "the bearer of"],
            "lang": "sk-SK",
        },
        {"return_tokens_as_token_ids": True, "key": None, "token": ""},
    ],
)
def test_fields_that_servers_know_are_taken(extra: dict[str, Any]) -> None:
    assert extra == endpoint_settings(extra=extra).extra


@pytest.mark.parametrize("name", ["url", "api_key", "extra"])
@pytest.mark.parametrize("value", [f"Bearer {LEAK}", [LEAK], {1: LEAK}, {"a": {LEAK}}, 12345678])
def test_what_may_hold_a_secret_is_never_repeated_whatever_stands_there(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=rf"^here: {name} must be") as refused:
        read_settings({**ENDPOINT, name: value}, where="here")

    assert LEAK not in str(refused.value)
    assert "12345678" not in str(refused.value)


@given(name=st.from_regex(r"[A-Z_][A-Z0-9_]*", fullmatch=True).filter(lambda name: name.isascii()))
def test_the_name_of_a_variable_is_taken(name: str) -> None:
    assert name == endpoint_settings(api_key=name).api_key


ALONE = endpoint_settings().key_settings()


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "https://elsewhere.example.org/v1"},
        {"api_key": "OTHER_KEY"},
        {"timeout": 1},
        {"attempts": 1},
    ],
)
def test_what_decides_no_answer_is_in_no_key(changes: dict[str, Any]) -> None:
    assert ALONE == endpoint_settings(**changes).key_settings()
    assert "OTHER_KEY" not in str(endpoint_settings(**changes).key_settings())


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "other"},
        {"in_flight": 2},
        {"token_cap": "max_completion_tokens"},
        {"omit": ["seed"]},
        {"extra": {"min_p": 0}},
        {"reasoning_format": "think"},
        {"max_tokens": 25},
        {"temperature": 0.5},
        {"top_k": 0},
        {"top_p": 0.5},
        {"seed": 8},
    ],
)
def test_what_decides_an_answer_is_in_the_key(changes: dict[str, Any]) -> None:
    assert ALONE != endpoint_settings(**changes).key_settings()


def test_one_request_at_a_time_is_another_system_than_several_however_many() -> None:
    one, four, eight = (endpoint_settings(in_flight=count).key_settings() for count in (1, 4, 8))

    assert four == eight != one


def test_the_order_of_what_is_omitted_is_no_difference() -> None:
    omitted = [endpoint_settings(omit=names).key_settings() for names in (["seed", "top_k"], ["top_k", "seed", "seed"])]

    assert omitted[0] == omitted[1]


def test_the_engine_decides_which_settings_there_are() -> None:
    assert endpoint_settings() == read_settings(ENDPOINT, where="here")
    assert read_settings(SETTINGS, where="here").engine == "llama.cpp"
    with pytest.raises(SettingsError, match=r"^here: unknown setting 'url'"):
        read_settings({**SETTINGS, "url": ENDPOINT["url"]}, where="here")


@pytest.mark.parametrize("name", ["vllm", None, ["openai"], 1])
def test_an_unknown_engine_is_refused_with_all_that_there_are(name: Any) -> None:
    with pytest.raises(SettingsError, match=r"^here: engine must be one of llama\.cpp, scripted, openai, not "):
        read_settings({**ENDPOINT, "engine": name}, where="here")


def test_a_model_file_belongs_to_an_engine_that_reads_one(tmp_path: Any) -> None:
    local = read_settings(SETTINGS, where="here")
    for act in (open_engine, engine_identity):
        with pytest.raises(SettingsError, match="takes no model file"):
            act(endpoint_settings(), tmp_path / "model.gguf", "digest")
        with pytest.raises(SettingsError, match=r"engine llama\.cpp needs a model"):
            act(local, None, None)
