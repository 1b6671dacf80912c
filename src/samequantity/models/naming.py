"""How a model is named, in a command as in the configuration: by a name among the pinned ones, or by a file's path.

The workflow imports this when it starts, so it needs the standard library alone.
"""

import os


def is_file_path(model: str) -> bool:
    """Whether the text is the path of a model file, by its form alone; if not, it is the name of a pinned model.

    It is a path when it has a path separator in it or ends in `.gguf`, in any case of its letters. Whether the file is
    there does not matter, so the same text means the same on every machine.

    >>> [is_file_path(model) for model in ("small.gguf", "UPPER.GGUF", "./model.bin", "qwen2.5-coder-0.5b")]
    [True, True, True, False]
    """
    separators = {"/", os.sep, os.altsep or os.sep}
    return any(separator in model for separator in separators) or model.lower().endswith(".gguf")
