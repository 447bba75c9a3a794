"""Languages in which users write queries.

A text is checked before anything runs: it must be one statement that only reads. Parameters become
values of the language, whatever characters they contain.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from simulator.data.own_query import GIVEN, TextQuery, Value, fill, placeholders
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.errors import counted, nearest


class TextLanguage(ABC):
    """A language of queries over one table."""

    def __init__(self, table: Table, keys: Sequence[str]) -> None:
        """Store the keys of a user's text for this language, the most specific first."""
        self.table = table
        self.keys = tuple(dict.fromkeys(keys))

    @property
    @abstractmethod
    def places(self) -> Mapping[str, str]:
        """The values of placeholders that name the rows, such as `table`."""

    @abstractmethod
    def with_values(self, text: str, query: TextQuery) -> str:
        """Return the statement of an instance of a query: the text with its values."""

    def choose_text(self, texts: Mapping[str, str]) -> str | None:
        """Return the text for this language, or None."""
        return next((texts[key] for key in self.keys if key in texts), None)

    def problem(self, text: str, columns: Collection[str] = ()) -> str:
        """Return why a text is not one statement that reads and yields these columns, or "".

        Columns are checked if answers name them and the text shows their names.
        """
        for name in sorted(placeholders(text) & GIVEN - {*self.places}):
            if name == "table":
                parts = counted(self.table.parts, "table")
                return f"has no {{table}}: the rows are in {parts}; insert with --tables 1"
            return f"has no {{{name}}} ({nearest(name, self.places)})"
        return ""

    def statement(self, query: TextQuery) -> Statement:
        """Return the query's statement; KeyError if it has no text for this language."""
        return Statement(self.with_values(self.text_of(query), query), query.outputs, own=True)

    def text_of(self, query: TextQuery) -> str:
        """Return the query's text for this language; KeyError if the query has none."""
        text = self.choose_text(query.texts)
        if text is None:
            raise KeyError(", ".join(self.keys))
        return text


class StatementLanguage(TextLanguage):
    """A language in which parameters are written as literals."""

    begins: ClassVar[frozenset[str]]
    """First words of reading statements, in lower case."""
    writes: ClassVar[re.Pattern[str]]
    """Pattern of words that appear only in writing statements, outside quotes and comments."""
    passed_over: ClassVar[re.Pattern[str]]
    """Pattern of comments and quoted texts."""
    one_statement: ClassVar[bool] = True
    """True if a semicolon ends a statement."""

    @abstractmethod
    def literal(self, value: Value) -> str:
        """Return a value as a literal."""

    def problem(self, text: str, columns: Collection[str] = ()) -> str:
        if re.search(r"""\\['"`]""", text) and self.one_statement:
            return "has a quote after a backslash, which databases read differently; double it"
        bare = self.passed_over.sub(" ", text).strip().rstrip(";").lower()
        first = re.match(r"[a-z_]+", bare.lstrip("( \n"))
        if not first or first[0] not in self.begins:
            return f"must begin with one of {', '.join(sorted(self.begins))}"
        if self.one_statement and ";" in bare:
            return "must be one statement, found ';' before its end"
        if found := self.writes.search(bare):
            return f"must only read, found {found[0]!r}"
        for span in self.passed_over.finditer(text):
            for name in sorted(placeholders(span[0])):
                return f"{{{name}}} is in quotes or in a comment; a value brings its own quotes"
        return super().problem(text, columns)

    def with_values(self, text: str, query: TextQuery) -> str:
        values = {name: self.literal(value) for name, value in query.values.items()}
        return fill(text, {**self.places, **values})
