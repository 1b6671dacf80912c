"""What the engine of servers is told: where one answers, what is asked of it, and how patiently."""

import ipaddress
import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from samequantity.engines.endpoint.secrecy import secret_in
from samequantity.engines.settings import DECODING, DecodingSettings, ReasoningFormat
from samequantity.engines.settings_reading import UNSHOWN
from samequantity.errors import SettingsError

TokenCap = Literal["max_tokens", "max_completion_tokens"]

ENDPOINT_REVISION = 1
"""As `ENGINE_REVISION` of llama.cpp: raised when a change of our own code changes what a server answers."""

OMITTABLE = ("temperature", "top_p", "top_k", "seed")
"""The fields of a request that some servers refuse."""

_OURS = frozenset({"messages", "model", "stream", "n", "max_tokens", "max_completion_tokens", *OMITTABLE})
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
_HOST = re.compile(r"[a-z0-9_.-]{1,254}", re.ASCII)

LONGEST = 86_400.0
"""Seconds: nobody waits longer than a day for one answer, and a system's own clock has bounds."""

MOST_IN_FLIGHT = 1024
"""Each has a thread of its own."""

_NO_ANSWER = frozenset({"url", "api_key", "in_flight", "timeout", "attempts"})
"""The settings that are in no key.

Not `url`: a server moves from port to port and from node to node with every job and stays the same. What answers there
is told by `model` and by the server's own listing, which is in the key. Another provider of the same model is another
system and gets a name of its own; its journal and its results are apart then.

Not `in_flight` as a number: a server computes requests that wait together in one batch, which may change a greedy
answer, so one at a time is another system than several. How many of several meet in a batch is chance, so their number
promises nothing: the key holds `one_at_a_time`, and going from 4 to 8 asks nothing again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings(DecodingSettings):
    """Everything that a server with OpenAI's chat interface is asked, and how.

    Samplers that are not here are the server's: `extra` turns them off where it has some, as min-p of llama-server.
    """

    engine: Literal["openai"]
    url: str = field(metadata={UNSHOWN: True})
    """Where the interface begins, `/v1` included; never with a user, a password, a query or a fragment."""
    model: str
    """As the server calls it."""
    api_key: str | None = field(metadata={UNSHOWN: True})
    """NAME of the environment variable that holds the key, never the key; None for a server without one."""
    in_flight: int
    """Requests that wait for their answers at once."""
    timeout: float
    """Seconds for one answer."""
    attempts: int
    """How often one answer is asked for, the first time included."""
    token_cap: TokenCap
    """What the server calls the cap of an answer."""
    omit: tuple[str, ...]
    """Those of `OMITTABLE` that are not sent."""
    extra: dict[str, Any] = field(metadata={UNSHOWN: True})
    """Further fields of each request, such as `{"chat_template_kwargs": {"enable_thinking": False}}`."""
    reasoning_format: ReasoningFormat
    """How the model marks what it thinks aloud, where the server does not keep it apart itself."""

    def __post_init__(self) -> None:
        DecodingSettings.__post_init__(self)
        self._check_place()
        for name in ("in_flight", "attempts"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be positive, not {getattr(self, name)}")
        if self.in_flight > MOST_IN_FLIGHT:
            raise SettingsError(f"in_flight must be at most {MOST_IN_FLIGHT}, not {self.in_flight}")
        if not 0 < self.timeout <= LONGEST:
            raise SettingsError(
                f"timeout must be a positive number of seconds, at most {LONGEST:.0f} (a day), not {self.timeout}"
            )
        if unknown := sorted(set(self.omit) - set(OMITTABLE)):
            raise SettingsError(f"omit may name {', '.join(OMITTABLE)}, not {', '.join(unknown)}")
        self._check_extra()

    def _check_place(self) -> None:
        """No message repeats the address or the key: a careless one holds what nobody else should read."""
        try:
            parts = urlsplit(self.url)
            sound = _is_host(parts.hostname or "") and (parts.port is None or parts.port > 0)
        except ValueError:  # a port that is no number, half a bracket, a name that no host can have
            sound = False
        if not sound or parts.scheme not in ("http", "https") or not self.url.isprintable() or " " in self.url:
            raise SettingsError("url must be an address such as http://127.0.0.1:8080/v1 (http or https)")
        if parts.username is not None or parts.password is not None:
            raise SettingsError("url must not hold a user or a password. Put the key into an environment variable")
        if "?" in self.url or "#" in self.url:
            raise SettingsError("url must end where the interface begins, without a query (?) or a fragment (#)")
        if not self.model.strip() or not self.model.isprintable():
            raise SettingsError("model must be the name that the server lists")
        if self.api_key is not None and not _VARIABLE.fullmatch(self.api_key):
            raise SettingsError(
                "api_key must be the NAME of an environment variable, such as OPENAI_API_KEY (A-Z, 0-9 and _), not the"
                " key itself. If a key stands there, take it out and have it replaced: files and logs are copied about"
            )

    def _check_extra(self) -> None:
        if taken := sorted(_OURS & self.extra.keys()):
            raise SettingsError(f"extra must not set {', '.join(taken)}: settings of their own do, or the engine does")
        try:
            # In UTF-8, as the stage key needs it: half of a surrogate pair would pass as an escape.
            json.dumps(self.extra, sort_keys=True, allow_nan=False, ensure_ascii=False).encode()
            secret = secret_in(self.extra)
        except (TypeError, ValueError, RecursionError) as error:
            # The error of a text that cannot be encoded is about a place in it; no other holds a value either.
            raise SettingsError(f"extra must be what JSON can hold: {error}") from error
        if secret is not None:
            raise SettingsError(
                f"extra must not hold a key or a password, and holds {secret}. Take it out: settings are copied into"
                " every record. A server's key goes into an environment variable, whose NAME is api_key's"
            )

    def body(self) -> dict[str, Any]:
        """The fields of every request but message, cap and sampling."""
        return {"model": self.model, "stream": False, **self.extra}

    def key_settings(self) -> dict[str, Any]:
        """What enters the stage key: what decides an answer (`_NO_ANSWER` says why the rest does not)."""
        settings = {name: value for name, value in asdict(self).items() if name not in _NO_ANSWER}
        return settings | {
            "omit": sorted(set(self.omit)),
            "reasoning_format": self.reasoning_format.value,
            "one_at_a_time": self.in_flight == 1,
        }

    def engine_facts(self) -> dict[str, Any]:
        """The part of the key that an engine's identity holds: not the sampling, which each request brings along."""
        facts = {name: value for name, value in self.key_settings().items() if name not in DECODING}
        return {"engine_revision": ENDPOINT_REVISION, **facts}


def _is_host(host: str) -> bool:
    """Whether it is an address or a name that can be looked up. ValueError for labels that are empty or too long."""
    if ":" in host:
        return bool(ipaddress.IPv6Address(host))
    return _HOST.fullmatch(host.encode("idna").decode()) is not None
