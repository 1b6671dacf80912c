"""From a user's message to the tokens that the model sees: template rendered, prompt checked, text cut."""

from pathlib import Path

from samequantity.engines.llama.chat import ChatTemplate
from samequantity.engines.llama.probe import ModelFacts
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.llama.vocabulary import Rendered, Vocabulary
from samequantity.errors import ModelError


class Prompts:
    """Makes the prompts of one model, whatever they are for: to be answered, or to be looked at."""

    def __init__(self, settings: LlamaSettings, facts: ModelFacts, model: Path) -> None:
        """Try the template out; see `template_of` for what raises ModelError."""
        self.template = template_of(settings, facts, model)
        self._render = self.template.compiled()
        self._holds = settings.prompt_holds
        self._path = model

    def prompt(self, message: str, vocabulary: Vocabulary) -> Rendered:
        """The prompt that asks one user message.

        ModelError when the template refuses the message, and when the prompt lacks it or another text that it must
        hold.
        """
        text = self._render(message)
        self.template.refuse_without(message, text)
        for held in self._holds:
            if held not in text:
                raise ModelError(
                    f"{self._path}: the rendered prompt lacks {held!r}, which prompt_holds demands. Correct"
                    f" template_kwargs or chat_template, or prompt_holds. The prompt ends: {text[-160:]!r}"
                )
        return vocabulary.rendered(text)


def template_of(settings: LlamaSettings, facts: ModelFacts, model: Path) -> ChatTemplate:
    """The template in force, tried out.

    ModelError when neither the model nor the settings have one, as llama.cpp would guess; when it cannot be rendered;
    when one of `template_kwargs` has no effect on it.
    """
    text = settings.chat_template if settings.chat_template is not None else facts.chat_template
    if text is None:
        raise ModelError(
            f"{model}: the file has no chat template. Set chat_template to the one that the model's authors publish."
        )
    template = ChatTemplate(
        text=text,
        bos_token=facts.bos_token,
        eos_token=facts.eos_token,
        kwargs=settings.template_kwargs,
        date=settings.strftime_now,
    )
    try:
        template.check()
    except ModelError as error:
        raise ModelError(f"{model}: {error}") from error
    return template
