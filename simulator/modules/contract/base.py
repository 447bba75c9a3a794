"""The contract between the benchmark and a database.

A module has one Database and one Session. The collector uses the Database to prepare, compact and
measure the tables; each worker opens a Session from it to insert or to query.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self

from typing_extensions import TypeVar

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import PrimaryKey, Table
from simulator.errors import BenchError, SetupError
from simulator.modules.contract.answering import Answering
from simulator.modules.contract.changes import Changes, Changing
from simulator.modules.contract.describing import Describing
from simulator.modules.contract.hashing import Hashing
from simulator.modules.contract.login import Login
from simulator.modules.contract.options import Options
from simulator.modules.contract.own_statements import OwnStatements
from simulator.modules.contract.query_plans import Explaining
from simulator.modules.contract.records import (
    Capabilities,
    Encoder,
    Failure,
    Payload,
    Unsupported,
)
from simulator.modules.contract.sending import Sending
from simulator.modules.contract.signature import Signing
from simulator.modules.contract.waits import Waits
from simulator.modules.contract.wording import Wording


class Session(Login, Waits, Sending, Explaining, Changing):
    """One connection; a context manager that closes it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close the connection; never raises, even if it is already broken."""

    def encode(self, block: Block, mode: str, batch_rows: int) -> Sequence[Payload]:
        """Return the block cut into payloads of `batch_rows` rows (the last may be smaller).

        CPU only, no I/O: its time counts as the client's. A block is much larger than a small
        batch, so that encoding is vectorised whatever the batch size.
        """
        key = (block.name, mode)
        encoder = self._known_encoders.get(key)
        if encoder is None:
            encoder = self._known_encoders[key] = self.encoder(block.table, block.name, mode)
        whole, rest = divmod(len(block), batch_rows)
        rows = [batch_rows] * whole + [rest] * bool(rest)
        size_of = self.size_of
        return [
            Payload(count, mode, data, size_of(data))
            for count, data in zip(rows, encoder(block, batch_rows), strict=True)
        ]

    @cached_property
    def _known_encoders(self) -> dict[tuple[str, str], Encoder]:
        return {}

    @abstractmethod
    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return the encoder of one physical table; the session keeps it.

        In mode IMPORT the data of a payload is a tuple that ends with bytes. Those of all blocks
        are written to one file, and `send` gets the tuple with its path in place of the bytes.
        """

    def size_of(self, data: Any) -> int | None:
        """Return how many bytes of a payload's data are sent; None if the driver makes them.

        Data is bytes or a file, a list of such, or a tuple that ends with one of these, such as
        path and body.
        """
        body = data[-1] if isinstance(data, tuple) else data
        if isinstance(body, list):
            is_known = bool(body) and self.size_of(body[0]) is not None
            return sum(self.size_of(each) or 0 for each in body) if is_known else None
        if isinstance(body, bytes | bytearray | memoryview):
            return len(body)
        return body.stat().st_size if isinstance(body, Path) else None

    @abstractmethod
    def send(self, payload: Payload) -> None:
        """Send one payload; return once it is acknowledged. Raises the driver's own errors."""

    def gave_up(self, error: Exception) -> bool:
        """Return whether the server refused a query of `run` only for its size or time."""
        return False

    @abstractmethod
    def classify(self, error: Exception) -> Failure:
        """Return what an error of the last `send`, or of `done`, means for its rows."""

    @abstractmethod
    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and return every row, as the driver returns it.

        Python's work on the answer, beyond the driver's, is done within `in_client`,
        and `Capabilities.in_client` describes it.
        """

    def read_only(self) -> None:
        """Make the database refuse writes from now on; do nothing where it has no such state."""

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield portions of about `rows` rows, in bounded memory."""
        result = self.run(statement)
        for start in range(0, len(result), rows):
            yield result[start : start + rows]


Session_co = TypeVar("Session_co", bound=Session, covariant=True, default=Session)


class Database(
    OwnStatements, Answering, Describing, Hashing, Signing, Wording, ABC, Generic[Session_co]
):
    """One target's database. Constructing it does no I/O.

    The methods that use the server open a new session. They raise SetupError, with the
    server's message and a remedy, or the driver's error.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    options_model: ClassVar[type[Options]]
    urls: ClassVar[tuple[str, ...]] = ()
    """Forms of a URL that is a target: the scheme, HOST with the default port, and the names of the
    options before and after it, in capitals. The first one is shown in help.
    """
    reconnect_s: ClassVar[float] = 5.0
    """Time for replacing a lost connection: longer than a restart takes."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def for_own_tables(self) -> Self:
        """Return the same database without options that name columns of the workload."""
        fields = self.options_model.model_fields
        defaults = {name: fields[name].default for name in self.options.columns}
        return type(self)(self.options.model_copy(update=defaults))

    def insert_mode(self, mode: str) -> str:
        """Return the insert mode that the options make of SINGLE or BATCH."""
        return self.options.sends_by or mode

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        """Return what cannot work, before anything is started; `mode` is SINGLE or BATCH."""
        found = []
        known = self.capabilities.primary_keys
        if (client := self.options.sends_by) not in {"", *self.capabilities.modes}:
            found.append(f"client={client}: {self.name} has no such way to send rows; use driver")
        if key not in known:
            can = ", ".join(known)
            found.append(f"--primary-key: {self.name} has no {key!s} key; it has: {can}")
        if parts > 1 and not self.capabilities.multiple_tables:
            found.append(f"--tables: {self.name} cannot write to multiple tables; use single")
        return found

    def check_rows(self, block: Block) -> None:
        """Raise UnstorableError for rows that it cannot store (`checks_rows`).

        Called with the first rows of each table before anything is started; `encode` checks all.
        """

    @abstractmethod
    def connect(self) -> Session_co:
        """Open a connection; SetupError if that fails."""

    @contextmanager
    def administration(self) -> Iterator[Session_co]:
        """Open an administration session; a driver's error becomes a SetupError."""
        try:
            with self.connect() as session:
                yield session
        except (BenchError, Unsupported):
            raise
        except Exception as error:  # of any driver
            raise self.setup_error(error) from error

    def setup_error(self, error: Exception) -> SetupError:
        """Return a driver's error as a SetupError, without credentials."""
        return SetupError(f"{self.name}: {self.options.redact(self.explain(error))}")

    def objects(self, table: Table) -> list[str]:
        """Return the names of what `create` makes for a table: of its parts, its bucket, ..."""
        return list(table.names)

    @abstractmethod
    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables; SetupError if one of them, or anything of its name, exists.

        A table that is `signed` gets its signature, if there is a place for it.
        """

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create missing secondary indices (`create_indices=true`)."""
        raise Unsupported(f"{self.name} has no secondary indices")

    @property
    def late(self) -> str:
        """The same with these options."""
        return self.capabilities.late

    def visible(self, tables: Sequence[Table]) -> None:
        """Return once every acknowledged row is queryable; by default it is at once."""

    def compact(self, tables: Sequence[Table]) -> None:
        """Do what the server would do later: merge the storage, collect statistics; or nothing."""

    @property
    def changes(self) -> Changes:
        """Return how stored rows are changed, with these options."""
        return self.capabilities.changes

    def drops_until(self, time_ms: int) -> int:
        """Return up to which time, in ms, `drop_before` can drop rows; at most `time_ms`."""
        return time_ms

    @abstractmethod
    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size on disk of the tables and their indices, compacted; None if unknown."""
