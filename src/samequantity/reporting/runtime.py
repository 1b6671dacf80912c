"""The page `runtime.md`: what each system ran on, and where that differs from the paper's runtime.

It holds facts of machines and times, so it has no manifest and no digest: the tables beside it are the same wherever
they were made, this page is not.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PAPER_COMMIT, PAPER_BUILD = "c0bc8591e", "b10107"
PAPER_BACKEND, PAPER_DEVICE = "cuda", "H100"
"""The paper's runtime: llama.cpp build b10107 (commit c0bc8591e), CUDA, NVIDIA H100 80 GB (PROTOCOL, section 7)."""

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRuntime:
    """A system's responses: what the manifest says decided them, and the records of the runs that asked for them."""

    name: str
    stage: str
    settings: Facts
    runs: Sequence[Facts]

    @property
    def engine(self) -> Facts:
        """What the engine was, as far as that decides an answer; empty for an imported transcript."""
        found = self.settings.get("engine")
        return found if isinstance(found, Mapping) else {}

    @property
    def hosts(self) -> list[Facts]:
        """What the engine said of its machine in each run that asked anything, else in each run."""
        told = [run for run in self.runs if isinstance(run.get("engine"), Mapping)]
        asking = [run for run in told if _asked(run)]
        return [run["engine"] for run in asking or told]


def is_record(record: object) -> bool:
    """Whether this is what the record of a run holds, as far as the page reads it: counts, and facts of a machine."""
    if not isinstance(record, dict):
        return False
    engine, counts = record.get("engine", {}), record.get("inference", {})
    if not isinstance(engine, dict) or not isinstance(counts, dict):
        return False
    devices = engine.get("devices", [])
    return (
        isinstance(devices, list)
        and all(isinstance(device, str) for device in devices)
        and (not counts or all(_is_number(counts.get(name)) for name in ("asked", "seconds")))
        and _is_number(counts.get("completion_tokens") or 0)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63


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
    if engine.get("engine") != "llama.cpp":
        return [
            f"asked through the engine {engine.get('engine')}, not llama.cpp in process; the server's build decides"
        ]
    found: list[str] = []
    commit = str(engine.get("llama_cpp_commit"))
    if not _same_commit(commit, PAPER_COMMIT):
        found.append(f"llama.cpp commit {commit}; the paper's is {PAPER_COMMIT} (build {PAPER_BUILD})")
    if engine.get("backend") != PAPER_BACKEND:
        found.append(f"backend {engine.get('backend')}; the paper's is {PAPER_BACKEND}")
    else:
        devices = _distinct(device for host in system.hosts for device in host.get("devices", []))
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
    # What is in use of the settings stands in the rows above.
    names = [name for name in _distinct(name for host in system.hosts for name in host) if name != "in_use"]
    return [(_words(name), _one([host.get(name) for host in system.hosts])) for name in names]


def _counts(system: SystemRuntime) -> list[tuple[str, object]]:
    asked = [run["inference"] for run in system.runs if _asked(run)]
    if not asked:
        return (
            [("responses asked", "none in the last run: all were in the journal or the store")] if system.hosts else []
        )
    seconds = sum(float(run["seconds"]) for run in asked)
    generated = sum(int(run["completion_tokens"] or 0) for run in asked)
    rate = f"{generated / seconds:.1f}" if seconds and generated else "not known"
    return [
        ("responses asked in the last run", sum(int(run["asked"]) for run in asked)),
        ("seconds of answering", round(seconds, 1)),
        ("generated tokens a second", rate),
    ]


def _asked(run: Facts) -> bool:
    return bool(run.get("inference", {}).get("asked"))


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
