"""Stage infer: a model is asked every view, and nothing twice; views in, responses out."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from samequantity.domain.exchange import Completion, Request, Sampling, request_digest
from samequantity.errors import TableError
from samequantity.stages.asking import Completing, Memory, OpenQuestion, Progress, ask
from samequantity.stages.responses import ORDER, RESPONSES_SCHEMA, numbered

TELEMETRY_SCHEMA = pl.Schema(
    {
        "view_id": pl.String,
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
        "seconds": pl.Float64,
        "asked": pl.Boolean,
        "system_fingerprint": pl.String,
    }
)


class Answerer(Completing, Protocol):
    """What this stage needs of an engine."""

    def identity(self) -> Mapping[str, object]:
        """JSON-able facts that decide an answer."""
        ...

    def prepare(self, request: Request) -> str:
        """SHA-256 of the rendered prompt; raises when the request cannot be asked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How every view is asked, and which repetition of the study this is (0 for the first)."""

    max_tokens: int
    sampling: Sampling
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """The responses table, which is hashed, and the telemetry, which never is: one row a view each, in `order`."""

    responses: pl.DataFrame
    telemetry: pl.DataFrame

    def summary(self) -> dict[str, Any]:
        """Counts, tokens and seconds of the responses that this run asked for; for `run.json`.

        `system_fingerprints` counts what the server called itself in all responses, those of earlier runs included:
        more than one, and a model was changed while it was asked.
        """
        asked = self.telemetry.filter("asked")
        return {
            "responses": self.telemetry.height,
            "asked": asked.height,
            "from_journal": self.telemetry.height - asked.height,
            "prompt_tokens": int(asked["prompt_tokens"].sum()),
            "completion_tokens": int(asked["completion_tokens"].sum()),
            "seconds": round(float(asked["seconds"].sum()), 3),
            "system_fingerprints": dict(sorted(Counter(filter(None, self.telemetry["system_fingerprint"])).items())),
        }


def infer(
    views: pl.DataFrame, engine: Answerer, journal: Memory, *, system: str, decoding: Decoding, progress: Progress
) -> Inference:
    """Answer every view: from the journal where it is known, else from the engine, in the views' order.

    As many are asked at once as the engine says (`in_flight`); a prompt that several views share is asked once.
    `views` needs view_id and prompt, and `order` if it is a shard (`responses.part`). Every prompt is prepared before
    the first is asked, so that one that cannot be asked costs nothing. Raises TableError when a column is missing or a
    view occurs twice, and what the engine and the journal raise.
    """
    views = _checked(views)
    requests = [
        Request(prompt=prompt, max_tokens=decoding.max_tokens, sampling=decoding.sampling) for prompt in views["prompt"]
    ]
    digests = _digests(requests, engine, decoding.repeat)
    known = {digest: answer for digest in set(digests) if (answer := journal.find(digest)) is not None}
    sharing = Counter(digests)
    open_questions = [
        OpenQuestion(request=request, digest=digest, views=sharing[digest])
        for digest, request in dict(zip(digests, requests, strict=True)).items()
        if digest not in known
    ]
    progress.start(total=len(digests), known=sum(sharing[digest] for digest in known))
    try:
        answers = known | ask(open_questions, engine, journal, progress)
    finally:
        progress.finish()
    return _gathered(views, [answers[digest] for digest in digests], [digest in known for digest in digests], system)


def _checked(views: pl.DataFrame) -> pl.DataFrame:
    if missing := [name for name in ("view_id", "prompt") if name not in views.columns]:
        raise TableError(f"The views table lacks {', '.join(missing)}; it has {', '.join(views.columns)}.")
    if twice := views.filter(views["view_id"].is_duplicated())["view_id"].unique(maintain_order=True).to_list():
        raise TableError(f"{len(twice)} views occur more than once in the views table, for instance {twice[0]}.")
    return numbered(views)


def _digests(requests: list[Request], engine: Answerer, repeat: int) -> list[str]:
    identity = engine.identity()
    return [
        request_digest(request, engine=identity, prompt_sha256=engine.prepare(request), repeat=repeat)
        for request in requests
    ]


def _gathered(views: pl.DataFrame, completions: list[Completion], known: list[bool], system: str) -> Inference:
    responses = pl.DataFrame(
        {
            "system": [system] * len(completions),
            "view_id": views["view_id"],
            "order": views[ORDER],
            "prompt_sha256": [completion.prompt_sha256 for completion in completions],
            "text": [completion.text for completion in completions],
            "reasoning": [completion.reasoning for completion in completions],
            "raw": [completion.raw for completion in completions],
            "finish_reason": [completion.finish_reason.value for completion in completions],
            "raw_finish_reason": [completion.raw_finish_reason for completion in completions],
            "prompt_tokens": [completion.prompt_tokens for completion in completions],
            "completion_tokens": [completion.completion_tokens for completion in completions],
        },
        schema=RESPONSES_SCHEMA,
    )
    telemetry = pl.DataFrame(
        {
            "view_id": views["view_id"],
            "prompt_tokens": responses["prompt_tokens"],
            "completion_tokens": responses["completion_tokens"],
            "seconds": [completion.seconds for completion in completions],
            "asked": [not was_known for was_known in known],
            "system_fingerprint": [completion.system_fingerprint for completion in completions],
        },
        schema=TELEMETRY_SCHEMA,
    )
    return Inference(responses=responses.sort(ORDER), telemetry=telemetry)
