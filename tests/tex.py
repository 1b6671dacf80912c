r"""A strict little reader of the LaTeX that tables are written in.

It knows what tables need and nothing else: whatever it does not know, pdfLaTeX with booktabs and longtable might not
compile. So it refuses (AssertionError) a bare special character, a macro of which it was not told, an environment that
does not end, a row of too many cells, and a `\\` that would take what follows for its argument.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MACROS = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textbar{}": "|",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\ldots{}": "…",
    r"\`{}": "`",
    r"$\pm$": "±",
    r"$\times$": "×",
    r"$\cdot$": "·",
    r"$\leq$": "≤",
    r"$\geq$": "≥",
    r"$\rightarrow$": "→",
    r"$\alpha$": "α",
    "$-$": "-",
    "---": "—",
    "--": "–",
    "''": '"',
    "``": '"',
    "{}": "",
    "~": " ",
    **{rf"\{sign}": sign for sign in "{}$&#%_"},
}

TOKEN = re.compile(
    rf"""
    (?P<macro> {"|".join(re.escape(macro) for macro in sorted(MACROS, key=len, reverse=True))} )
    | \$ (?P<below> < [ ])? (?P<digits> [0-9](\.[0-9])? ) [ ] \\times [ ] 10\^\{{ (?P<power> -?[0-9]+ ) \}}\$
    | \\textsuperscript\{{ (?P<raised> [0-9+] | \$-\$ ) \}}
    | \\shortstack\[r\]\{{ (?P<stacked> [a-zA-Z ,\\-]+ ) \}}
    | (?P<plain> [^\\{{}}$&#^_~%<>|"\x00-\x1f\x7f-\x9f] )
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A table as a reader of the page has it, in plain text; a cell that stands once for several rows is repeated."""

    environment: str
    caption: str
    label: str
    alignment: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def plain(tex: str) -> str:
    """The plain text of a cell or a caption, with hyphens for minus signs."""
    found, position = [], 0
    while position < len(tex):
        token = TOKEN.match(tex, position)
        assert token, f"not known to pdfLaTeX: {tex[position : position + 30]!r} in {tex[:200]!r}"
        found.append(_text(token))
        position = token.end()
    return "".join(found)


def _text(token: re.Match[str]) -> str:
    if token["macro"]:
        return MACROS[token["macro"]]
    if token["digits"]:
        return f"{token['below'] or ''}{token['digits']}e{int(token['power']):03}"
    if token["stacked"]:
        return token["stacked"].replace(r" \\ ", " ")
    return token["plain"] or token["raised"].replace("$-$", "-")


def read(tex: str) -> Read:
    """The one table of a file."""
    lines = [line for line in tex.splitlines() if not line.startswith("%")]
    assert tex == tex.strip() + "\n"
    is_long = r"\begin{longtable}" in tex
    begin = rf"\begin{{{'longtable' if is_long else 'tabular'}}}{{@{{}}([lr]+)@{{}}}}"
    _check_environments(lines)
    caption = _only(r"\\caption\[\{.*?\}\]\{(.*)\}\\label\{tab:([a-z0-9_]+)\}(?: \\\\)?", lines)
    alignment = _only(re.escape(begin).replace(re.escape("([lr]+)"), "([lr]+)"), lines)[1]
    head = lines.index(r"\toprule")
    assert lines[head + 2] == r"\midrule"
    first = lines.index(r"\endlastfoot" if is_long else r"\midrule") + 1
    last = lines.index(rf"\end{{{'longtable' if is_long else 'tabular'}}}")
    body = lines[first:last]
    assert is_long or body.pop() == r"\bottomrule"
    return Read(
        environment="longtable" if is_long else "table*",
        caption=plain(caption[1]),
        label=caption[2],
        alignment=alignment,
        headings=_cells(lines[head + 1], alignment),
        rows=list(_rows(body, alignment)),
    )


def _check_environments(lines: Sequence[str]) -> None:
    opened = []
    for line in lines:
        if begun := re.match(r"\\begin\{([a-z*]+)\}", line):
            opened.append(begun[1])
        elif ended := re.fullmatch(r"\\end\{([a-z*]+)\}", line):
            assert opened.pop() == ended[1]
    assert opened == []
    assert lines.count(r"\begingroup") == lines.count(r"\endgroup")


def _only(pattern: str, lines: Sequence[str]) -> re.Match[str]:
    (found,) = [match for line in lines if (match := re.fullmatch(pattern, line))]
    return found


def _rows(body: Sequence[str], alignment: str) -> Iterator[Sequence[str]]:
    first = ""
    for line in body:
        if line != r"\addlinespace":
            cells = _cells(line, alignment)
            first = cells[0] or first
            yield [first, *cells[1:]]


def _cells(line: str, alignment: str) -> list[str]:
    assert line.endswith(r" \\")
    assert not line.startswith(("[", "*")), "taken for an argument of the row before"
    cells = [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r" \\"))]
    assert len(cells) == len(alignment)
    return [plain(cell) for cell in cells]
