"""What is stored, written into texts that something else interprets: Markdown, LaTeX, terminals, a reader's eyes.

One function for each, so that what is safe in one export is safe in all. What a spreadsheet runs is in `data.cells`.
"""

from __future__ import annotations

import re

# They turn the direction of what stands around them, so that a text reads as something that it is not.
OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MARK = "\N{REPLACEMENT CHARACTER}"
_MARKED = str.maketrans(dict.fromkeys(OVERRIDES, MARK))
_OBEYED = [*range(0x20), *range(0x7F, 0xA0)]  # by terminals: C0, delete and C1
_PRINTABLE = _MARKED | dict.fromkeys([code for code in _OBEYED if chr(code) not in "\t\n"], MARK)
_ENTITY = re.compile(r"&(?=[#\w]+;)")
_HTML = str.maketrans({"<": "&lt;", ">": "&gt;"})
_MARKDOWN = re.compile(r"([\\`*_\[\]|#~])")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "–": "--",
        "−": "$-$",
        "<": "$<$",
        ">": "$>$",
        "…": r"\ldots{}",
    }
)


def visible(text: str) -> str:
    r"""Put a visible mark, of the same length, for every character that turns the direction of what stands around it.

    >>> visible("user\u202egnp.exe")
    'user�gnp.exe'
    """
    return text.translate(_MARKED)


def printable(text: str) -> str:
    r"""Put a mark for whatever a terminal would obey: control characters but tabs and line breaks, and overrides.

    >>> printable("a\x1b[31mred\x07 \u202eb\n")
    'a�[31mred� �b\n'
    """
    return text.translate(_PRINTABLE)


def markdown(text: object) -> str:
    r"""Write *text* so that Markdown, on a page or in a cell of a table, shows it as it is, on one line.

    >>> markdown("a*b | <b>c</b>\nd")
    'a\\*b \\| &lt;b&gt;c&lt;/b&gt; d'
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(_no_html(str(text)).split()))


def _no_html(text: str) -> str:
    return _ENTITY.sub("&amp;", visible(text)).translate(_HTML)


def markdown_block(text: str) -> str:
    """Take what is active out of a *text* that is Markdown itself, as people write instructions: HTML is shown.

    >>> markdown_block("**Bold**, and <script>")
    '**Bold**, and &lt;script&gt;'
    """
    return re.sub(r"^&gt;", ">", _no_html(text), flags=re.MULTILINE)  # a quotation stays one


def markdown_code(text: str) -> str:
    """Write *text* as a block of code, whatever ends of such blocks it holds itself."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{visible(text)}\n{fence}"


def latex(text: str) -> str:
    r"""Write *text* so that LaTeX shows it as it is.

    >>> print(latex("50% of a_b"))
    50\% of a\_b
    """
    return " ".join(visible(text).split()).translate(_LATEX)
