"""The page `runtime.md`: what each system ran on, and where that differs from the paper's runtime.

It holds facts of machines and times, so it has no manifest and no digest: the tables beside it are the same wherever
they were made, this page is not.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

PAPER_COMMIT, PAPER_BUILD = "c0bc8591e", "b10107"
PAPER_BACKEND, PAPER_DEVICE = "cuda", "H100"
"""The paper's runtime: llama.cpp build b10107 (commit c0bc8591e), CUDA, NVIDIA H100 80 GB (PROTOCOL, section 7)."""

_SIZES = ("context", "batch", "ubatch")
"""What llama.cpp may round of what it is told."""

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the page reads of the record of a run.

    `host` is what the engine said of its machine, None where no engine was opened; `devices` are those among it. The
    counts are of the responses that the run asked for, 0 where it asked nothing, as one that found all in the store.
    `fingerprints` are the names that a server gave to what answered.
    """

    host: Facts | None
    devices: Sequence[str]
    asked: int
    seconds: float
    completion_tokens: int
    fingerprints: Sequence[str]

    @classmethod
    def read(cls, record: object) -> Self:
        """The run of a record as JSON has it; ValueError, with the field, when it is no such record."""
        if not isinstance(record, dict):
            raise ValueError("it is no object")
        host = _object(record, "engine")
        counts = _object(record, "inference") or {}
        devices = (host or {}).get("devices", [])
        if not isinstance(devices, list) or not all(isinstance(device, str) for device in devices):
            raise ValueError("its devices are no names")
        return cls(
            host=host,
            devices=devices,
            asked=int(_count(counts, "asked")),
            seconds=float(_count(counts, "seconds")),
            completion_tokens=int(_count(counts, "completion_tokens", or_null=True)),
            fingerprints=list(_object(counts, "system_fingerprints") or {}),
        )


def _object(record: Facts, name: str) -> Facts | None:
    """An object within the record; None where there is none."""
    if name not in record:
        return None
    found = record[name]
    if not isinstance(found, dict):
        raise ValueError(f"its {name} is no object")
    return found


def _count(counts: Facts, name: str, *, or_null: bool = False) -> int | float:
    """A number that counts something; 0 where nothing was counted at all."""
    value = counts.get(name) if counts else 0
    if value is None and or_null:
        return 0
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"its {name} is no count")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRuntime:
    """A system's responses: what the manifest says decided them, and the runs that asked for them."""

    name: str
    settings: Facts
    runs: Sequence[Run]

    @property
    def engine(self) -> Facts:
        """What the engine was, as far as that decides an answer; empty for an imported transcript."""
        found = self.settings.get("engine")
        return found if isinstance(found, Mapping) else {}

    @property
    def told(self) -> list[Run]:
        """The runs that asked anything, else all, of those whose engine said something of its machine."""
        told = [run for run in self.runs if run.host is not None]
        return [run for run in told if run.asked] or told

    @property
    def hosts(self) -> list[Facts]:
        """What the engine said of its machine in each of these runs."""
        return [run.host for run in self.told if run.host is not None]


def page(systems: Iterable[SystemRuntime]) -> str:
    """The page as Markdown: a section a system, in the order given."""
    sections = ["# Runtime\n", _LEAD]
    for system in systems:
        sections += [f"## {system.name}\n", *(f"{line}\n" for line in _section(system))]
    return "\n".join(sections).rstrip() + "\n"


_LEAD = (
    "What each system ran on. Two builds, backends or devices need not give the same greedy text: compare systems that"
    " share them, or count how far they agree (`samequantity repeat`).\n"
)


