"""A server with OpenAI's chat interface: llama-server, vLLM or a hosted model, whoever renders the prompt there."""

import hashlib
from dataclasses import asdict
from typing import Any

from samequantity.domain.exchange import Completion, Request
from samequantity.engines.base import Closing, Facts, Notice, tell
from samequantity.engines.endpoint.client import Client, RefusalError
from samequantity.engines.endpoint.replies import completion_of, entry_of, models_of
from samequantity.engines.endpoint.settings import EndpointSettings
from samequantity.engines.endpoint.waiting import Patience
from samequantity.engines.endpoint.words import shown_names
from samequantity.errors import ModelError

CHAT, MODELS = "/chat/completions", "/models"

_NO_LISTING = frozenset({404, 405, 501})


class EndpointEngine(Closing):
    """One model of one server. The prompt is sent as one user message; the server's chat template renders it."""

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        patience: Patience | None = None,
        notice: Notice = tell,
    ) -> None:
        """Read the key and ask the server for its models.

        Raises ModelError when the key is missing, when the server does not answer, and when it lists other models
        only. A server that has no listing is taken as it is, with one line through `notice`.
        """
        self._settings = settings
        self._client = Client(settings, patience or Patience())
        self._listed: list[str] = []
        try:
            self._entry = self._look_up(notice)
        except BaseException:
            self._client.close()
            raise

    @property
    def in_flight(self) -> int:
        """See `Engine`."""
        return self._settings.in_flight

    def identity(self) -> Facts:
        """See `Engine`. `listed` is what the server says of the model, None when it lists nothing."""
        return {**self._settings.engine_facts(), "listed": self._entry}

    def host_facts(self) -> Facts:
        """See `Engine`. What the server calls the model and its set-up stands in each completion."""
        return {"url": self._settings.url, "in_flight": self._settings.in_flight}

    def prepare(self, request: Request) -> str:
        """See `Engine`: of the message as sent, since the prompt that the server makes of it is not shown.

        Whether prompt and answer fit is the server's to say, too.
        """
        return hashlib.sha256(request.prompt.encode("utf-8", "surrogatepass")).hexdigest()

    def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        form, prompt_sha256 = self._settings.reasoning_format, self.prepare(request)

        def read(response: Any, seconds: float) -> Completion:
            return completion_of(response, prompt_sha256=prompt_sha256, form=form, seconds=seconds)

        try:
            return self._client.ask(CHAT, self._body(request), read)
        except RefusalError as error:
            raise self._explained(error) from error

    def interrupt(self) -> None:
        """Ask nothing again: what waits for its next attempt fails with a ModelError now, what is in flight goes on.

        For good, and from any thread.
        """
        self._client.interrupt()

    def close(self) -> None:
        """See `Engine`."""
        self._client.close()

    def _look_up(self, notice: Notice) -> Facts | None:
        """What the server lists of the model; None when it has no listing."""
        try:
            models = self._client.ask(MODELS, None, lambda listing, _: models_of(listing))
        except RefusalError as error:
            if error.status not in _NO_LISTING:
                raise self._explained(error) from error
            models = []
        if not models:
            notice(f"{self._settings.url}: lists no models; that it serves {self._settings.model} is taken on trust.")
            return None
        self._listed = [self._client.key.hidden(str(model["id"])) for model in models]
        entry = entry_of(models, self._settings.model)
        if entry is None:
            raise ModelError(
                f"{self._settings.url}: does not serve {self._settings.model}. Set model to one that it lists:"
                f" {shown_names(self._listed)}"
            )
        return entry

    def _body(self, request: Request) -> dict[str, Any]:
        sampling = {name: value for name, value in asdict(request.sampling).items() if name not in self._settings.omit}
        return {
            **self._settings.body(),
            "messages": [{"role": "user", "content": request.prompt}],
            self._settings.token_cap: request.max_tokens,
            **sampling,
        }

    def _explained(self, error: RefusalError) -> ModelError:
        """The one message for a refusal: what the server says, and the cure.

        Not what it says of a key: many a server repeats that, and in which form is not to be foreseen.
        """
        settings = self._settings
        if error.status in (401, 403):
            if settings.api_key is None:
                cure = "Put a key into an environment variable and set api_key to the NAME of that variable."
            else:
                cure = f"Set the environment variable {settings.api_key} to a key that may use {settings.model}."
            return ModelError(f"{settings.url}: status {error.status}. {cure}")
        said = f"{settings.url}: status {error.status}, {error.said}\n"
        if error.status in (404, 405):
            listed = f" It lists: {shown_names(self._listed)}." if self._listed else ""
            cure = f"Correct url, which ends where the interface begins, mostly with /v1, or model.{listed}"
        elif 300 <= error.status < 400:
            cure = "A redirect is not followed, since the key would go along. Set url to the final address."
        else:
            cure = (
                "If it does not take a field, name that in omit, or change token_cap or extra; if prompt and answer"
                " are too long, lower max_tokens or start the server with more context."
            )
        return ModelError(said + cure)
