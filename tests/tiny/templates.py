"""Small chat templates in the style of each architecture's own, with its controls. Written for these tests."""

from tiny.vocabulary import Architecture

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

THINKING = (
    CHATML + "{% if add_generation_prompt %}{{ '<think>\n' if enable_thinking is not defined or enable_thinking"
    " else '<think>\n\n</think>\n\n' }}{% endif %}"
)

HARMONY = (
    "<|start|>system<|message|>Current date: {{ strftime_now('%Y-%m-%d') }}\n\n"
    "Reasoning: {{ reasoning_effort | default('medium') }}<|end|>"
    "{% for message in messages %}<|start|>{{ message['role'] }}<|message|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)

INSTRUCTIONS = (
    "{{ bos_token }}[MODEL_SETTINGS]{{ {'reasoning_effort': reasoning_effort | default('none')} | tojson }}"
    "[/MODEL_SETTINGS]{% for message in messages %}[INST]{{ message['content'] }}[/INST]{% endfor %}"
)

TEMPLATES: dict[Architecture, str] = {
    "llama": CHATML,
    "qwen2": CHATML,
    "qwen35": THINKING,
    "gpt-oss": HARMONY,
    "mistral4": INSTRUCTIONS,
}
