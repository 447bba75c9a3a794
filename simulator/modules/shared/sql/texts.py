"""A user's queries in SQL."""

import re
from collections.abc import Mapping, Sequence

from simulator.data.own_query import Instant, Value
from simulator.data.schema import Table, Type
from simulator.modules.contract import StatementLanguage
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.language import Dialect


class SqlTexts(StatementLanguage):
    """A user's queries in SQL over one table."""

    begins = frozenset({"select", "with", "values"})
    writes = re.compile(r"\b(insert|update|delete|merge|into|drop|alter|create|truncate)\b")
    passed_over = re.compile(r"""--[^\n]*|/\*.*?\*/|'[^']*'|"[^"]*"|`[^`]*`""", re.DOTALL)

    def __init__(self, dialect: Dialect, table: Table, keys: Sequence[str]) -> None:
        super().__init__(table, [*keys, "sql"])
        self._dialect = dialect

    @property
    def places(self) -> Mapping[str, str]:
        return {"table": queries.from_operand(self._dialect, self.table)}

    def literal(self, value: Value) -> str:
        """Return a value as the dialect writes it; in parentheses, a sign begins no comment."""
        match value:
            case Instant():
                if self.table.time.type is Type.TIMESTAMP:
                    return self._dialect.instant(value.value, self.table.time_unit)
                return f"({value.value})" if value.value < 0 else str(value.value)
            case str():
                return self._dialect.text(value)
            case _:
                return f"({value!r})" if value < 0 else repr(value)
