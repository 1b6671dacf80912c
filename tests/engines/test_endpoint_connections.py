"""A proxy is used where there is to be one, and one that cannot be used is told in plain words without its address."""

from typing import Any

import pytest

from fake_endpoint import FakeEndpoint, answer, at_once, endpoint_settings, server
from samequantity.engines.endpoint import connections
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.errors import ModelError

__all__ = ["server"]

UNUSABLE = [
    "socks5://user:PASSWORD@127.0.0.1:9",
    "socks4://127.0.0.1:9",
    "ftp://user:PASSWORD@example.org",
    "http://[::1",
    "://",
    "http://ü.PASSWORD..y:1",
    "http://PASSWORD..b:80",
    f"http://{'a' * 64}:1",
]
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, "NO_PROXY", "no_proxy", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)


def failure(url: str) -> str:
    with pytest.raises(ModelError) as failed:
        EndpointEngine(endpoint_settings(url, attempts=1, timeout=1), patience=at_once())
    return str(failed.value)


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", *UNUSABLE])
def test_no_proxy_is_asked_for_a_server_on_this_machine(
    server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for name in PROXIES:
        monkeypatch.setenv(name, proxy)

    assert answer(server).text == "FINAL: 6.25 liters"


@pytest.mark.parametrize("proxy", UNUSABLE)
def test_a_proxy_that_cannot_be_used_is_named_by_its_variables_alone(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    message = failure("http://server.example.org/v1")

    assert "the proxy that the environment names cannot be used. Set HTTP_PROXY" in message
    assert "PASSWORD" not in message


@pytest.mark.parametrize(
    ("host", "direct"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("node.localhost", True),
        ("127.0.0.1", True),
        ("127.9.8.7", True),
        ("127.1", True),
        ("[::1]", True),
        ("[::ffff:127.0.0.1]", True),
        ("inside.example.org", True),
        ("node.inside.example.org", True),
        ("10.0.0.7", True),
        ("127.example.org", False),
        ("localhost.example.org", False),
        ("example.org", False),
        ("10.0.0.8", False),
        ("[fe80::1]", False),
    ],
)
def test_this_machine_and_what_no_proxy_names_are_asked_directly(
    monkeypatch: pytest.MonkeyPatch, host: str, direct: bool
) -> None:
    """So that a proxy that cannot be used does no harm there."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "inside.example.org, 10.0.0.7")

    def open_one() -> Any:
        return connections.open_connections(endpoint_settings(f"http://{host}:80/v1"), {})

    if direct:
        open_one().close()
    else:
        with pytest.raises(ModelError, match="the proxy"):
            open_one()


@pytest.mark.parametrize("host", ["①.example.org", "999.1.1.1"])
def test_a_host_that_cannot_be_is_an_error_of_the_address(host: str) -> None:
    assert "Correct url" in failure(f"http://{host}/v1")
