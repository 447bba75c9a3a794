"""The records that modules and their callers exchange: abilities, servers, payloads, failures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from simulator.data.block import Block, Rows
from simulator.data.changes import Deleting
from simulator.data.features import Feature
from simulator.data.schema import FLOATS, PrimaryKey, Table
from simulator.protocol.records import RecordFormat

SINGLE = "single"
"""Insert mode: one row per batch, each acknowledged on its own."""
BATCH = "batch"
"""Insert mode: the best bulk path of the database."""
IMPORT = "import"
"""Insert mode: the database's own import of a file, which is written before the clock starts."""
DRIVER = "driver"
DRIVER_COPY = "driver-copy"
"""Insert modes: Python objects, which the vendor's driver sends as its documentation advises."""
CORRECT = "correct"
"""Insert mode: a batch of rows, each in the place of the stored row that has its key."""

PREFILL_ROWS = 1000
"""Fewest rows per batch of a prefill, unless the module sets another number."""
OWN = "iotbench_"
"""Prefix of the program's internal tables."""
MOST_COUNTED = 1_000_000
"""Largest number of rows that is counted in an object that is not ours."""
EXISTS = "run with --clean, which replaces what this program made and names anything else"
"""The remedy if something exists that `create` would make."""
MISSING = "run an insert first"
"""The remedy if a table does not exist."""


class Failure(StrEnum):
    """The meaning of an error of `send` for the rows that were sent."""

    NOT_APPLIED = "not_applied"
    """They are certainly not stored, or replace what is stored of them; send them again."""
    UNKNOWN = "unknown"
    """They may be stored; they count as uncertain. Use this when in doubt."""
    FATAL = "fatal"
    """They are not stored, and a retry cannot succeed."""


class Alike(StrEnum):
    """Two values of a column of floats."""

    ZEROS = "0.0 and -0.0"
    NULLS = "NULL and NaN"

    def concerns(self, tables: Iterable[Table]) -> bool:
        """Return whether a column of the tables can have both values."""
        floats = [c for table in tables for c in table.columns if c.type in FLOATS]
        return any(c.nullable or self is Alike.ZEROS for c in floats)


@dataclass(frozen=True, slots=True)
class Changes:
    """A module's ways to change stored rows, and the reasons where it has none."""

    corrects: str = ""
    """The statement that replaces stored rows, such as "INSERT ... ON CONFLICT"."""
    no_corrections: str = "this module does not replace rows"
    keys: frozenset[PrimaryKey] = frozenset({PrimaryKey.CLIENT})
    """Primary keys of the tables in which rows take the place of others."""
    merges: bool = False
    """True if a NULL leaves the stored value in its place, so that nullable fields are refused."""
    retags: str = ""
    """The statement that updates a tag of all rows of a series, such as "UPDATE"."""
    no_retags: str = "this module does not update rows"
    deletes: str = ""
    """The statement that deletes rows before a time, such as "DELETE"."""
    no_deletion: str = "this module does not delete rows by their time"
    drops: str = ""
    """The database's special command that drops such rows, such as "drop_chunks"."""
    no_retention: str = "the tables of this module have no unit of storage that can be dropped"

    def how(self, by: Deleting) -> str:
        """Return how rows before a time are deleted; empty: not in this way."""
        return self.deletes if by is Deleting.STATEMENT else self.drops

    def why_not(self, by: Deleting) -> str:
        """Return why rows before a time are not deleted in this way."""
        return self.no_deletion if by is Deleting.STATEMENT else self.no_retention


BY_SERIES = Changes(
    keys=frozenset({PrimaryKey.DB}),
    merges=True,
    no_retags="tags name the series, and a series is not renamed",
)
"""Changes where a row replaces another row with the same series and time."""


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
    no_import: str = "this module sends rows only in batches"
    """The reason why there is no mode IMPORT."""
    no_driver: str = "this module does not send rows through the driver"
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
    no_plans: str = "this module does not support query plans"
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


@dataclass(frozen=True, slots=True)
class Existing:
    """An object that already has a name."""

    kind: str
    """Such as "table", "view" or "bucket"."""
    alike: bool = True
    """True if `create` makes such objects: it may be ours, and `drop` can remove it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Size of an object's contents; None: unknown."""

    rows: int | None = None
    """Up to MOST_COUNTED + 1; or points, where there are no rows."""
    size_bytes: int | None = None
    noun: str = "row"
    """The unit of the count."""

    @property
    def is_empty(self) -> bool:
        """True if it is certain that nothing is stored."""
        return self.rows == 0 or (self.rows is None and self.size_bytes == 0)


class QueryPlan(NamedTuple):
    """The plan of one statement."""

    statement: str
    text: str
    """The plan as the database returns it."""
    shape: str
    """The plan without what differs between two runs of it: figures, literals, generated names."""


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


class Unsupported(Exception):
    """This database cannot express a query; the text gives the reason."""


class RowCountMismatch(Exception):
    """The server reported success for another number of rows than were sent."""

    def __init__(self, stored: int, sent: int, what: str, answer: str) -> None:
        found = f": {answer}" if answer else ""
        super().__init__(f"the server acknowledged {stored} of {sent} {what}{found}")
        self.stored = stored


def expect_rows(stored: int, sent: int, what: str = "rows", *, answer: str = "") -> None:
    """Raise RowCountMismatch unless the server acknowledged as many rows as were sent.

    `answer` is the server's message about the others.
    """
    if stored != sent:
        raise RowCountMismatch(stored, sent, what, answer)
