"""Connections to one server: certificates, time limits, and a proxy only where there is to be one."""

import ipaddress
import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from samequantity.engines.endpoint.settings import EndpointSettings
from samequantity.errors import ModelError

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import Client

CONNECT_SECONDS = 30.0

NO_PROXY = (
    "Set HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, whichever is set, to an address such as http://HOST:PORT (SOCKS is not"
    " spoken), or unset them, or name the server's host in NO_PROXY."
)
"""The cure for a proxy that is of no use. No message repeats the proxy's address: it may hold a password."""


def open_connections(settings: EndpointSettings, headers: dict[str, str]) -> "Client":
    """Connections that send `headers` with each request. ModelError when the environment's proxy is of no use."""
    from httpx2 import URL, Client, InvalidURL, Limits, Timeout

    try:
        URL(settings.url)
    except InvalidURL as error:  # a host that is no name under the rules for international ones
        raise ModelError(f"{settings.url}: no host can have this name. Correct url.") from error
    try:
        return Client(
            headers=headers,
            verify=_certificates(),
            timeout=Timeout(settings.timeout, connect=min(settings.timeout, CONNECT_SECONDS)),
            limits=Limits(max_connections=settings.in_flight),
            # The key would go along, to wherever the server says.
            follow_redirects=False,
            trust_env=not _is_direct(urlsplit(settings.url).hostname or ""),
        )
    except (ImportError, InvalidURL, ValueError) as error:  # ImportError: SOCKS, which needs a further package
        raise unusable_proxy(settings) from error


def unusable_proxy(settings: EndpointSettings) -> ModelError:
    """The error for a proxy of the environment through which nothing can be asked."""
    return ModelError(f"{settings.url}: the proxy that the environment names cannot be used. {NO_PROXY}")


def _is_direct(host: str) -> bool:
    """Whether no proxy stands between us and the host: it is this machine, or NO_PROXY names it."""
    # A proxy would look for "this machine" on its own side. 127.0.0.1 is also written 127.1 and 2130706433.
    if host == "localhost" or host.endswith(".localhost") or re.fullmatch(r"127(\.[0-9]{1,8}){1,3}", host):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(proxy_bypass(host))
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or bool(mapped and mapped.is_loopback) or bool(proxy_bypass(host))


@cache
def _certificates() -> "SSLContext":
    """The certificates that are trusted, read once a process: that takes longer than many a request."""
    from httpx2 import create_ssl_context

    return create_ssl_context()
