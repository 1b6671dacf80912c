"""A hub that says what cannot be."""

import pytest

from fake_hub import FIRST, FakeHub
from fake_sources import Settings, Told, fetch
from samequantity.errors import ModelError
from samequantity.models.pinning.locking import lock
from samequantity.models.pinning.pins import ModelPin


@pytest.mark.parametrize(
    ("nonsense", "said"),
    [
        ({"size": "big"}, "'big' for the size of"),
        ({"size": -1}, "-1 for the size of"),
        ({"size": True}, "True for the size of"),
        ({"lfs": {"sha256": "zz", "size": 1, "pointerSize": 1}}, "'zz' for the SHA-256 of"),
        ({"lfs": {"sha256": 12, "size": 1, "pointerSize": 1}}, "12 for the SHA-256 of"),
    ],
)
@pytest.mark.usefixtures("pin")
def test_what_a_hub_says_that_cannot_be_is_a_plain_message(
    settings: Settings, hub_here: FakeHub, told: Told, nonsense: dict[str, object], said: str
) -> None:
    hub_here.nonsense = nonsense

    message = rf"what the hub says cannot be used: {said} {FIRST} of somebody/tiny"
    with pytest.raises(ModelError, match=rf"tiny: {FIRST}: {message}"):
        lock([settings.pin], settings.path, settings.folder, reporter=told)
    with pytest.raises(ModelError, match=message):
        fetch(settings.pin, settings.folder, reporter=told)


def test_a_hub_that_answers_with_something_else_is_a_plain_message(
    settings: Settings, hub_here: FakeHub, pin: ModelPin, told: Told
) -> None:
    hub_here.nonsense = {"lfs": ["what"]}

    with pytest.raises(ModelError, match=rf"tiny: {FIRST}: no answer that can be read"):
        lock([pin], settings.path, settings.folder, reporter=told)
