"""Model files: which ones are pinned, where they come from, and whether they are the ones that the pins promise."""
