"""The page of what a study's systems ran on."""

from typing import Any

import pytest

from samequantity.reporting.runtime import Run, SystemRuntime, differences, page

ENGINE: dict[str, Any] = {
    "engine": "llama.cpp",
    "backend": "cuda",
    "llama_cpp_commit": "c0bc8591e",
    "kv_type": "f16",
    "batch": 512,
    "flash_attention": False,
    "template_kwargs": {"enable_thinking": False},
}
HOST: dict[str, Any] = {"threads": 8, "devices": ["CUDA0: NVIDIA H100 80GB HBM3"], "offloaded_layers": "37/37"}
COUNTS = {"asked": 10, "completion_tokens": 500, "seconds": 4.0}


def system(*, engine: dict[str, Any] = ENGINE, host: dict[str, Any] = HOST, **changes: Any) -> SystemRuntime:
    given: dict[str, Any] = {
        "name": "smol",
        "settings": {"engine": engine, "decoding": {"temperature": 0.0, "batch": 512}},
        "runs": [Run.read({"engine": host, "inference": COUNTS})],
    }
    return SystemRuntime(**given | changes)


def test_the_papers_runtime_differs_in_nothing() -> None:
    assert [] == differences(system())
    assert "The paper's runtime: llama.cpp build b10107" in page([system()])


def test_a_longer_form_of_the_papers_commit_is_the_same_commit() -> None:
    assert [] == differences(system(engine=ENGINE | {"llama_cpp_commit": "c0bc8591e0123"}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"engine": ENGINE | {"llama_cpp_commit": "0c1e57098bba"}}, "commit 0c1e57098bba; the paper's is c0bc8591e"),
        ({"engine": ENGINE | {"backend": "cpu"}}, "backend cpu; the paper's is cuda"),
        ({"host": HOST | {"devices": ["CUDA0: NVIDIA L4"]}}, "device CUDA0: NVIDIA L4; the paper's is NVIDIA H100"),
        ({"runs": []}, "device not recorded"),
        ({"engine": {"engine": "openai"}}, "asked through the engine openai, not llama.cpp in process; the server's"),
        ({"engine": {"engine": "scripted"}}, "asked of the engine scripted, no model"),
        ({"settings": {"system": "theirs"}}, "made elsewhere"),
    ],
)
def test_each_difference_from_the_papers_runtime_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    found = differences(system(**change))

    assert len(found) == 1
    assert sentence in found[0]
    assert f"Differs from the paper's runtime: {found[0]}." in page([system(**change)])


def test_the_page_tells_settings_machine_and_pace() -> None:
    text = page([system()])

    for line in (
        "| kv type | f16 |",
        "| flash attention | no |",
        '| template kwargs | {"enable_thinking": false} |',
        "| temperature | 0.0 |",
        "| threads | 8 |",
        "| devices | CUDA0: NVIDIA H100 80GB HBM3 |",
        "| generated tokens a second | 125.0 |",
    ):
        assert line in text.splitlines()
    assert text.count("| batch |") == 1


def test_runs_on_different_machines_are_both_told() -> None:
    runs = [Run.read({"engine": HOST | {"threads": threads}, "inference": COUNTS}) for threads in (8, 16, 8)]

    assert "| threads | 8; 16 |" in page([system(runs=runs)]).splitlines()


def test_a_run_that_asked_nothing_does_not_hide_the_machine_that_asked() -> None:
    idle = Run.read({"engine": HOST | {"devices": []}, "inference": COUNTS | {"asked": 0}})
    asking = Run.read({"engine": HOST, "inference": COUNTS})

    assert [] == differences(system(runs=[idle, asking]))
    assert "none in the last run" in page([system(runs=[idle])])


def test_the_sizes_in_use_are_told_beside_those_asked_for_and_nothing_else_twice() -> None:
    in_use = {"context": 2048, "batch": 512, "ubatch": 256, "kv_type": "f16", "flash_attention": False}
    lines = page([system(host=HOST | {"in_use": in_use})]).splitlines()

    for line in ("| batch | 512 |", "| context in use | 2048 |", "| batch in use | 512 |", "| ubatch in use | 256 |"):
        assert 1 == lines.count(line)
    assert 1 == sum("kv type" in line for line in lines) == sum("flash attention" in line for line in lines)


def test_what_a_server_called_itself_is_told_whichever_run_heard_it() -> None:
    runs = [
        Run.read({"engine": {}, "inference": COUNTS | {"asked": asked, "system_fingerprints": {name: 1}}})
        for asked, name in ((0, "fp_one"), (4, "fp_two"), (0, "fp_one"))
    ]

    assert "| system fingerprints | fp_one; fp_two |" in page([system(runs=runs)]).splitlines()


def test_a_bar_or_a_line_end_in_a_value_breaks_no_table() -> None:
    text = page([system(host=HOST | {"system_info": "CPU : AVX = 1 | FMA = 1\nx"})])

    assert "| system info | CPU : AVX = 1 \\| FMA = 1 x |" in text.splitlines()


@pytest.mark.parametrize(
    ("record", "known"),
    [
        ({}, True),
        ({"engine": HOST, "inference": COUNTS}, True),
        ({"inference": COUNTS | {"completion_tokens": None}}, True),
        ([], False),
        ({"inference": []}, False),
        ({"inference": None}, False),
        ({"inference": COUNTS | {"seconds": "4"}}, False),
        ({"inference": COUNTS | {"seconds": float("nan")}}, False),
        ({"inference": COUNTS | {"asked": 10**400}}, False),
        ({"inference": {"asked": 1}}, False),
        ({"engine": "llama.cpp"}, False),
        ({"engine": None}, False),
        ({"inference": COUNTS | {"asked": True}}, False),
        ({"inference": COUNTS | {"system_fingerprints": {"fp_one": 3}}}, True),
        ({"inference": COUNTS | {"system_fingerprints": ["fp_one"]}}, False),
        ({"engine": HOST | {"devices": None}}, False),
        ({"engine": HOST | {"devices": [["CUDA0"]]}}, False),
    ],
)
def test_the_page_reads_nothing_but_records_of_runs(record: Any, known: bool) -> None:
    if known:
        assert page([system(runs=[Run.read(record)])])
    else:
        with pytest.raises(ValueError, match=r"^its? .* no "):
            Run.read(record)
