"""Reads every system's engine settings, before a word of the configuration is shown.

Schema errors and failed commands show what is wrong with all that stands around it. A key that somebody wrote in the
place of its variable's name is refused here first, and not shown; so is a mistyped setting, before anything is fetched.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir).parent / "src"))

from samequantity.engines.opening import read_settings
from samequantity.errors import SettingsError

for name, entry in (config.get("catalogue") or {}).items():
    if isinstance(entry, dict) and isinstance(entry.get("settings"), dict):
        try:
            read_settings(entry["settings"], where=f"config: catalogue.{name}.settings")
        except SettingsError as error:
            raise WorkflowError(str(error)) from None
