"""The outcomes of one system: every view with what both layers made of its response.

Scores and intervals rest on this table alone. Whatever would make a rate wrong is refused here: a view without a
response, with two, with a response to a prompt that was never asked, or with verdicts on another response.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

import polars as pl

from samequantity.domain.exchange import FinishReason
from samequantity.domain.rewriting import MAGNITUDE_LIMIT, Rewrite
from samequantity.domain.verdicts import Layer, Status
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.messages import some

SCHEMA = pl.Schema(
    {
        "system": pl.String(),
        "view_id": pl.String(),
        "base_id": pl.String(),
        "template": pl.String(),
        "family": pl.String(),
        "strict_status": pl.String(),
        "strict_value": pl.String(),
        "strict_final_lines": pl.Int64(),
        "audited_status": pl.String(),
        "audited_value": pl.String(),
        "audited_final_lines": pl.Int64(),
        "recovered": pl.Boolean(),
        "rewrites": pl.List(pl.String()),
        "magnitude_k": pl.Int64(),
        "finish_reason": pl.String(),
        "completion_tokens": pl.Int64(),
    }
)
"""One row a view, sorted by view_id. The last two columns are the response's own, null where it was not given."""

# The bound is below what int() refuses, and far above the longest value that a parser reads.
_RATIONAL = re.compile(r"(?P<above>0|-?[1-9][0-9]{0,3999})(?:/(?P<below>[1-9][0-9]{0,3999}))?", re.ASCII)

