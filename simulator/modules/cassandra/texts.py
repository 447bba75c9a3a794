"""A user's own queries in CQL: prepared statements with parameters that the driver binds."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from simulator.data.own_query import PLACEHOLDER, Instant, TextQuery, Value
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.modules.cassandra import query as cql
from simulator.modules.contract import StatementLanguage
from simulator.modules.shared.sql.language import literal


@dataclass(frozen=True, slots=True)
class PreparedText(Statement):
    """A user's statement: `text` shows the values, `prepared` has question marks for them."""

    prepared: str = ""


class CqlTexts(StatementLanguage):
    """CQL over one table."""

    begins = frozenset({"select"})
    writes = re.compile(r"\b(insert|update|delete|truncate|drop|alter|create|batch)\b")
    passed_over = re.compile(
        r"""--[^\n]*|//[^\n]*|/\*.*?\*/|\$\$.*?\$\$|'[^']*'|"[^"]*\"""", re.DOTALL
    )

    def __init__(self, keyspace: str, table: Table, keys: Sequence[str]) -> None:
        super().__init__(table, keys)
        self._keyspace = keyspace

    @property
    def places(self) -> Mapping[str, str]:
        """The table with its keyspace, if its rows are in one table: CQL has no UNION."""
        if self.table.parts > 1:
            return {}
        return {"table": cql.full_name(self._keyspace, self.table.name)}

    def problem(self, text: str, columns: Collection[str] = ()) -> str:
        """Return why a text is not one statement that reads; empty if it is."""
        if "?" in self.passed_over.sub(" ", text):
            return "has a ?; write parameters as {name}"
        return super().problem(text, columns)

    def literal(self, value: Value) -> str:
        return literal(value) if isinstance(value, str) else repr(self._convert(value))

    def statement(self, query: TextQuery) -> PreparedText:
        """Return the text with a question mark for each value; KeyError without a text."""
        text, places = self.text_of(query), self.places
        used = [found[1] for found in PLACEHOLDER.finditer(text) if found[1] not in places]
        return PreparedText(
            self.with_values(text, query),
            query.outputs,
            parameters=tuple(self._convert(query.values[name]) for name in used),
            own=True,
            prepared=PLACEHOLDER.sub(lambda found: places.get(found[1], "?"), text),
        )

    def _convert(self, value: Value) -> int | float | str:
        """Return a value for the driver; an instant is in the unit of the time column."""
        if not isinstance(value, Instant):
            return value
        return cql.convert_instant(value.value, self.table.time, self.table.time_unit)
