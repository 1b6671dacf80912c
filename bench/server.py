"""The same prompts through llama.cpp in this process and through a llama.cpp server of another build.

Fifty views spread evenly over the shipped benchmark go to the demo's model, with its own settings, on both ways
(tests/llama_server.py). The prompts must have the same token ids; two builds of llama.cpp need not give the same text.
"""

import os
import time
from pathlib import Path

import yaml

import shipped
from fake_endpoint import endpoint_settings
from llama_server import Options, compare, llama_server, report
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.engines.llama.engine import LlamaEngine
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.settings_reading import settings_of
from samequantity.models.pinning.pins import load_pins, pin_of
from samequantity.stages.infer import Decoding
from samequantity.stages.responses import spread

ROOT = Path(__file__).parents[1]
SYSTEM = "qwen2.5-coder-0.5b-q4"
PROMPTS = 50


def main() -> None:
    """Ask both and print what differs; exit status 1 when a prompt has other token ids."""
    system = yaml.safe_load((ROOT / "config/systems.yaml").read_text(encoding="utf-8"))["catalogue"][SYSTEM]
    settings = settings_of(LlamaSettings, system["settings"], where=f"config/systems.yaml, system {SYSTEM}")
    pin = pin_of(load_pins(ROOT / "resources/pinned_models.yaml"), system["model"])
    model = ROOT / "resources/models" / pin.files[0].name
    if not model.is_file():
        raise SystemExit(f"{model}: no such file. Fetch it with: samequantity models fetch {system['model']}")
    chosen = spread(shipped.views(), PROMPTS)
    decoding = Decoding(max_tokens=settings.max_tokens, sampling=settings.sampling())
    started = time.perf_counter()
    with LlamaEngine(settings, model, "not hashed here") as local:
        options = Options(
            model=str(model),
            alias=SYSTEM,
            context=settings.context,
            batch=settings.batch,
            ubatch=settings.ubatch,
            threads=len(os.sched_getaffinity(0)),
        )
        with llama_server(options) as address:
            asked = endpoint_settings(
                f"{address}/v1",
                model=SYSTEM,
                timeout=600,
                extra={"cache_prompt": False},
                **{name: getattr(settings, name) for name in ("max_tokens", "temperature", "top_k", "top_p", "seed")},
            )
            with EndpointEngine(asked) as server:
                pairs = compare(chosen, local, server, address, decoding)
    print(f"{SYSTEM}, {PROMPTS} prompts on both ways in {time.perf_counter() - started:.0f} s")
    print(report(pairs))
    if not all(pair.same_tokens for pair in pairs):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
