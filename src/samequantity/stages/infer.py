"""Stage infer: a model is asked every view, and nothing twice; views in, responses out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from samequantity.domain.exchange import Completion, Request, Sampling, request_digest
from samequantity.errors import TableError

ORDER = "order"
"""The column of a view's position among all views of the study, the same in every shard."""

RESPONSES_SCHEMA = pl.Schema(
    {
        "system": pl.String,
        "view_id": pl.String,
        "order": pl.Int64,
        "prompt_sha256": pl.String,
        "text": pl.String,
        "reasoning": pl.String,
        "raw": pl.String,
        "finish_reason": pl.String,
        "raw_finish_reason": pl.String,
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
    }
)

TELEMETRY_SCHEMA = pl.Schema(
    {
        "view_id": pl.String,
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
        "seconds": pl.Float64,
        "asked": pl.Boolean,
    }
)


class Answerer(Protocol):
    """What this stage needs of an engine."""

    def identity(self) -> Mapping[str, object]:
        """JSON-able facts that decide an answer."""
        ...

    def prepare(self, request: Request) -> str:
        """SHA-256 of the rendered prompt; raises when the request cannot be asked."""
        ...

    def complete(self, request: Request) -> Completion:
        """The answer."""
        ...


class Memory(Protocol):
    """What this stage needs of a journal: responses by the digest of their request."""

    def find(self, request: str, /) -> Completion | None:
        """The response, if it is known."""
        ...

    def append(self, request: str, response: Completion, /) -> None:
        """Keep a response for good."""
        ...


class Progress(Protocol):
    """What this stage tells whoever watches."""

    def start(self, *, total: int, known: int) -> None:
        """`total` views, of which the journal answers `known`."""
        ...

    def answered(self, completion: Completion) -> None:
        """One more view is answered by the model."""
        ...

    def finish(self) -> None:
        """Nothing more comes, be it that all is done or that something failed."""
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

    def summary(self) -> dict[str, float | int]:
        """Counts, tokens and seconds of the responses that this run asked for; for `run.json`."""
        asked = self.telemetry.filter("asked")
        return {
            "responses": self.telemetry.height,
            "asked": asked.height,
            "from_journal": self.telemetry.height - asked.height,
            "prompt_tokens": int(asked["prompt_tokens"].sum()),
            "completion_tokens": int(asked["completion_tokens"].sum()),
            "seconds": round(float(asked["seconds"].sum()), 3),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    request: Request
    digest: str


def part(views: pl.DataFrame, *, index: int, count: int) -> pl.DataFrame:
    """The views of shard `index` of `count` (0 ≤ index < count), with their position among all views in `order`.

    A shard takes every `count`-th view: templates follow one another in the table and differ in the length of their
    answers, so a contiguous cut would leave one shard with most of the work. Raises ValueError on a wrong index.
    """
    if not 0 <= index < count:
        raise ValueError(f"shard {index} of {count} does not exist")
    return views.with_row_index(ORDER).with_columns(pl.col(ORDER).cast(pl.Int64)).gather_every(count, offset=index)


def infer(
    views: pl.DataFrame, engine: Answerer, journal: Memory, *, system: str, decoding: Decoding, progress: Progress
) -> Inference:
    """Answer every view: from the journal where it is known, else from the engine, in the views' order, one at a time.

    `views` needs view_id and prompt, and `order` if it is a shard (`part`). Every prompt is prepared before the first
    is asked, so that one that cannot be asked costs nothing. Raises TableError when a column is missing or a view
    occurs twice, and what the engine and the journal raise.
    """
    views = _checked(views)
    questions = _questions(views["prompt"].to_list(), engine, decoding)
    answers = [journal.find(question.digest) for question in questions]
    known = [answer is not None for answer in answers]
    progress.start(total=len(questions), known=sum(known))
    try:
        completions = [
            answer if answer is not None else _asked(question, engine, journal, progress)
            for question, answer in zip(questions, answers, strict=True)
        ]
    finally:
        progress.finish()
    return _gathered(views, completions, known, system)


def _checked(views: pl.DataFrame) -> pl.DataFrame:
    if missing := [name for name in ("view_id", "prompt") if name not in views.columns]:
        raise TableError(f"The views table lacks {', '.join(missing)}; it has {', '.join(views.columns)}.")
    if twice := views.filter(views["view_id"].is_duplicated())["view_id"].unique(maintain_order=True).to_list():
        raise TableError(f"{len(twice)} views occur more than once in the views table, for instance {twice[0]}.")
    return views if ORDER in views.columns else part(views, index=0, count=1)


def _questions(prompts: list[str], engine: Answerer, decoding: Decoding) -> list[_Question]:
    identity = engine.identity()
    requests = [
        Request(prompt=prompt, max_tokens=decoding.max_tokens, sampling=decoding.sampling) for prompt in prompts
    ]
    return [
        _Question(
            request=request,
            digest=request_digest(
                request, engine=identity, prompt_sha256=engine.prepare(request), repeat=decoding.repeat
            ),
        )
        for request in requests
    ]


def _asked(question: _Question, engine: Answerer, journal: Memory, progress: Progress) -> Completion:
    # Two views with one prompt are one request: the second finds the first one's answer.
    completion = journal.find(question.digest)
    if completion is None:
        completion = engine.complete(question.request)
        journal.append(question.digest, completion)
    progress.answered(completion)
    return completion


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
        },
        schema=TELEMETRY_SCHEMA,
    )
    return Inference(responses=responses.sort(ORDER), telemetry=telemetry)
