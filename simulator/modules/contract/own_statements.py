"""Statements of the user's own, which create and drop what belongs to the tables."""

from typing import ClassVar


class OwnStatements:
    """A database that carries out statements of the user (`--setup`, `--teardown`)."""

    no_statements: ClassVar[str] = "this module carries out no statements of others"
    """The reason why the module carries out no statements of the user; empty: it does."""

    def carry_out(self, statement: str) -> None:
        """Carry out one statement, which may be a complete transaction."""
        raise NotImplementedError
