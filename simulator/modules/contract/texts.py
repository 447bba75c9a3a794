"""Languages in which users write queries.

A text is checked before anything runs: it must be one statement that reads. Parameters become
values of the language, which nothing in them can break.
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
    """A language, for the queries over one table."""

    def __init__(self, table: Table, keys: Sequence[str]) -> None:
        """Store the names under which a user may write a text for it, the most specific first."""
        self.table = table
        self.keys = tuple(dict.fromkeys(keys))

    @property
    @abstractmethod
    def places(self) -> Mapping[str, str]:
        """The values of placeholders for the rows: `table`, and others that the language needs."""

    @abstractmethod
    def with_values(self, text: str, query: TextQuery) -> str:
        """Return the statement for an instance: the text with the instance's values."""

    def choose_text(self, texts: Mapping[str, str]) -> str | None:
        """Return the text for this language, if there is one."""
        return next((texts[key] for key in self.keys if key in texts), None)

    def problem(self, text: str, columns: Collection[str] = ()) -> str:
        """Return why a text is not one statement that reads and answers with these columns.

        Empty if it is. Columns are checked where an answer has them by name, as far as the text
        shows them.
        """
        for name in sorted(placeholders(text) & GIVEN - {*self.places}):
            if name == "table":
                parts = counted(self.table.parts, "table")
                return f"has no {{table}}: the rows are in {parts}; insert with --tables 1"
            return f"has no {{{name}}} ({nearest(name, self.places)})"
        return ""

    def statement(self, query: TextQuery) -> Statement:
        """Return the text with its parameters; KeyError without a text."""
        return Statement(self.with_values(self.text_of(query), query), query.outputs, own=True)

    def text_of(self, query: TextQuery) -> str:
        """Return the query's text for this language; KeyError without one."""
        text = self.choose_text(query.texts)
        if text is None:
            raise KeyError(", ".join(self.keys))
        return text


class StatementLanguage(TextLanguage):
    """A language with literals, in which a parameter is written as one of them."""

    begins: ClassVar[frozenset[str]]
    """First words of statements that read, in lower case."""
    writes: ClassVar[re.Pattern[str]]
    """Pattern of words that appear, outside quotes and comments, only in statements that write."""
    passed_over: ClassVar[re.Pattern[str]]
    """Comments and texts in quotes."""
    one_statement: ClassVar[bool] = True
    """True if a semicolon ends a statement."""

    @abstractmethod
    def literal(self, value: Value) -> str:
        """Return a value as the language writes it."""

    def problem(self, text: str, columns: Collection[str] = ()) -> str:
        """Return why a text is not one statement that reads; empty if it is."""
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
        """Return a text with literals as parameters."""
        values = {name: self.literal(value) for name, value in query.values.items()}
        return fill(text, {**self.places, **values})
