"""Lays out tables and lines as text that fits a width; the only layout of tables in a terminal.

No word is broken over lines. Where a width is too small, a table drops columns in the order that
they declare, then wraps cells and titles between words, then shortens names in their middle.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from rich.cells import cell_len, set_cell_size

_GAP, _RULE = "  ", "─"
CUT = "…"
"""Mark in place of the middle of a name."""
_MOST_NAME, _LEAST_NAME = 40, 16
"""Width up to which a name drops columns, rather than being wrapped or shortened."""
_TEXT = 24
"""Width to which text is wrapped before a column is dropped."""
_LEAST_WORD, _LEAST_ID = 12, 20
"""Width of a shortened word, and of a shortened ID; the ID of a sweep is as long."""
_UNLIMITED = 10**6


class CellKind(Enum):
    """The content of a column's cells."""

    FIGURE = "figure"
    """Numbers, at the right."""
    NAME = "name"
    """Names, which identify a row."""
    TEXT = "text"
    """Text, which may be long."""
    ID = "id"
    """Text that others copy: whole, or not shown; a long one loses its middle, but last of all."""


@dataclass(slots=True)
class _Column:
    """A column: title, the order in which it is dropped (0: never), and cells of all rows."""

    title: str
    holds: CellKind
    drop: int
    cells: list[str] = field(default_factory=list)

    @property
    def longest(self) -> int:
        """Width at which nothing is wrapped."""
        return _measure((self.title, *self.cells), str.splitlines)

    @property
    def whole(self) -> int:
        """Width at which no cell is wrapped, and no word of the title is shortened."""
        return max(_measure(self.cells, str.splitlines), _measure([self.title], _split))

    @property
    def longest_word(self) -> int:
        """Width at which no word is shortened, and no cell of an ID is wrapped."""
        is_id = self.holds is CellKind.ID
        return self.whole if is_id else _measure((self.title, *self.cells), _split)

    def find_fair(self, width: int, names: int) -> int:
        """Return the width for which the columns of a table with several `names` are dropped."""
        match self.holds:
            case CellKind.NAME:
                share = max(width // (names + 1), _LEAST_NAME, _measure([self.title], _split))
                return min(self.longest, _MOST_NAME, share)
            case CellKind.TEXT:
                return min(self.longest, max(_TEXT, self.longest_word))
            case _:
                return self.whole

    @property
    def least(self) -> int:
        """Width below which the table exceeds its own: figures are never cut."""
        if self.holds is CellKind.FIGURE:
            return self.longest_word
        return min(self.longest_word, _LEAST_ID if self.holds is CellKind.ID else _LEAST_WORD)


class TextTable:
    """Columns with titles, and a rule below the titles."""

    def __init__(self, *titles: str, quiet: bool = False) -> None:
        self._columns: list[_Column] = []
        self._starts: set[int] = set()
        self.quiet = quiet
        """True if the table drops columns without a line about them."""
        for title in titles:
            self.add_column(title, CellKind.TEXT)

    def add_column(self, title: str, holds: CellKind = CellKind.FIGURE, *, drop: int = 0) -> None:
        """Add a column; if a width is too small, columns with the lowest `drop` go first."""
        self._columns.append(_Column(title, holds, drop))

    def add_row(self, *cells: str) -> None:
        """Add a row; cells that lack are empty."""
        filled = [*cells, *[""] * (len(self._columns) - len(cells))]
        for column, cell in zip(self._columns, filled, strict=True):
            column.cells.append(cell)

    def add_section(self) -> None:
        """Separate the rows that follow from those before by an empty line."""
        self._starts.add(self.row_count)

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self._columns[0].cells)

    def format(self, width: int) -> tuple[list[str], list[str]]:
        """Return the lines of the table, and the titles of the columns that it dropped."""
        columns = self._choose(width)
        widths = _share(columns, width)
        titles = _lay_out([column.title for column in columns], columns, widths)
        most = max(map(len, titles))
        lines = [*_write([[""] * (most - len(each)) + each for each in titles], columns, widths)]
        lines.append(_RULE * (sum(widths) + len(_GAP) * (len(widths) - 1)))
        for number in range(self.row_count):
            lines += [""] * (number in self._starts and number > 0)
            row = _lay_out([column.cells[number] for column in columns], columns, widths)
            lines += _write(row, columns, widths)
        return lines, [" ".join(c.title.split()) for c in self._columns if c not in columns]

    def _choose(self, width: int) -> list[_Column]:
        """Return the columns that remain at a width."""
        columns = self._columns
        for rank in sorted({column.drop for column in columns} - {0}):
            names = sum(column.holds is CellKind.NAME for column in columns)
            if _sum_up([column.find_fair(width, names) for column in columns]) <= width:
                break
            columns = [column for column in columns if column.drop != rank] or columns
        return columns