VIEW_COLUMNS = ("view_id", "base_id", "template", "family")
ANSWER_COLUMNS = ("system", "view_id", "status", "value", "final_lines")
AUDIT_COLUMNS = ("system", "view_id", "status", "value", "final_lines", "recovered", "rewrites", "magnitude_k")
RESPONSE_COLUMNS = ("view_id", "finish_reason", "completion_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """What one system made of the views.

    `frame` has one row a view (see `SCHEMA`), whole orbits only. `dropped_bases` counts the bases that were left out
    because a response was missing; 0 unless `complete_orbits_only` was asked for.
    """

    system: str
    frame: pl.DataFrame
    dropped_bases: int


def outcomes(
    views: pl.DataFrame,
    answers: pl.DataFrame,
    audits: pl.DataFrame,
    responses: pl.DataFrame | None = None,
    *,
    complete_orbits_only: bool = False,
) -> Outcomes:
    """Join the views with one system's strict answers, audited answers and, where given, the responses themselves.

    The frames need the columns `VIEW_COLUMNS`, `ANSWER_COLUMNS`, `AUDIT_COLUMNS` and `RESPONSE_COLUMNS`, in any row
    order; others are ignored. With `complete_orbits_only`, a base that lacks a response to one of its views is dropped
    whole.

    Raises TableError when a column is missing, when the rows are of no or of several systems, when a view is missing,
    repeated or unknown, or when the two layers cannot stem from the same responses, or not from those given.
    """
    asked = _checked_views(views)
    strict = _checked_answers(answers, ANSWER_COLUMNS, "answers", asked)
    audited = _checked_answers(audits, AUDIT_COLUMNS, "audits", asked)
    system = _only_system(strict, audited)

    joined = asked.join(_layer(strict, Layer.STRICT), on="view_id", how="left").join(
        _layer(audited, Layer.AUDITED), on="view_id", how="left"
    )
    whole = _whole_orbits(joined, system, complete_orbits_only=complete_orbits_only)
    _refuse_contradictions(whole, system)
    whole = _with_responses(whole, asked, responses, system)
    frame = (
        whole.with_columns(pl.lit(system).alias("system"))
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
        .sort("view_id")
    )
    return Outcomes(system=system, frame=frame, dropped_bases=asked["base_id"].n_unique() - frame["base_id"].n_unique())


def _checked_views(views: pl.DataFrame) -> pl.DataFrame:
    _require_columns(views, VIEW_COLUMNS, "views")
    asked = views.select(pl.col(name).cast(pl.String) for name in VIEW_COLUMNS)
    cure = "Make the table again: samequantity render"
    if asked.is_empty():
        raise TableError(f"views: the table has no row. {cure}")
    _refuse(_repeated(asked), "views", "are listed more than once", cure)
    known = pl.col("family").is_in(list(Family)).fill_null(False)
    named = (pl.col("view_id") == pl.format("{}/{}", "base_id", "family")).fill_null(False)
    _refuse(asked.filter(~known | ~named)["view_id"], "views", "are not named <base_id>/<family>", cure)
    _refuse(asked.filter(pl.col("template").is_null())["view_id"], "views", "have no template", cure)
    split = asked.group_by("base_id").agg(pl.col("template").n_unique(), (pl.col("family") == Family.CANONICAL).any())
    _refuse(split.filter(pl.col("template") != 1)["base_id"], "views", "belong to several templates", cure, "bases")
    _refuse(split.filter(~pl.col("family"))["base_id"], "views", "have no canonical view", cure, "bases")
    return asked


def _checked_answers(answers: pl.DataFrame, columns: tuple[str, ...], name: str, asked: pl.DataFrame) -> pl.DataFrame:
    _require_columns(answers, columns, name)
    if answers.schema["value"] not in (pl.String(), pl.Null()):
        raise TableError(
            f"{name}: column value has type {answers.schema['value']}, but exact values are text such as '37/4'. "
            "Write them as Python prints a Fraction"
        )
    taken = answers.select(columns).with_columns(pl.col("system", "view_id", "status", "value").cast(pl.String))
    cure = "Keep one row a view of these views, and remove the others"
    _refuse(_repeated(taken), name, "are answered more than once", cure)
    unknown = taken.join(asked, on="view_id", how="anti")["view_id"]
    _refuse(unknown, name, "are not in the views table", f"{cure}; or pass the views that were asked")
    valued = [status for status in Status if status.has_value]
    strange = taken.filter(~pl.col("status").is_in(list(Status)).fill_null(False))["view_id"]
    _refuse(strange, name, f"have a status that is none of {', '.join(Status)}", "Make the table again with parse")
    empty = taken.filter(pl.col("status").is_in(valued) & pl.col("value").is_null())["view_id"]
    _refuse(empty, name, "have no value although their status says that they do", "Make the table again with parse")
    values = taken["value"].unique().drop_nulls()
    crooked = taken.filter(pl.col("value").is_in([value for value in values if not _is_exact(value)]))["view_id"]
    _refuse(crooked, name, "have a value that is no text in lowest terms such as 37/4 or 12", "Write it like that")
    for column in [column for column in ("final_lines", "rewrites") if column in columns]:
        void = taken.filter(pl.col(column).is_null())["view_id"]
        _refuse(void, name, f"have no {column}", "Make the table again with parse and audit")
    negative = taken.filter(pl.col("final_lines") < 0)["view_id"]
    _refuse(negative, name, "have less than no FINAL line", "Make the table again with parse and audit")
    return taken


def _is_exact(value: str) -> bool:
    """Whether a text is a rational as Python prints a Fraction; equal values are then equal texts."""
    found = _RATIONAL.fullmatch(value)
    if found is None or found["below"] is None:
        return found is not None
    return found["above"] != "0" and found["below"] != "1" and gcd(int(found["above"]), int(found["below"])) == 1


def _layer(answers: pl.DataFrame, layer: Layer) -> pl.DataFrame:
    return answers.drop("system").rename({name: f"{layer}_{name}" for name in ("status", "value", "final_lines")})


def _whole_orbits(joined: pl.DataFrame, system: str, *, complete_orbits_only: bool) -> pl.DataFrame:
    """The rows of the bases of which every view was answered in both layers."""
    answered = pl.all_horizontal(pl.col(f"{layer}_status").is_not_null() for layer in Layer)
    if complete_orbits_only:
        whole = joined.filter(answered.all().over("base_id"))
        if whole.is_empty():
            raise TableError(f"{system}: no base has an answer to each of its views. Run infer for the missing ones")
        return whole
    for layer, name, command in ((Layer.STRICT, "answers", "infer and parse"), (Layer.AUDITED, "audits", "audit")):
        missing = joined.filter(pl.col(f"{layer}_status").is_null())["view_id"]
        _refuse(missing, f"{name} of {system}", "are missing", f"Run {command} for them, or use complete orbits only")
    return joined


def _refuse_contradictions(whole: pl.DataFrame, system: str) -> None:
    """The audit keeps a strict success and a response that was cut off; recovered is what it alone reads."""
    strict, audited = (pl.col(f"{layer}_status") == Status.CORRECT for layer in Layer)
    cut, still_cut = (pl.col(f"{layer}_status") == Status.TRUNCATION_ERROR for layer in Layer)
    agrees = (~strict | audited) & (cut == still_cut) & (pl.col("recovered") == (audited & ~strict)).fill_null(False)
    where, cure = f"audits of {system}", "Make the audit again from these answers"
    _refuse(whole.filter(~agrees)["view_id"], where, "contradict the strict answers", cure)
    k, wrong = pl.col("magnitude_k"), pl.col("audited_status") == Status.VALUE_ERROR
    drop = wrong & (k != 0) & (k.abs() <= MAGNITUDE_LIMIT)
    stray = whole.filter(k.is_not_null() & ~drop)["view_id"]
    _refuse(stray, where, f"have a magnitude_k without a wrong value, or beyond ±1 to ±{MAGNITUDE_LIMIT}", cure)
    used = pl.col("rewrites")
    _refuse(whole.filter(used.list.n_unique() != used.list.len())["view_id"], where, "name a rewrite twice", cure)
    known = used.list.eval(pl.element().is_in(list(Rewrite)).fill_null(False)).list.all()
    _refuse(whole.filter(~known)["view_id"], where, f"name a rewrite that is none of {', '.join(Rewrite)}", cure)


def _with_responses(
    whole: pl.DataFrame, asked: pl.DataFrame, responses: pl.DataFrame | None, system: str
) -> pl.DataFrame:
    """What the responses themselves say, null without them; a response is cut off exactly when both layers say so."""
    if responses is None:
        return whole.with_columns(pl.lit(None).alias(column) for column in RESPONSE_COLUMNS[1:])
    _require_columns(responses, RESPONSE_COLUMNS, "responses")
    taken = responses.select(RESPONSE_COLUMNS).with_columns(
        pl.col("view_id").cast(pl.String), pl.col("finish_reason").cast(pl.String).fill_null(FinishReason.OTHER)
    )
    cure = "Pass the responses that these answers were parsed from"
    if "system" in responses.columns:
        others = responses.filter((pl.col("system").cast(pl.String) != system).fill_null(False))["view_id"]
        _refuse(others, "responses", f"are answered by another system than {system}", cure)
    _refuse(_repeated(taken), "responses", "are answered more than once", cure)
    _refuse(taken.join(asked, on="view_id", how="anti")["view_id"], "responses", "are not in the views table", cure)
    missing = whole.join(taken, on="view_id", how="anti")["view_id"]
    _refuse(missing, f"responses of {system}", "are missing", cure)
    joined = whole.join(taken, on="view_id", how="left")
    _refuse(joined.filter(pl.col("completion_tokens") < 0)["view_id"], "responses", "have less than no token", cure)
    stopped = pl.col("finish_reason") == FinishReason.STOP
    stray = joined.filter(stopped == (pl.col("strict_status") == Status.TRUNCATION_ERROR))["view_id"]
    _refuse(stray, f"responses of {system}", "are cut off where the answers say otherwise, or the reverse", cure)
    return joined


def _only_system(strict: pl.DataFrame, audited: pl.DataFrame) -> str:
    found = {
        name: frame["system"].unique().sort().to_list() for name, frame in (("answers", strict), ("audits", audited))
    }
    for name, systems in found.items():
        if len(systems) != 1 or systems[0] is None:
            listed = _listed(systems) or "none"
            raise TableError(f"{name}: one system was expected, found {listed}. Score each system's table on its own")
    if found["answers"] != found["audits"]:
        raise TableError(
            f"answers are of system {found['answers'][0]}, audits of {found['audits'][0]}. "
            "Pass the audits that were made from these answers"
        )
    return str(found["answers"][0])


def _require_columns(frame: pl.DataFrame, columns: tuple[str, ...], name: str) -> None:
    absent = [column for column in columns if column not in frame.columns]
    if absent:
        raise TableError(f"{name}: column {_listed(absent)} is missing; the table has {_listed(frame.columns)}")


def _repeated(frame: pl.DataFrame) -> pl.Series:
    return frame.filter(pl.col("view_id").is_duplicated())["view_id"].unique()


def _refuse(ids: pl.Series, where: str, what: str, cure: str, kind: str = "views") -> None:
    """Raise a TableError that counts and names the offending rows, if there are any."""
    if ids.is_empty():
        return
    examples = some([str(found) for found in ids.sort()])
    raise TableError(f"{where}: {len(ids)} {kind} {what}: {examples}. {cure}")


def _listed(names: Iterable[object]) -> str:
    return ", ".join(str(name) for name in names)
