"""ClickHouse's engine in the worker's process (chdb), with a folder instead of a server.

Only one process at a time may open the folder, so there is one worker. The collector opens it
before and after the worker.
"""

import os
import sys
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from simulator.errors import InUseError, SetupError
from simulator.host import describe_process
from simulator.modules.clickhouse.database import Clickhouse
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.clickhouse.session import ClickhouseSession, ServerError
from simulator.modules.clickhouse.tables import ClickhouseTables, TableOptions
from simulator.modules.contract import Options

if TYPE_CHECKING:
    from chdb.state.sqlitelike import Connection


class EmbeddedOptions(TableOptions):
    """Options of the module `clickhouse_embedded`."""

    path: str = Field(
        "results/clickhouse", description="the database's folder; created if it does not exist"
    )


class ClickhouseEmbedded(ClickhouseTables):
    """A folder of ClickHouse's engine."""

    name = "clickhouse_embedded"
    urls = ("chdb:PATH",)
    capabilities = replace(
        Clickhouse.capabilities,
        acknowledged="written as a part of the table, which is not synced to disk unless the "
        "option fsync is set",
        embedded=True,
        max_workers=1,
        limits=(
            "only one process at a time can open the folder: one worker",
            "the engine acknowledges rows that it cannot write; verification reports them missing",
            Clickhouse.capabilities.limits[0],
        ),
    )
    options_model: ClassVar[type[Options]] = EmbeddedOptions
    options: EmbeddedOptions

    def connect(self) -> "EmbeddedSession":
        if "chdb" not in sys.modules:
            _read_library()
        import chdb  # 0.5 GB, loaded only when it is used

        path, where = str(Path(self.options.path).resolve()), f"{self.name}: {self.options.path}"
        try:
            session = EmbeddedSession(chdb.connect(path), self.dialect)  # type: ignore[no-untyped-call]
            for name, value in self.settings.items():
                session.execute(f"SET {name} = {value}")
            session.greet()
        except (RuntimeError, ServerError) as error:
            if _is_unopened(error) and os.access(path, os.W_OK):
                raise InUseError(where, _find_holder(path)) from error
            raise SetupError(f"{where}: {self.explain(error)}") from error
        return session

    def words(self, error: Exception) -> str:
        if _is_unopened(error):
            return "cannot open the folder: this user may not write to it; choose another path"
        return super().words(error)


def _is_unopened(error: Exception) -> bool:
    return "EmbeddedServer" in str(error) or "Cannot lock file" in str(error)


def _find_holder(folder: str) -> str:
    """Return the process that has a folder open, or had it open last."""
    with suppress(OSError, ValueError):
        pid = (Path(folder) / "status").read_text().partition("\n")[0].removeprefix("PID: ")
        return describe_process(int(pid))
    return "another process"


def _read_library() -> None:
    """Read the engine's library into the file cache.

    Otherwise the import would hold the interpreter's lock while it reads the library, and a process
    without a heartbeat for that long counts as dead.
    """
    package = find_spec("chdb")
    buffer = bytearray(1 << 20)
    for folder in (package and package.submodule_search_locations) or ():
        for path in Path(folder).glob("_chdb*.so"):
            with path.open("rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass


class EmbeddedSession(ClickhouseSession):
    """A connection to the engine in this process."""

    alive = True

    def __init__(self, connection: "Connection", dialect: ClickhouseDialect) -> None:
        super().__init__(dialect)
        self._connection: Any = connection

    def close(self) -> None:
        self.alive = False
        with suppress(Exception):
            self._connection.close()

    def execute(self, statement: str) -> bytes:
        try:
            content: bytes = self._connection.query(statement, "TabSeparated").bytes()
        except Exception as error:  # chDB raises no narrower class
            raise ServerError(str(error)) from error
        return content

    def read_only(self) -> None:
        self.execute("SET readonly = 2")

    def pieces(self, statement: str) -> Generator[bytes, None, None]:
        try:
            with self._connection.send_query(statement, "TabSeparated") as result:
                for piece in result:
                    yield piece.bytes()
        except RuntimeError as error:
            raise ServerError(str(error)) from error

    def insert(self, into: str, form: str, content: bytes) -> int | None:
        try:
            with self._connection.send_insert(into, form) as inserter:
                inserter.append(content)
                return int(inserter.finish().rows_written)
        except RuntimeError as error:
            raise ServerError(str(error)) from error

    def load(self, into: str, form: str, file: Path) -> int | None:
        try:
            name = self.dialect.text(str(file))
            done = self._connection.query(f"{into} FROM INFILE {name} FORMAT {form}")
        except Exception as error:  # chDB raises no narrower one
            raise ServerError(str(error)) from error
        return int(done.rows_written())
