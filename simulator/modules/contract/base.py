"""The contract between the benchmark and a database.

A module has one Database and one Session. The collector uses the Database to prepare, compact and
measure the tables; each worker opens a Session from it to insert or to query.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeAlias

from typing_extensions import TypeVar

from simulator.data.block import Block, Rows
from simulator.data.features import Feature, features_of
from simulator.data.own_query import TextQuery
from simulator.data.query import Query, Statement, outputs
from simulator.data.query_type import QueryType
from simulator.data.records import RecordFormat
from simulator.data.schema import PrimaryKey, Table
from simulator.errors import BenchError, SetupError
from simulator.modules.contract.aggregates import Aggregating
from simulator.modules.contract.alike import Alike
from simulator.modules.contract.changes import Changes, Changing
from simulator.modules.contract.hashing import Hashing
from simulator.modules.contract.login import Login
from simulator.modules.contract.options import Options
from simulator.modules.contract.own_statements import OwnStatements
from simulator.modules.contract.query_plans import Explaining
from simulator.modules.contract.signature import Signing
from simulator.modules.contract.texts import TextLanguage
from simulator.modules.contract.waits import Waits
from simulator.modules.contract.wording import Wording

SINGLE = "single"
"""Insert mode: one row per batch, each acknowledged on its own."""
BATCH = "batch"
"""Insert mode: the best bulk path of the database."""
IMPORT = "import"
"""Insert mode: the database's own import of a file, which is written before the clock starts."""
DRIVER = "driver"
DRIVER_COPY = "driver-copy"
"""Insert modes: Python objects, which the vendor's driver sends as its documentation advises."""

PREFILL_ROWS = 1000
"""Rows per batch of a prefill, at least, unless the module has other ones."""
OWN = "iotbench_"
"""Prefix of the program's internal tables."""


class Failure(StrEnum):
    """The meaning of an error of `send` for the rows that were sent."""

    NOT_APPLIED = "not_applied"
    """They are certainly not stored, or replace what is stored of them; send them again."""
    UNKNOWN = "unknown"
    """They may be stored; they count as uncertain. Use this when in doubt."""
    FATAL = "fatal"
    """They are not stored, and a retry cannot succeed."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of a module, as plain data."""

    modes: Mapping[str, str]
    """Insert mode -> how one batch is sent; SINGLE and BATCH first, IMPORT if it has one."""
    primary_keys: Mapping[PrimaryKey, str]
    """Supported primary key -> how this database generates it."""
    acknowledged: str
    """The meaning of an acknowledgement, in a sentence; `describe` reads the server's settings."""
    oldest: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Product, as `describe` names it -> its oldest supported version."""
    multiple_tables: bool = True
    mixes_tables: bool = False
    """True if a payload of mode BATCH can have rows of several tables of a group."""
    formats: frozenset[RecordFormat] = frozenset()
    """File formats with records that the module sends unchanged (`Session.envelope`)."""
    no_import: str = "this module knows none beside its batches"
    """The reason why there is no mode IMPORT."""
    no_driver: str = "this module has only its own way to send rows"
    """The reason why the vendor's driver cannot send rows; there is no option `client`."""
    indices: bool = False
    """True if there are secondary indices (option `create_indices`)."""
    stores: bool = True
    """False if nothing is stored, so that nothing can be verified or queried."""
    checks_rows: bool = False
    """True if `check_rows` knows without a server that a value cannot be stored."""
    replaces_rows: bool = False
    """True if a row replaces another one that has the same tags and time."""
    separates_fields: bool = False
    """True if each field is stored apart: rows with the same tags and time mix their values."""
    embedded: bool = False
    """True if the data is a local file that all workers open."""
    prefill_rows: int = PREFILL_ROWS
    max_workers: int | None = None
    """Largest number of processes that can have it open at once; None: any number."""
    unsupported: Mapping[Feature, str] = field(default_factory=dict)
    """Feature of queries that `translate` does not express -> why not."""
    late: str = ""
    """The reason why an answer may lack rows acknowledged before it began; empty: it has them."""
    changes: Changes = field(default_factory=Changes)
    plans: str = ""
    """The statement of `query_plans`, such as "EXPLAIN ANALYZE"; empty: it has none."""
    no_plans: str = "this module does not ask for them"
    """The reason why there are no query plans."""
    no_time_sums: str = ""
    """The reason why verification does not add up times; empty: the database does, exactly."""
    no_wide_sums: str = ""
    """The reason why verification adds up no integers or times beyond 64 bits; empty: it does."""
    in_client: str = ""
    """Work of the client to answer queries, beyond the driver's: "decodes ..."; empty: none."""
    shortens_float32: bool = False
    """True if the driver returns a float32 with the fewest digits that name it (20.2)."""
    alike: Mapping[Alike, str] = field(default_factory=dict)
    """Values that the database stores or returns as one -> why, as `full` does not see that."""
    limits: tuple[str, ...] = ()
    """Limits of the module or database, one sentence each."""

    @property
    def default_key(self) -> PrimaryKey:
        """The key `db`, or the first one supported."""
        keys = self.primary_keys
        return PrimaryKey.DB if PrimaryKey.DB in keys else next(iter(keys))


