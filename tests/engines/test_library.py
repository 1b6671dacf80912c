"""What a study is computed on: the declared device, all of it, or an error; and what the record tells of it."""

import json
from pathlib import Path

import pytest

from fixtures_gguf import settings
from samequantity.engines.llama.library import Device, backend_devices, device_memory, devices, nvidia_driver
from samequantity.engines.llama.loading import enough_layers, offloaded_layers
from samequantity.engines.llama.settings import ALL_LAYERS
from samequantity.engines.opening import open_engine
from samequantity.errors import ModelError

pytestmark = pytest.mark.usefixtures("read_here")

CPU = Device(registry="CPU", name="CPU", description="a processor", handle=1)
GPU = Device(registry="CUDA", name="CUDA0", description="an accelerator", handle=2)


def test_a_declared_gpu_is_used_and_a_declared_cpu_leaves_it_alone() -> None:
    assert backend_devices("cuda", [CPU, GPU], offload=True) == [GPU]
    assert backend_devices("cpu", [CPU, GPU], offload=True) == []


@pytest.mark.parametrize(
    ("offload", "found", "cure"),
    [
        (False, [CPU], r"Rebuild it with the options of this project: bash envs/llama-cpp\.sh -DGGML_CUDA=on"),
        (True, [CPU], "check the driver"),
        (True, [], "found: none"),
    ],
)
def test_a_declared_gpu_that_is_not_there_is_an_error(offload: bool, found: list[Device], cure: str) -> None:
    with pytest.raises(ModelError, match=f"declare the backend cuda.*{cure}"):
        backend_devices("cuda", found, offload=offload)


@pytest.mark.parametrize("offload", [False, True])
def test_who_has_no_settings_is_told_of_none(offload: bool) -> None:
    with pytest.raises(ModelError, match=r"^--require asks for cuda, but") as caught:
        backend_devices("cuda", [CPU], offload=offload, wanted="--require asks for")

    assert "settings" not in str(caught.value)
    assert "gpu_layers" not in str(caught.value)


def test_the_declared_gpu_is_missed_before_the_model_is_even_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samequantity.engines.llama.engine.devices", lambda: [CPU])

    with pytest.raises(ModelError, match="declare the backend cuda"):
        open_engine(settings(backend="cuda", gpu_layers=-1), tmp_path / "nowhere.gguf", "digest")


def test_the_library_names_the_processor_among_its_devices() -> None:
    (processor,) = (device for device in devices() if device.name == "CPU")

    assert processor.registry == "CPU"
    assert 2**28 < device_memory(processor) < 2**50


@pytest.mark.parametrize(
    ("script", "expected"),
    [("echo 570.86.10; echo 570.86.10", "570.86.10"), ("exit 9", None), ("echo", None), (None, None)],
)
def test_the_driver_is_what_nvidias_own_program_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, expected: str | None
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if script is not None:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    assert expected == nvidia_driver()


@pytest.mark.parametrize(
    ("log", "layers", "enough"),
    [
        ("load_tensors: offloaded 29/29 layers to GPU\n", ALL_LAYERS, True),
        ("load_tensors: offloaded 20/29 layers to GPU\n", ALL_LAYERS, False),
        ("load_tensors: offloaded 20/29 layers to GPU\n", 20, True),
        ("load_tensors: offloaded 20/29 layers to GPU\n", 21, False),
        ("load_tensors: offloaded 29/29 layers to GPU\n", 99, True),
        ("load_tensors: offloaded 0/29 layers to GPU\n", ALL_LAYERS, False),
        ("", 1, False),
    ],
)
def test_the_layers_that_are_asked_for_must_be_on_the_gpu(log: str, layers: int, enough: bool) -> None:
    assert enough is enough_layers(offloaded_layers(log), layers)


@pytest.mark.parametrize("told", ["20/29", None])
def test_a_model_that_is_only_partly_on_the_declared_gpu_is_an_error(
    scripted_model: Path, monkeypatch: pytest.MonkeyPatch, told: str | None
) -> None:
    """The processor plays the GPU, and the log's sentence is given, since no test has a GPU."""
    monkeypatch.setattr("samequantity.engines.llama.engine.backend_devices", lambda *_, **__: [])
    monkeypatch.setattr("samequantity.engines.llama.loading.offloaded_layers", lambda _: told)

    with pytest.raises(ModelError, match=f"put {told or 'none'} of the layers on the declared backend cuda"):
        open_engine(settings(backend="cuda", gpu_layers=-1), scripted_model, "digest")


def test_the_record_of_a_run_tells_what_it_ran_on(scripted_model: Path) -> None:
    with open_engine(settings(context=300, batch=48, ubatch=16), scripted_model, "digest") as engine:
        host = engine.host_facts()

    assert host["threads"] == 1
    # llama.cpp rounds a context up, and says so.
    sizes = {"context": 512, "batch": 48, "ubatch": 16}
    assert {**sizes, "kv_type": "f16", "flash_attention": False} == host["in_use"]
    assert (None, [], []) == (host["driver"], host["devices"], host["device_memory_mib"]), "nothing but the processor"
    assert json.loads(json.dumps(host)) == host
