"""Escapes untrusted text (from files, servers and arguments) for each medium."""

import csv
import io
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    r"\ufffe\uffff\ud800-\udfff]"
)
"""Control characters of terminals, text direction characters, and invalid code points."""
_MARKS = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that are markup in Markdown and its extensions; a _ within a word is not markup."""
_HTML = re.compile(r"<|&(?=[A-Za-z#])")
_FORMULA = re.compile(r"\s*[=+@-]")
_NUMBER = re.compile(r"\s*[+-]?[\d.,]+(?:e[+-]?\d+)?\s*%?\s*", re.IGNORECASE)
LONGEST_IN_PICTURE = 200
_EXPRESSIONS = ("expr", "labelExpr", "test")
"""Keys with code of this program, in which untrusted text is already escaped."""
_LARGEST = 2**63 - 1
"""Largest integer in a picture."""


def plain(text: str) -> str:
    r"""Return a text for a terminal, with control characters replaced by escapes such as \x1b.

    JSON remains valid, because it contains no characters below 0x20, and other control characters
    become JSON escapes.
    """
    return _UNSEEN.sub(_format, text)


def _format(match: re.Match[str]) -> str:
    is_low = match[0] < " "  # JSON escapes these itself
    return repr(match[0])[1:-1] if is_low else f"\\u{ord(match[0]):04x}"


def line_of(text: str) -> str:
    """Return a text on one line."""
    return re.sub(r"[\t\n]", " ", plain(text))


def escape_markdown(text: str) -> str:
    """Return a text escaped for Markdown, so that it contains no links, pictures, HTML or cells."""
    marked = _MARKS.sub(r"\\\g<0>", line_of(text))
    return _HTML.sub(lambda match: "&lt;" if match[0] == "<" else "&amp;", marked)


def quote_markdown_code(text: str) -> str:
    """Return a text as a code span in Markdown."""
    inside = line_of(text).replace("`", "'")
    return f"`{inside}`"


def markdown_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()
) -> list[str]:
    """Return the lines of a Markdown table; columns with titles in `numbers` are aligned right."""
    ends = ("---:" if title in numbers else "---" for title in titles)
    return [_markdown_row(titles), f"|{'|'.join(ends)}|", *map(_markdown_row, rows)]


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def csv_text(records: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> str:
    """Return records as CSV; the columns are `names`, or by default all keys of the records.

    A text that a spreadsheet would take for a formula gets a leading apostrophe.
    """
    columns = names or [*dict.fromkeys(name for record in records for name in record)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*map(_cell, columns)])
    writer.writerows([_cell(record.get(name)) for name in columns] for record in records)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = plain(value)
    is_formula = len(text) > 1 and _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula or text.startswith("\t") else text


def in_picture(found: Any) -> Any:
    """Return the specification of a picture, with strings cut and escaped, and integers limited."""
    if isinstance(found, str):
        text = plain(found)
        return text if len(text) <= LONGEST_IN_PICTURE else f"{text[:LONGEST_IN_PICTURE]}..."
    if isinstance(found, Mapping):
        return {
            in_picture(name): value if name in _EXPRESSIONS else in_picture(value)
            for name, value in found.items()
        }
    if isinstance(found, list | tuple):
        return [in_picture(each) for each in found]
    if isinstance(found, int) and abs(found) > _LARGEST:
        return _LARGEST if found > 0 else -_LARGEST
    return found


def in_shell(words: Iterable[str]) -> str:
    """Return words quoted for bash, on one line and without control characters."""
    return " ".join(map(_quote, words))


def _quote(word: str) -> str:
    if "\n" not in word and plain(word) == word:
        return shlex.quote(word)
    escaped = re.sub(r"[\\']", r"\\\g<0>", word).replace("\n", "\\n").replace("\t", "\\t")
    return f"$'{plain(escaped)}'"
