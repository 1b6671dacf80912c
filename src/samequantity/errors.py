"""The errors that a user can cure, each with one plain message: what, where, the cure.

    SameQuantityError
    ├── SettingsError      a setting, a configuration file or a command line that cannot be used
    ├── TableError         a table that lacks columns, repeats or misses rows, or cannot be read
    ├── IntegrityError     bytes that are not the ones that a manifest or a pinned digest promises
    ├── ModelError         a model file that cannot be had, loaded or used as configured
    └── JournalError       a journal that cannot be written or is held by another process

A model's bad answer is none of these: it is a verdict (`samequantity.domain.verdicts`).
"""


class SameQuantityError(Exception):
    """Anything that a command reports as one message, without a traceback."""


class SettingsError(SameQuantityError):
    """A setting, a configuration file or a command line that cannot be used."""


class TableError(SameQuantityError):
    """A table that lacks columns, repeats or misses rows, or cannot be read."""


class IntegrityError(SameQuantityError):
    """Bytes that are not the ones that a manifest or a pinned digest promises."""


class ModelError(SameQuantityError):
    """A model file that cannot be had, loaded or used as configured."""


class JournalError(SameQuantityError):
    """A journal that cannot be written or is held by another process."""
