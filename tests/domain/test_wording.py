"""The words of the prompts are a closed file; a skeleton that does not fit its template is named."""

from collections.abc import Callable
from typing import Any

import pytest

from samequantity.domain.wording import Wording, WordingError
from shipped import content

Config = dict[str, Any]


def in_templates(change: Callable[[Config], Any]) -> Callable[[Config], Any]:
    return lambda config: change(config["templates"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config: config.pop("instruction"), "the wording: wanted are exactly the keys instruction, templates"),
        (lambda config: config.update(footer="x"), "the wording: wanted are exactly .*; unknown or missing: footer"),
        (lambda config: config.update(unit_request="In {units}."), r"unit_request: 'In \{units\}\.' must hold"),
        (lambda config: config.update(unit_request="In liters."), "unit_request"),
        (lambda config: config.update(unit_request="In {unit"), "In {unit"),
        (in_templates(lambda found: found.update(volume={})), "unknown template 'volume'"),
        (in_templates(lambda found: found["rate_speed"].pop("skeleton")), r"templates\.rate_speed"),
        (in_templates(lambda found: found["rate_speed"].update(paraphrases=[])), r"templates\.rate_speed: .* skeleton"),
        (in_templates(lambda found: found["combined_volume"].pop("paraphrases")), r"templates\.combined_volume"),
        (in_templates(lambda found: found["combined_volume"]["paraphrases"].pop()), "paraphrases: wanted are 2"),
        (lambda config: config.update(templates=[]), "templates: wanted is a mapping"),
        (in_templates(lambda found: found.update(rate_speed="{d} in {h}")), r"templates\.rate_speed: wanted is a map"),
        (in_templates(lambda found: found["rate_speed"].update(skeleton="{d} in {h}, {d}")), "rate_speed: the skel"),
        (in_templates(lambda found: found["rate_speed"].update(skeleton="{d} in an hour")), "rate_speed: the skel"),
        (in_templates(lambda found: found["rate_speed"].update(skeleton="{d} in {h} for {}")), "rate_speed: the skel"),
        (in_templates(lambda found: found["rate_speed"].update(skeleton="{d} in {h")), "{d} in {h"),
    ],
)
def test_a_wording_that_does_not_fit_is_an_error_that_names_the_place(
    change: Callable[[Config], Any], message: str
) -> None:
    config: Config = content("resources/wording.yaml")
    assert Wording.from_config(config)
    change(config)

    with pytest.raises(WordingError, match=message):
        Wording.from_config(config)
