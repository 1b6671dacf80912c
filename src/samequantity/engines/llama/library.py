"""The llama.cpp library inside llama-cpp-python: what it is, what it can run on, and its log, which we keep quiet."""

import ctypes
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from samequantity.engines.base import Notice
from samequantity.engines.llama.settings import MAX_THREADS, Backend, LlamaSettings
from samequantity.errors import ModelError

PACKAGE = "llama-cpp-python"

VENDORED_COMMITS = {"0.3.36": "0c1e57098bba"}
"""The llama.cpp commit in the source distribution of each version. The library's own word is kept for others only: a
build inside somebody's git checkout may report that checkout's commit."""

_GPU_REGISTRIES: dict[str, tuple[str, ...]] = {"cuda": ("CUDA",), "metal": ("MTL", "Metal")}

_GPU_BUILDS = {"cuda": "-DGGML_CUDA=on", "metal": "-DGGML_METAL=on"}

LOG_PIECES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Something that llama.cpp can compute on; `handle` is its address inside the library."""

    registry: str
    name: str
    description: str
    handle: int


class Log:
    """llama.cpp's last log lines, kept in memory until something fails."""

    def __init__(self) -> None:
        self._parts: deque[str] = deque(maxlen=LOG_PIECES)

    def take(self, _level: int, text: bytes | None, _data: object) -> None:
        """What llama.cpp calls; a piece of a line or a whole one."""
        if text:
            self._parts.append(text.decode("utf-8", "replace"))

    def clear(self) -> None:
        """Forget what was said so far."""
        self._parts.clear()

    def text(self) -> str:
        """All that is kept."""
        return "".join(self._parts)

    def tail(self, lines: int = 6) -> str:
        """The last lines, for an error message; a note when there are none."""
        kept = [line.strip() for line in self.text().splitlines() if line.strip(" .\t")]
        return "\n".join(f"  llama.cpp: {line}" for line in kept[-lines:]) or "  llama.cpp said nothing"


@cache
def quiet_log() -> Log:
    """Start the library once, with its log going to memory instead of the terminal. To be called before any use."""
    # Threads that spin for long while they wait stand in each other's way as soon as another process wants a core: on
    # two cores with one busy, an answer took more than twice as long with GNU OpenMP's own count. Spinning briefly
    # costs nothing on an idle machine, where not spinning at all made answers a quarter slower. Read at loading.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    import llama_cpp.llama_cpp as lib

    log = Log()
    callback = lib.llama_log_callback(log.take)
    log.callback = callback  # type: ignore[attr-defined] # the library keeps only its address
    lib.llama_log_set(callback, ctypes.c_void_p(0))
    lib.llama_backend_init()
    return log


def library_facts() -> dict[str, object]:
    """Version and llama.cpp commit: two builds may answer differently, so both are in every key."""
    installed = version(PACKAGE)
    return {"llama_cpp_python": installed, "llama_cpp_commit": VENDORED_COMMITS.get(installed) or _own_commit()}


def _own_commit() -> str:
    commit = _function("ggml_commit", ctypes.c_char_p)()
    return (commit or b"unknown").decode().removesuffix("-dirty")


def system_info() -> str:
    """The processor features and backends that the build uses, as llama.cpp words them."""
    import llama_cpp.llama_cpp as lib

    words: bytes = lib.llama_print_system_info()
    return words.decode("utf-8", "replace").strip()


def usable_cores() -> int:
    """The cores that the scheduler lets us use, which on a cluster are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_of(settings: LlamaSettings, notice: Notice) -> int:
    """How many threads compute; one line through `notice` where there are fewer cores, on which they get slower."""
    cores = usable_cores()
    threads = settings.threads or min(cores, MAX_THREADS)
    if threads > cores:
        notice(
            f"{threads} threads on {cores} usable core{'' if cores == 1 else 's'} stand in each other's way. Set"
            f" threads to {cores}, or to null for every core; the answers stay the same."
        )
    return threads


def devices() -> list[Device]:
    """Every device that the build knows and the machine has, processors included."""
    quiet_log()
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    get = _function("ggml_backend_dev_get", pointer, ctypes.c_size_t)
    registry = _function("ggml_backend_dev_backend_reg", pointer, pointer)
    registry_name = _function("ggml_backend_reg_name", text, pointer)
    name = _function("ggml_backend_dev_name", text, pointer)
    description = _function("ggml_backend_dev_description", text, pointer)
    handles = [get(index) for index in range(_function("ggml_backend_dev_count", ctypes.c_size_t)())]
    return [
        Device(
            registry=registry_name(registry(handle)).decode(),
            name=name(handle).decode(),
            description=description(handle).decode("utf-8", "replace"),
            handle=handle,
        )
        for handle in handles
    ]


def device_memory(device: Device) -> int:
    """All the memory of a device, in bytes."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    sizes = (ctypes.POINTER(ctypes.c_size_t),) * 2
    _function("ggml_backend_dev_memory", None, ctypes.c_void_p, *sizes)(
        device.handle, ctypes.byref(free), ctypes.byref(total)
    )
    return total.value


def nvidia_driver() -> str | None:
    """The version of NVIDIA's driver, which llama.cpp does not tell; None where `nvidia-smi` does not either."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    asked = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None  # what a run is told apart by, not what it needs
    return next((line.strip() for line in told.splitlines() if line.strip()), None)


DECLARED = "The settings declare the backend"
_ANOTHER_STUDY = "; or set backend: cpu and gpu_layers: 0 (another study: answers differ)"


def backend_devices(
    backend: Backend, found: Sequence[Device], *, offload: bool, wanted: str = DECLARED
) -> list[Device]:
    """The devices that a declared backend computes on besides the processor; none for cpu.

    `offload` says whether the build can use a GPU at all, `wanted` who asks for the backend. Raises ModelError when the
    build or the machine cannot give what is declared: a study declared for a GPU never falls back to the CPU, whose
    answers differ.
    """
    if backend == "cpu":
        return []
    usable = [device for device in found if device.registry.upper().startswith(_upper(_GPU_REGISTRIES[backend]))]
    if usable:
        return usable
    # Whoever only looks has no settings to change.
    other = _ANOTHER_STUDY if wanted == DECLARED else ""
    if not offload:
        raise ModelError(
            f"{wanted} {backend}, but this build of {PACKAGE} {version(PACKAGE)} has no GPU support. Rebuild it"
            f" with the options of this project: bash envs/llama-cpp.sh {_GPU_BUILDS[backend]}{other}."
        )
    seen = ", ".join(f"{device.name} ({device.description})" for device in found) or "none"
    raise ModelError(
        f"{wanted} {backend}, but no such device is here; found: {seen}. Run on a machine with one (check the driver"
        f" and the visible devices){other}."
    )


def _upper(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.upper() for name in names)


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A ggml function that llama-cpp-python does not declare, from the libraries that it has loaded."""
    import llama_cpp._ggml as ggml
    import llama_cpp.llama_cpp as lib

    # ggml is one library or several, by platform; the symbols are found through whichever depends on them.
    for library in (ggml.libggml, lib._lib):  # noqa: SLF001 - it offers its library nowhere else
        function = getattr(library, name, None)
        if function is not None:
            function.restype, function.argtypes = result, list(arguments)
            return function  # type: ignore[no-any-return]
    raise ModelError(f"{PACKAGE} {version(PACKAGE)} lacks {name}. Install the version in requirements.lock.")
