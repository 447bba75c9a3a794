"""The statements with which a database answers queries."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

from simulator.data.features import features_of
from simulator.data.own_query import TextQuery
from simulator.data.query import Query, Statement, outputs
from simulator.data.query_type import QueryType
from simulator.data.schema import Table
from simulator.modules.contract.aggregates import Aggregating
from simulator.modules.contract.alike import Alike
from simulator.modules.contract.records import Capabilities, Unsupported
from simulator.modules.contract.texts import TextLanguage


class Answering(Aggregating, ABC):
    """A database that translates queries into its own language."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    def render(self, query: Query) -> Statement:
        """Return the query in the language of the database; Unsupported if it cannot express it."""
        unsupported = self.capabilities.unsupported
        used = [feature for feature in features_of(query) if feature in unsupported]
        if used:
            raise Unsupported("; ".join(f"{each}: {unsupported[each]}" for each in used))
        return self._as_returned(self.translate(query))

    def _as_returned(self, statement: Statement) -> Statement:
        """Return a statement with outputs that show how the driver returns floats."""
        can = self.capabilities
        signless = Alike.ZEROS in can.alike
        return statement.with_floats(shortened=can.shortens_float32, signless=signless)

    @abstractmethod
    def translate(self, query: Query) -> Statement:
        """Return a query without `unsupported` features; Unsupported if it has no translation."""

    def texts(self, table: Table) -> TextLanguage:
        """Return the language of a user's own queries over a table; Unsupported if it has none."""
        raise Unsupported(f"the module {self.name} takes no texts")

    def statement(self, query: Query | TextQuery, tuned: str = "") -> Statement:
        """Return the statement of a query: a user's text, the target's (`tuned`), or rendered.

        Aggregates of the tables answer what they can; `render` reads the rows.
        """
        if isinstance(query, TextQuery):
            return self.texts(query.table).statement(query)
        if tuned:
            return self._as_returned(Statement(tuned, outputs(query), tuned=True))
        return self.from_aggregates(query) or self.render(query)

    def select_answered(
        self, types: Mapping[str, QueryType[Query | TextQuery]], tuned: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return the query types of `tuned` (name -> own text or empty) that it can express."""
        found = []
        for name, text in tuned.items():
            with suppress(Unsupported):
                self.statement(types[name].instance(0), text)
                found.append(name)
        return tuple(found)
