r"""A table as LaTeX, ready to paste: booktabs, a caption, a label, and nothing that pdfLaTeX does not know.

A table that a page holds is a `table*`; a longer one is a `longtable`, which wants a document (or a part of one) in one
column. One that is too wide for a page stands on its side.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from samequantity.reporting.tabular import Heading, Table

PAGE_ROWS = 45
"""More rows than these do not fit a page."""

_SIZES = {r"\small": 9.3, r"\footnotesize": 8.5, r"\scriptsize": 8.0, r"\fontsize{6}{7}\selectfont": 7.4}
"""The em of Computer Modern at each size, in points, rounded up (cmr9: 9.25, cmr8: 8.50, cmr7: 7.97, cmr6: 7.33).

Small type is cut wider than its size says. A class of another base size than 10 points has other sizes by these names.
"""

_SMALLEST = [*_SIZES][-1]

_DIGIT, _PERIOD = 0.5, 0.28
"""Widths of Computer Modern in ems; most small letters are as wide as a digit, most signs of `_NARROW` as a period."""

_TEXT_WIDTH, _TEXT_HEIGHT = 460, 540
"""Points: a little less than 6.5 inches (469.8), and than the text of class article is high (550).

The height is the room of a table on its side.
"""

_COLUMN_GAP = 6
"""Points: 3 on each side of it, as set below."""

_NARROW = dict.fromkeys(map(ord, " .,:;|()[]/-'"))

_PARTED = "\0"
"""Stands between two signs until all are written."""

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': "''",
    "`": r"\`{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "α": r"$\alpha$",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    **{sign: rf"\textsuperscript{{{plain}}}" for sign, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)},
    "⁻": r"\textsuperscript{$-$}",
    "⁺": r"\textsuperscript{+}",
    # TeX refuses control characters.
    **{chr(code): "?" for code in (*range(0x20), *range(0x7F, 0xA0))},
}
_WRITTEN = str.maketrans(_SIGNS | {_PARTED: "{}"})
# Two of these in a row would be set as one sign.
_LIGATURE = re.compile(r"([-',])(?=\1)")
_PERCENT = re.compile(r"(?<=[0-9]) \\%", re.ASCII)
_SMALL_P = re.compile(r"(?P<below>< )?(?P<digits>[0-9](?:\.[0-9]+)?)e(?P<power>-?[0-9]+)", re.ASCII)
_WORDS = re.compile(r"[a-z ,-]+", re.ASCII | re.IGNORECASE)
_MINUS = re.compile(r"(?<![\w.-])-(?=[0-9])", re.ASCII)


def to_latex(table: Table) -> bytes:
    """The table as a `table*`, or as a `longtable` where it has more than `PAGE_ROWS` rows.

    In a `table*` the first cell stands once for the rows that it joins; rows of a `longtable`, which may be torn apart,
    each have it.
    """
    is_long, is_wide = len(table.rows) > PAGE_ROWS, _width(table, _SMALLEST) > _TEXT_WIDTH
    size = _size(table, _TEXT_HEIGHT if is_wide else _TEXT_WIDTH)
    body = list(_body(table, repeated=is_long or table.headings[0].is_number))
    lines = _long(table, body, size) if is_long else _floating(table, body, size)
    if is_wide:
        lines = [r"\begin{landscape}", *lines, r"\end{landscape}"]
    text = "\n".join(lines)
    return ("\n".join([*_needs(text, is_long=is_long, is_wide=is_wide), text]) + "\n").encode()


def latex_escaped(text: str) -> str:
    r"""Plain text as it can stand in a cell or a caption.

    >>> latex_escaped("a_b & 5 % < |k|")
    'a\\_b \\& 5~\\% \\textless{} \\textbar{}k\\textbar{}'
    """
    # Before the signs are put in, whose own dashes and quotes are meant as ligatures.
    parted = _LIGATURE.sub(rf"\1{_PARTED}", " ".join(text.replace(_PARTED, "?").split()))
    written = parted.translate(_WRITTEN)
    return _PERCENT.sub(r"~\\%", written)


def _number(text: str) -> str:
    r"""A number or several, with mathematical minus signs: `3.2e-65` is $3.2 \times 10^{-65}$."""
    if small := _SMALL_P.fullmatch(text):
        below = "< " if small["below"] else ""
        return rf"${below}{small['digits']} \times 10^{{{int(small['power'])}}}$"
    return _MINUS.sub("$-$", latex_escaped(text))


def _body(table: Table, *, repeated: bool) -> Iterator[str]:
    """One line a row, and a little room between rows that do not belong together."""
    blocks = [list(rows) for _, rows in groupby(table.rows, key=lambda row: row[:1])]
    for number, block in enumerate(blocks):
        if number and len(blocks) < len(table.rows):
            yield r"\addlinespace"
        for place, row in enumerate(block):
            written = [
                _number(cell) if heading.is_number else latex_escaped(cell)
                for heading, cell in zip(table.headings, row, strict=True)
            ]
            yield _row(written if repeated or place == 0 else ["", *written[1:]])


def _row(cells: Sequence[str]) -> str:
    r"""Cells as a row; after `\\`, LaTeX would take a bracket or an asterisk for an argument."""
    guarded = "{}" if cells[0].startswith(("[", "*")) else ""
    return rf"{guarded}{' & '.join(cells)} \\".lstrip()


def _floating(table: Table, body: Sequence[str], size: str) -> list[str]:
    return [
        r"\begin{table*}",
        r"\centering",
        size,
        r"\setlength{\tabcolsep}{3pt}",
        _caption(table),
        rf"\begin{{tabular}}{{{_columns(table)}}}",
        *_head(table),
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table*}",
    ]


def _long(table: Table, body: Sequence[str], size: str) -> list[str]:
    width = len(table.headings)
    return [
        r"\begingroup",
        size,
        r"\setlength{\tabcolsep}{3pt}",
        r"\setlength{\LTcapwidth}{\linewidth}",
        rf"\begin{{longtable}}{{{_columns(table)}}}",
        rf"{_caption(table)} \\",
        *_head(table),
        r"\endfirsthead",
        *_head(table),
        r"\endhead",
        r"\midrule",
        rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{Continued on the next page.}} \\",
        r"\endfoot",
        r"\bottomrule",
        r"\endlastfoot",
        *body,
        r"\end{longtable}",
        r"\endgroup",
    ]


def _caption(table: Table) -> str:
    r"""The caption, its first sentence for a list of tables, and a label."""
    short = table.caption.partition(". ")[0].removesuffix(".")
    return rf"\caption[{{{latex_escaped(short)}}}]{{{latex_escaped(table.caption)}}}\label{{tab:{table.name}}}"


def _columns(table: Table) -> str:
    return "@{}" + "".join("r" if heading.is_number else "l" for heading in table.headings) + "@{}"


def _head(table: Table) -> tuple[str, ...]:
    """The headings; one that is wider than its numbers stands in several lines."""
    columns = zip(table.headings, _cells(table), strict=True)
    return (r"\toprule", _row([_stacked(_lines(heading, cells)) for heading, cells in columns]), r"\midrule")


def _stacked(lines: Sequence[str]) -> str:
    text = r" \\ ".join(map(latex_escaped, lines))
    return rf"\shortstack[r]{{{text}}}" if len(lines) > 1 else text


def _cells(table: Table) -> list[list[str]]:
    """The cells of each column."""
    return [[row[place] for row in table.rows] for place in range(len(table.headings))]


def _lines(heading: Heading, cells: Sequence[str]) -> list[str]:
    is_wide = _ems(heading.text) > max(map(_ems, cells), default=0)
    return heading.text.split() if heading.is_number and is_wide and _WORDS.fullmatch(heading.text) else [heading.text]


def _size(table: Table, room: float) -> str:
    """The largest size at which the table fits into so many points, or else the smallest."""
    return next((size for size in _SIZES if _width(table, size) <= room), _SMALLEST)


def _width(table: Table, size: str) -> float:
    """Points that the widest cells of all columns take beside each other."""
    columns = [[*cells, *_lines(heading, cells)] for heading, cells in zip(table.headings, _cells(table), strict=True)]
    return sum(max(map(_ems, texts)) for texts in columns) * _SIZES[size] + _COLUMN_GAP * (len(columns) - 1)


def _ems(text: str) -> float:
    """About how wide a text is, in ems."""
    wide = len(text.translate(_NARROW))
    return _DIGIT * wide + _PERIOD * (len(text) - wide)


def _needs(text: str, *, is_long: bool, is_wide: bool) -> Iterator[str]:
    """Comment lines that say what a document needs to set the table."""
    more = [", longtable (in a document of one column)"] * is_long + [", pdflscape"] * is_wide
    yield f"% Packages: booktabs{''.join(more)}."
    if not text.isascii():
        yield r"% Letters beyond ASCII: pdfLaTeX wants \usepackage[T1]{fontenc} for those of Latin; for others, use"
        yield "% LuaLaTeX or XeLaTeX with a font that has them."
