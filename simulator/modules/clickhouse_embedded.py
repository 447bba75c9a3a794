"""ClickHouse's engine inside the worker's process (chdb): a folder, and no server.

One process at a time may have the folder open, so there is one worker; the collector has it open
only before and after the worker does.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from simulator.errors import SetupError
from simulator.modules.base import Options
from simulator.modules.clickhouse.database import Clickhouse, TableOptions
from simulator.modules.clickhouse.session import Channel, ClickhouseSession, ServerError

if TYPE_CHECKING:
    from chdb.state.sqlitelike import Connection

_INSTALL = "it needs the package chdb: pip install -r requirements-embedded.txt"


class EmbeddedOptions(TableOptions):
    """Options of the module `clickhouse_embedded`."""

    path: str = Field(
        "results/clickhouse", description="the database's folder, which is made if it is not there"
    )


class ClickhouseEmbedded(Clickhouse):
    """A folder."""

    name = "clickhouse_embedded"
    capabilities = replace(
        Clickhouse.capabilities,
        acknowledged="written as a part of the table, which is not synced to disk unless the "
        "option fsync is set",
        embedded=True,
        max_workers=1,
        limits=(
            "one process at a time has the folder open: one worker",
            Clickhouse.capabilities.limits[0],
        ),
    )
    options_model: ClassVar[type[Options]] = EmbeddedOptions
    options: EmbeddedOptions

    def connect(self) -> ClickhouseSession:
        """Open the folder."""
        try:
            return super().connect()
        except RuntimeError as error:
            raise SetupError(f"{self.name}: {self.options.path}: {self.explain(error)}") from error

    def channel(self) -> Channel:
        """Open the folder; its engine is shared by all channels of this process."""
        try:
            import chdb  # noqa: PLC0415  # 0.5 GB, which is loaded only when it is used
        except ModuleNotFoundError as error:
            raise SetupError(f"{self.name}: {_INSTALL}") from error
        path = str(Path(self.options.path).resolve())
        channel = EmbeddedChannel(chdb.connect(path))  # type: ignore[no-untyped-call]
        for name, value in self.settings.items():
            channel.execute(f"SET {name} = {value}")
        return channel

    def explain(self, error: Exception) -> str:
        """Return an error in the engine's words, with a remedy where one is known."""
        if "EmbeddedServer" in str(error) or "Cannot lock file" in str(error):
            return (
                "the folder cannot be opened: another process has it open, or this user may not "
                "write there; stop the other, or choose another path"
            )
        return super().explain(error)


class EmbeddedChannel(Channel):
    """A connection to the engine in this process."""

    def __init__(self, connection: "Connection") -> None:
        self._connection: Any = connection

    def execute(self, statement: str) -> bytes:
        """Run a statement."""
        try:
            content: bytes = self._connection.query(statement, "TabSeparated").bytes()
        except Exception as error:
            raise ServerError(str(error)) from error
        return content

    def pieces(self, statement: str) -> Iterator[bytes]:
        """Run a statement and yield its output as it comes."""
        try:
            with self._connection.send_query(statement, "TabSeparated") as result:
                for piece in result:
                    yield piece.bytes()
        except RuntimeError as error:
            raise ServerError(str(error)) from error

    def insert(self, into: str, form: str, content: bytes) -> None:
        """Insert rows."""
        try:
            with self._connection.send_insert(into, form) as inserter:
                inserter.append(content)
                inserter.finish()
        except RuntimeError as error:
            raise ServerError(str(error)) from error

    def close(self) -> None:
        """Close the connection; the last one to close lets go of the folder."""
        self.alive = False
        with suppress(Exception):
            self._connection.close()
