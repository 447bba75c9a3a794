"""Statements of the user's own, which create and drop what belongs to the tables."""

from collections.abc import Sequence
from typing import ClassVar

from simulator.data.schema import Table
from simulator.modules.contract.records import Server


class OwnStatements:
    """A database that carries out statements of the user (`--setup`, `--teardown`)."""

    no_statements: ClassVar[str] = "this module carries out no statements of others"
    """The reason why the module carries out no statements of the user; empty: it does."""

    def carry_out(self, statement: str) -> None:
        """Carry out one statement, which may be a complete transaction."""
        raise NotImplementedError

    def describe_stored(self, server: Server, tables: Sequence[Table]) -> Server | None:
        """Return a description of the server with the durability that these tables have now.

        None: the database does not report it, so that a user's statement may have changed it.
        """
        return None
