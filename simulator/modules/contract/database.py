"""The class that prepares, describes and measures a target's database, and opens sessions."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import ClassVar, Generic, Self

from typing_extensions import TypeVar

from simulator.data.block import Block
from simulator.data.features import features_of
from simulator.data.own_query import TextQuery
from simulator.data.query import Query, Statement, outputs
from simulator.data.query_type import QueryType
from simulator.data.schema import PrimaryKey, Table
from simulator.errors import BenchError, SetupError, with_remedy
from simulator.modules.contract.abilities import Aggregating, Hashing, OwnStatements
from simulator.modules.contract.options import Options
from simulator.modules.contract.products import KNOWN, expect_own
from simulator.modules.contract.records import (
    EXISTS,
    Alike,
    Capabilities,
    Changes,
    ReadCounters,
    RowCountMismatch,
    Unsupported,
)
from simulator.modules.contract.session import Session
from simulator.modules.contract.signature import Signing
from simulator.modules.contract.texts import TextLanguage
from simulator.protocol.events import Server

_FREE_SPACE = "free disk space"
REFUSED_LOGIN = re.compile(r"; check [^;]*\b(credentials|password|token|api_key)\b")
"""The remedy for refused credentials, in the text of an error."""
_REMEDIES = {"[Aa]lready *[Ee]xists": EXISTS}

Session_co = TypeVar("Session_co", bound=Session, covariant=True, default=Session)


@contextmanager
def all_or_none() -> Iterator[Callable[..., None]]:
    """Yield a function that records how to undo a step; an error runs the recorded undo calls.

    Errors of undo calls are ignored, so that the first error is reported.
    """
    steps: list[Callable[[], object]] = []
    try:
        yield lambda undo, *arguments, **named: steps.append(partial(undo, *arguments, **named))
    except BaseException:  # also Ctrl-C
        for undo in reversed(steps):
            with suppress(Exception):
                undo()
        raise


class Database(OwnStatements, Aggregating, Hashing, Signing, ABC, Generic[Session_co]):
    """One target's database. Constructing it does no I/O.

    The methods that use the server open a new session. They raise SetupError, with the
    server's message and a remedy, or the driver's error.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    options_model: ClassVar[type[Options]]
    urls: ClassVar[tuple[str, ...]] = ()
    """Forms of a URL that names a target, with HOST, its default port and the names of options in
    capitals. Help shows the first one.
    """
    reconnect_s: ClassVar[float] = 5.0
    """Time allowed for replacing a lost connection; longer than a restart of the server."""
    remedies: ClassVar[Mapping[str, str]] = {}
    """Pattern in an error's text -> remedy; the first match counts."""
    own_errors: ClassVar[tuple[type[Exception], ...]] = ()
    """Errors of the module itself, with complete texts."""
    mismatch: ClassVar[str] = "look at the server's log"
    """Remedy if the server acknowledges fewer rows than were sent."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def for_own_tables(self) -> Self:
        """Return this database without the options that name columns of the workload."""
        fields = self.options_model.model_fields
        defaults = {name: fields[name].default for name in self.options.columns}
        return type(self)(self.options.model_copy(update=defaults))

    def insert_mode(self, mode: str) -> str:
        """Return the insert mode in which SINGLE or BATCH is sent with these options."""
        return self.options.sends_by or mode

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        """Return problems that the options alone show; `mode` is SINGLE or BATCH."""
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
        """Raise UnstorableError for rows that the database cannot store (`checks_rows`).

        The first rows of each table are checked before the run starts; `encode` checks all rows.
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

    def explain(self, error: Exception) -> str:
        """Return the text of a driver's error, with a remedy if one is known."""
        return with_remedy(self.words(error), {**self.remedies, **_REMEDIES}, self.remedy(error))

    def already_exists(self, what: str) -> SetupError:
        """Return the error of `create` for something that already exists (`what`: "table x")."""
        return SetupError(f"{self.name}: {what} already exists; {EXISTS}")

    def is_out_of_space(self, error: Exception) -> bool:
        """Return whether the server's disk is full, by the remedy for the error."""
        return _FREE_SPACE in self.explain(error)

    def is_refused_login(self, error: Exception) -> bool:
        """Return whether the server refuses the credentials, judged by the error's remedy."""
        return bool(REFUSED_LOGIN.search(self.explain(error)))

    def remedy(self, error: Exception) -> str | None:
        """Return the remedy if no pattern of `remedies` matches the text."""
        return self.mismatch if isinstance(error, RowCountMismatch) else None

    def words(self, error: Exception) -> str:
        """Return the text of a driver's error."""
        if isinstance(error, (RowCountMismatch, *self.own_errors)):
            return str(error)
        return f"{type(error).__name__}: {error}".strip()

    @abstractmethod
    def describe(self) -> Server:
        """Return version, nodes and effective durability, read from the server."""

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        """Yield a function that reads counters of the server's work, such as {"checkpoints": 3}."""
        yield dict

    def identify(self) -> str:
        """Return an answer of the server that identifies its product, for `recognize`.

        It is empty if no other product speaks the protocol.
        """
        return ""

    def inspect(self) -> Server:
        """Describe the server; ConfigError for another product, SetupError for an old version."""
        if self.name in KNOWN:
            expect_own(self.name, self.identify())
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

    def objects(self, table: Table) -> list[str]:
        """Return the names of the objects that `create` makes for a table, such as its parts."""
        return list(table.names)

    @abstractmethod
    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables; SetupError if an object with one of their names exists.

        A `signed` table gets its signature, if the database can store one.
        """

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create missing secondary indices (`create_indices=true`)."""
        raise Unsupported(f"{self.name} has no secondary indices")

    @property
    def late(self) -> str:
        """The reason in `Capabilities.late` that applies with these options."""
        return self.capabilities.late

    def visible(self, tables: Sequence[Table]) -> None:
        """Return once every acknowledged row is queryable; by default, at once."""

    def compact(self, tables: Sequence[Table]) -> None:
        """Do now the work that the server would do later, such as merging files."""

    @property
    def changes(self) -> Changes:
        """The ways to change stored rows that apply with these options."""
        return self.capabilities.changes

    def drops_until(self, time_ms: int) -> int:
        """Return the latest time until `time_ms` up to which `drop_before` can drop rows, in ms."""
        return time_ms

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the compacted tables and indices on disk; None if unknown."""
        return None

    def render(self, query: Query) -> Statement:
        """Return a query in the database's language; Unsupported if it cannot be expressed."""
        unsupported = self.capabilities.unsupported
        used = [feature for feature in features_of(query) if feature in unsupported]
        if used:
            raise Unsupported("; ".join(f"{each}: {unsupported[each]}" for each in used))
        return self._as_returned(self.translate(query))

    def _as_returned(self, statement: Statement) -> Statement:
        """Return a statement with outputs that describe the floats that the driver returns."""
        can = self.capabilities
        signless = Alike.ZEROS in can.alike
        return statement.with_floats(shortened=can.shortens_float32, signless=signless)

    @abstractmethod
    def translate(self, query: Query) -> Statement:
        """Translate a query without `unsupported` features; Unsupported if that is impossible."""

    def texts(self, table: Table) -> TextLanguage:
        """Return the language of a user's queries over a table; Unsupported if there is none."""
        raise Unsupported(f"the module {self.name} has no language for queries of the user")

    def statement(self, query: Query | TextQuery, tuned: str = "") -> Statement:
        """Return the statement of a query: a user's text, the target's text (`tuned`), or rendered.

        A rendered statement reads aggregates of the table if they answer the query.
        """
        if isinstance(query, TextQuery):
            return self.texts(query.table).statement(query)
        if tuned:
            return self._as_returned(Statement(tuned, outputs(query), tuned=True))
        return self.from_aggregates(query) or self.render(query)

    def select_answered(
        self, types: Mapping[str, QueryType[Query | TextQuery]], tuned: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return the query types that can be expressed; `tuned` maps each to its text, or to ""."""
        found = []
        for name, text in tuned.items():
            with suppress(Unsupported):
                self.statement(types[name].instance(0), text)
                found.append(name)
        return tuple(found)