def differences(system: SystemRuntime) -> list[str]:
    """Where a system's runtime is another than the paper's, one sentence each; empty where nothing is known to be."""
    engine = system.engine
    if not engine:
        return ["made elsewhere; its runtime is not known here"]
    if engine.get("engine") == "openai":
        return ["asked through the engine openai, not llama.cpp in process; the server's build decides"]
    if engine.get("engine") != "llama.cpp":
        return [f"asked of the engine {engine.get('engine')}, no model"]
    found: list[str] = []
    commit = str(engine.get("llama_cpp_commit"))
    if not _same_commit(commit, PAPER_COMMIT):
        found.append(f"llama.cpp commit {commit}; the paper's is {PAPER_COMMIT} (build {PAPER_BUILD})")
    if engine.get("backend") != PAPER_BACKEND:
        found.append(f"backend {engine.get('backend')}; the paper's is {PAPER_BACKEND}")
    else:
        devices = _distinct(device for run in system.told for device in run.devices)
        if not devices or not all(PAPER_DEVICE in device for device in devices):
            found.append(f"device {', '.join(devices) or 'not recorded'}; the paper's is NVIDIA {PAPER_DEVICE} 80 GB")
    return found


def _section(system: SystemRuntime) -> list[str]:
    found = differences(system)
    lines = [f"Differs from the paper's runtime: {sentence}." for sentence in found] or [
        f"The paper's runtime: llama.cpp build {PAPER_BUILD} on {PAPER_DEVICE}, as far as is recorded."
    ]
    rows = [*_rows(system.engine or system.settings), *_decoding(system), *_hosts(system), *_counts(system)]
    return [*lines, "\n".join(["| | |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in rows)])]


def _rows(facts: Facts) -> list[tuple[str, object]]:
    return [(_words(name), value) for name, value in facts.items()]


def _decoding(system: SystemRuntime) -> list[tuple[str, object]]:
    """What the requests said beyond the engine's own settings."""
    decoding = system.settings.get("decoding")
    known = decoding if isinstance(decoding, Mapping) else {}
    return [(_words(name), value) for name, value in known.items() if name not in system.engine]


def _hosts(system: SystemRuntime) -> list[tuple[str, object]]:
    """What the machines were; where runs differ, each value that occurred."""
    hosts = [_with_sizes(host) for host in system.hosts]
    names = _distinct(name for host in hosts for name in host)
    return [(_words(name), _one([host.get(name) for host in hosts])) for name in names]


def _with_sizes(host: Facts) -> Facts:
    """A machine's facts with the sizes in use, which llama.cpp may have rounded, one by one.

    What else is in use stands among the settings, as it was asked for.
    """
    in_use = host.get("in_use")
    known = in_use if isinstance(in_use, Mapping) else {}
    sizes = {f"{name}_in_use": known[name] for name in _SIZES if name in known}
    return sizes | {name: value for name, value in host.items() if name != "in_use"}


def _counts(system: SystemRuntime) -> list[tuple[str, object]]:
    names = _distinct(name for run in system.runs for name in run.fingerprints)
    fingerprints: list[tuple[str, object]] = [("system fingerprints", names)] if names else []
    asked = [run for run in system.runs if run.asked]
    if not asked:
        none = [("responses asked", "none in the last run: all were in the journal or the store")]
        return [*fingerprints, *(none if system.hosts else [])]
    seconds = sum(run.seconds for run in asked)
    generated = sum(run.completion_tokens for run in asked)
    rate = f"{generated / seconds:.1f}" if seconds and generated else "not known"
    return [
        *fingerprints,
        ("responses asked in the last run", sum(run.asked for run in asked)),
        ("seconds of answering", round(seconds, 1)),
        ("generated tokens a second", rate),
    ]


def _same_commit(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _one(values: Sequence[object]) -> object:
    texts = {json.dumps(value, sort_keys=True): value for value in values}
    return next(iter(texts.values())) if len(texts) == 1 else list(texts.values())


def _words(name: str) -> str:
    return name.replace("_", " ")


def _cell(value: object) -> str:
    """A value in one cell of a table."""
    if isinstance(value, list):
        text = "; ".join(map(_cell, value)) or "none"
    elif value is None or isinstance(value, bool):
        text = {None: "none", True: "yes", False: "no"}[value]
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return " ".join(text.split()).replace("|", "\\|")