def draw(parts: Iterable[TextTable | str], width: int | None) -> str:
    """Return tables and lines as text; None: any width.

    Lines are not wrapped. A table exceeds the width only if its figures would not fit otherwise.
    The columns that it dropped are named below it, after the empty line that follows, if any.
    """
    lines: list[str] = []
    noted = ""
    for part in parts:
        if noted and part:
            lines.append(noted)
        noted = noted if not part else ""
        if isinstance(part, str):
            lines += part.split("\n")
            continue
        table, dropped = part.format(width or _UNLIMITED)
        lines += table
        if dropped and not part.quiet:
            titles = ", ".join(dropped)
            noted = f"not shown in {width} columns: {titles} (see them with --format json)"
    return "".join(f"{line.rstrip()}\n" for line in [*lines, *[noted] * bool(noted)])


def _measure(texts: Iterable[str], split: Callable[[str], Iterable[str]]) -> int:
    return max((cell_len(part) for text in texts for part in split(text)), default=0)


def _split(text: str) -> Iterator[str]:
    """Yield the words of a text; the first of a line keeps its indentation."""
    for line in text.splitlines():
        words = line.split()
        indent = line[: len(line) - len(line.lstrip())]
        yield from (f"{indent * (not number)}{word}" for number, word in enumerate(words))


def _sum_up(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _share(columns: Sequence[_Column], width: int) -> list[int]:
    """Return the widths of columns: wrapped where that helps, then with shortened words."""
    widths = [column.longest for column in columns]
    names = sum(column.holds is CellKind.NAME for column in columns)
    for floors in (
        [max(c.find_fair(width, names), c.longest_word) for c in columns],
        [c.longest_word for c in columns],
        [c.least for c in columns],
    ):
        while _sum_up(widths) > width:
            spare = [size - low for size, low in zip(widths, floors, strict=True)]
            if max(spare) <= 0:
                break
            widths[spare.index(max(spare))] -= 1
    return widths


def _lay_out(
    cells: Sequence[str], columns: Sequence[_Column], widths: Sequence[int]
) -> list[list[str]]:
    """Return the lines of each cell of a row."""
    return [[*_wrap(cell, size)] for cell, _, size in zip(cells, columns, widths, strict=True)]


def _write(
    row: Sequence[Sequence[str]], columns: Sequence[_Column], widths: Sequence[int]
) -> Iterator[str]:
    for number in range(max(map(len, row))):
        cells = (
            _pad(cell[number] if number < len(cell) else "", size, column.holds)
            for cell, column, size in zip(row, columns, widths, strict=True)
        )
        yield _GAP.join(cells).rstrip()


def _pad(text: str, size: int, holds: CellKind) -> str:
    blanks = " " * (size - cell_len(text))
    return blanks + text if holds is CellKind.FIGURE else text + blanks


def _wrap(text: str, width: int) -> Iterator[str]:
    """Yield a text in lines of a width, and with words of at most this width."""
    for line in text.splitlines() or [""]:
        shown = line
        if cell_len(line) > width:
            shown, *rest = (_shorten(word, width) for word in _split(line))
            for word in rest:
                if cell_len(shown) + 1 + cell_len(word) > width:
                    yield shown
                    shown = word
                else:
                    shown += f" {word}"
        yield shown


def _shorten(word: str, width: int) -> str:
    """Return a word without its middle if it is too long."""
    if cell_len(word) <= width:
        return word
    end = (width - 1) // 2
    head = set_cell_size(word, width - 1 - end)
    tail = set_cell_size(word[::-1], end)[::-1]
    return f"{head}{CUT}{tail}".replace(" ", "")  # in place of half a wide character