@dataclass(frozen=True, slots=True)
class Server:
    """The description of a server."""

    version: str
    nodes: int
    durability: str
    """The meaning of an acknowledgement with the server's settings, in a sentence."""
    durable: bool | None
    """True if an acknowledged row survives a power cut; None if unknown."""
    settings: Mapping[str, str] = field(default_factory=dict)
    buffer_bytes: int | None = None
    """Memory in which the server caches pages of tables; None if the server does not report it."""
    survives_failover: bool | None = None
    """True if the replica that replaces a lost node has each acknowledged row; None: unknown."""


class Payload(NamedTuple):
    """An encoded batch; only the module interprets `data`. A tuple is made fastest."""

    rows: int
    mode: str
    data: Any
    size_bytes: int | None = None
    """The bytes of `data` as they are sent, without headers; None if the driver makes them."""


ReadCounters: TypeAlias = Callable[[], Mapping[str, int]]
"""Name -> how often the server has done it since it started."""
Encoder: TypeAlias = Callable[[Block, int], Sequence[Any]]
"""Block, batch size -> the data of each payload; UnstorableError if a value cannot be stored."""
Envelope: TypeAlias = Callable[[bytes, int], Any]
"""Encoded rows of a file, their number -> the data of a payload of mode BATCH."""
MixedEncoder: TypeAlias = Callable[[Sequence[Block], Sequence[Rows]], Sequence[Any]]


class Session(Login, Waits, Explaining, Changing):
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

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        """Return the encoder of payloads that hold the rows of each block between two edges."""
        raise NotImplementedError

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return what makes records of a file, which are rows of these tables, a payload's data."""
        raise NotImplementedError

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

        Data is bytes or a file, or a tuple that ends with one of them, such as path and body.
        """
        body = data[-1] if isinstance(data, tuple) else data
        if isinstance(body, bytes | bytearray | memoryview):
            return len(body)
        return body.stat().st_size if isinstance(body, Path) else None

    @abstractmethod
    def send(self, payload: Payload) -> None:
        """Send one payload; return once it is acknowledged. Raises the driver's own errors."""

    def gave_up(self, error: Exception) -> bool:
        """Return whether the server refused a query of `run` only for its size or time."""
        return False

    @property
    def in_flight(self) -> int:
        """Return how many payloads may be in flight at once; more than 1 requires `begin`."""
        return 1

    @property
    def makes_objects(self) -> bool:
        """True if payloads are Python objects, which are slow to prepare far ahead."""
        return False

    def begin(self, payload: Payload, done: Callable[[Exception | None], None]) -> None:
        """Send one payload without waiting.

        `done` is called once, on any thread, at the latest when the session is closed: with None
        for an acknowledgement, or with the error. An exception raised here has the same meaning.
        """
        raise NotImplementedError

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


class Unsupported(Exception):
    """This database cannot express a query; the text gives the reason."""


Session_co = TypeVar("Session_co", bound=Session, covariant=True, default=Session)


class Database(OwnStatements, Aggregating, Hashing, Signing, Wording, ABC, Generic[Session_co]):
    """One target's database. Constructing it does no I/O.

    The methods that use the server open a new session. They raise SetupError, with the
    server's message and a remedy, or the driver's error.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    options_model: ClassVar[type[Options]]
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

    @abstractmethod
    def describe(self) -> Server:
        """Return version, nodes and effective durability, read from the server."""

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        """Open what reads counters of the server's own work, such as {"checkpoints": 3}."""
        yield dict

    def inspect(self) -> Server:
        """Describe the server; SetupError if it is too old for the module."""
        server = self.describe()
        self.expect_recent(server.version)
        return server

    def expect_recent(self, version: str) -> None:
        """Raise SetupError if the version that `describe` returns is too old."""
        for product, oldest in self.capabilities.oldest.items():
            found = re.search(rf"\b{product} (\d+(?:\.\d+)*)", version)
            if found and tuple(map(int, found[1].split("."))) < oldest:
                needed = ".".join(map(str, oldest))
                why = f"the server is {found[0]}, which is too old; it must be {needed} or newer"
                raise SetupError(f"{self.name}: {why}")

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
