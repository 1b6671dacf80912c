"""Reads what a server with OpenAI's chat interface sends: a chat completion, and its list of models. Pure functions."""

import json
from typing import Any

from samequantity.domain.exchange import Completion, finish_reason
from samequantity.engines.base import Facts
from samequantity.engines.channels import Channels, split
from samequantity.engines.endpoint.client import NoAnswerError
from samequantity.engines.settings import ReasoningFormat

_STABLE = ("id", "owned_by", "root", "parent", "max_model_len")
_STABLE_META = ("vocab_type", "n_vocab", "n_ctx", "n_ctx_train", "n_embd", "n_params", "size", "ftype")
"""What llama-server adds. Of both nothing that changes at each start, as `created` and the permissions do."""

_REASONING = ("reasoning_content", "reasoning")
"""What servers call what they kept apart from the answer."""

_LARGEST = 2**63 - 1


def completion_of(response: Any, *, prompt_sha256: str, form: ReasoningFormat, seconds: float) -> Completion:
    """The first choice of a chat completion; NoAnswerError when there is none.

    A message without content is an empty answer, and one whose finish reason is null ended for reason "null".
    """
    match response:
        case {"choices": [{"message": dict(message)} as choice, *_]}:
            channels = _channels(message, form)
        case _:
            raise NoAnswerError("it has no choices[0].message")
    reason = choice.get("finish_reason")
    usage = response.get("usage")
    fingerprint = response.get("system_fingerprint")
    return Completion(
        text=channels.text,
        reasoning=channels.reasoning,
        raw=json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        finish_reason=finish_reason(reason if isinstance(reason, str) else None),
        raw_finish_reason=reason if isinstance(reason, str) else json.dumps(reason),
        prompt_sha256=prompt_sha256,
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        seconds=seconds,
        system_fingerprint=fingerprint if isinstance(fingerprint, str) else "",
    )


def _channels(message: dict[str, Any], form: ReasoningFormat) -> Channels:
    """Reasoning and answer as the server keeps them apart, else as the marks of `form` do."""
    text = message.get("content")
    if text is None:
        text = ""
    elif not isinstance(text, str):
        raise NoAnswerError("the content of its message is no text")
    for name in _REASONING:
        if isinstance(apart := message.get(name), str) and apart:
            return Channels(text=text, reasoning=apart)
    return split(text, form)


def _count(usage: Any, name: str) -> int | None:
    """Tokens as the server counts them; None rather than a number of our own when it does not."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= _LARGEST else None


def models_of(listing: Any) -> list[dict[str, Any]]:
    """The models of a listing; NoAnswerError when it is none."""
    match listing:
        case {"data": list(models)} if all(isinstance(model, dict) and "id" in model for model in models):
            return models
    raise NoAnswerError("it lists no models")


def entry_of(models: list[dict[str, Any]], name: str) -> Facts | None:
    """What a listing says of one model that stays the same from start to start; None when it does not have it."""
    for model in models:
        aliases = model.get("aliases")
        if model["id"] == name or (isinstance(aliases, list) and name in aliases):
            entry: Facts = {key: model[key] for key in _STABLE if key in model}
            if isinstance(meta := model.get("meta"), dict):
                entry["meta"] = {key: meta[key] for key in _STABLE_META if key in meta}
            return entry
    return None
