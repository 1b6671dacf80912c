"""Which view each row of a transcript answers: the one that its view_id names, or else the one with its prompt."""

import json
from collections.abc import Callable, Mapping

import polars as pl

from samequantity.errors import TableError
from samequantity.messages import EXAMPLES, counted, some

_SHOWN = 60
"""Characters of a prompt in a message."""

_NEARLY: Mapping[str, Callable[[str], str]] = {
    "line ends (CR LF or CR there, LF here)": lambda prompt: prompt.replace("\r\n", "\n").replace("\r", "\n"),
    "blanks or line ends at the beginning or the end": str.strip,
    "capital letters": str.lower,
    "blanks or line ends, in which there are or how many": lambda prompt: " ".join(prompt.split()),
}
"""What a prompt may differ in from the view's, and what makes it the same; the first that does is named.

Nothing that tells two quantities apart, as a sign or a point, is ever taken away.
"""


def matched(rows: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """The rows with the `view_id`, place (`order`) and prompt (`asked`) of the view that each answers.

    `rows` need view_id and prompt, one of which may be null all the way down; `asked` needs view_id, prompt and order.
    Where a row has both, the view that its id names must have its prompt, or be found in it, as in one that a chat
    template was put around. Raises TableError, with counts and examples, when a row has no view, several, or one that
    another row has.
    """
    _refuse(asked.filter(pl.col("view_id").is_duplicated())["view_id"], "views", "view", "there more than once", "")
    keys = asked.rename({"prompt": "asked"})
    has = {name for name in ("view_id", "prompt") if rows[name].null_count() < len(rows)}
    if not has:
        raise TableError(
            "transcript: neither view_id nor prompt is there to say which view a response answers. "
            "Name the column with --column view_id=<name> or --column prompt=<name>"
        )
    key = "view_id" if "view_id" in has else "prompt"
    if nameless := rows[key].null_count():
        raise TableError(f"transcript: {nameless} of {len(rows)} rows have no {key}. Fill it in, or leave them out")
    found = _by_id(rows, keys) if key == "view_id" else _by_prompt(rows, keys)
    cure = "Keep one row of each view; a second answer to the same prompts is another system"
    _refuse(
        found.filter(pl.col("view_id").is_duplicated())["view_id"],
        "transcript",
        "view",
        "answered more than once",
        cure,
    )
    return found


def _by_id(rows: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    unknown = rows.join(keys, on="view_id", how="anti")["view_id"]
    cure = "Pass the views that were asked, or leave these rows out"
    _refuse(unknown, "transcript", "view id", "that the views table does not hold", cure)
    found = rows.join(keys, on="view_id", how="left", maintain_order="left")
    strange = [
        view
        for view, given, prompt in found.select("view_id", "prompt", "asked").iter_rows()
        if given is not None and prompt not in given
    ]
    if strange:
        first = found.row(by_predicate=pl.col("view_id") == strange[0], named=True)
        raise TableError(
            f"transcript: {counted(strange, 'prompt')} that the view of this id does not have: {some(strange)}. "
            f"{strange[0]} was asked {_shown(first['prompt'])}, the view is {_shown(first['asked'])}. "
            "Pass the views that were asked, or the transcript without its prompts if they are something else"
        )
    return found


def _by_prompt(rows: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    keyed = keys.with_columns(pl.col("asked").alias("prompt"))
    several = keyed.filter(pl.col("prompt").is_duplicated() & pl.col("prompt").is_in(rows["prompt"].implode()))
    if len(several):
        raise TableError(
            f"transcript: {counted(several['prompt'].unique().to_list(), 'prompt')} that several views have: "
            f"{some(several['view_id'].to_list())}. Give the view_id of each response"
        )
    strangers = rows.join(keyed, on="prompt", how="anti")["prompt"].to_list()
    if strangers:
        examples = ", ".join(_shown(prompt) for prompt in strangers[:EXAMPLES])
        raise TableError(
            f"transcript: {len(strangers)} of {counted(rows['prompt'].to_list(), 'prompt')} that no view has: "
            f"{examples}. {_what_differs(strangers, keyed['prompt'].to_list())}"
        )
    return rows.drop("view_id").join(keyed, on="prompt", how="left", maintain_order="left")


def _what_differs(strangers: list[str], prompts: list[str]) -> str:
    """What sets the prompts apart from the views', as far as that can be seen, and the cure."""
    for difference, plain in _NEARLY.items():
        known = {plain(prompt) for prompt in prompts}
        if near := sum(plain(prompt) in known for prompt in strangers):
            return f"{near} of them differ in nothing but {difference}. Write the prompts as the views have them"
    if any(prompt in strangers[0] for prompt in prompts):
        return "The first has a view's prompt in it and more around it. Write the user's message alone, or the view_id"
    return "Pass the views that were asked, or give the view_id of each response"


def _shown(prompt: str) -> str:
    """The beginning of a prompt as a message can hold it."""
    return json.dumps(prompt if len(prompt) <= _SHOWN else f"{prompt[:_SHOWN]}…", ensure_ascii=False)


def _refuse(views: pl.Series, table: str, noun: str, what: str, cure: str) -> None:
    if not views.is_empty():
        named = views.unique(maintain_order=True).to_list()
        raise TableError(f"{table}: {counted(named, noun)} {what}: {some(named)}. {cure}".rstrip(" ."))
