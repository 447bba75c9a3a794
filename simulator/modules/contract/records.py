"""The records that modules and their callers exchange."""

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
"""Insert mode: one row per batch."""
BATCH = "batch"
"""Insert mode: the best bulk path of the database."""
IMPORT = "import"
"""Insert mode: the database imports a file, which is written before the clock starts."""
DRIVER = "driver"
DRIVER_COPY = "driver-copy"
"""Insert modes: the vendor's driver sends Python objects, as its documentation advises."""
CORRECT = "correct"
"""Insert mode: a batch of corrected rows, which replace the stored rows with their keys."""

PREFILL_ROWS = 1000
"""Fewest rows per batch of a prefill, unless the module sets another number."""
OWN = "iotbench_"
"""Prefix of the program's internal tables."""
MOST_COUNTED = 1_000_000
"""Rows of an object that is not ours are counted up to this number."""
EXISTS = "run with --clean, which replaces what this program made and names anything else"
"""The remedy if an object that `create` would make exists."""
MISSING = "run an insert first"
"""The remedy if a table does not exist."""


class Failure(StrEnum):
    """The meaning of an error for the rows that were sent."""

    NOT_APPLIED = "not_applied"
    """They are not stored, or replace themselves when they are sent again, which is safe."""
    UNKNOWN = "unknown"
    """They may be stored, so they count as uncertain. Use this when in doubt."""
    FATAL = "fatal"
    """They are not stored, and sending them again cannot succeed."""


class Alike(StrEnum):
    """Two values of a float column that a database may not distinguish."""

    ZEROS = "0.0 and -0.0"
    NULLS = "NULL and NaN"

    def concerns(self, tables: Iterable[Table]) -> bool:
        """Return whether a column of the tables may contain both values."""
        floats = [c for table in tables for c in table.columns if c.type in FLOATS]
        return any(c.nullable or self is Alike.ZEROS for c in floats)


@dataclass(frozen=True, slots=True)
class Changes:
    """A module's ways to change stored rows, and the reasons for missing ways."""

    corrects: str = ""
    """The statement that replaces stored rows, such as "INSERT ... ON CONFLICT"."""
    no_corrections: str = "this module does not replace rows"
    keys: frozenset[PrimaryKey] = frozenset({PrimaryKey.CLIENT})
    """Primary keys with which an inserted row replaces a stored one."""
    merges: bool = False
    """True if a NULL does not replace a stored value; nullable fields are then refused."""
    retags: str = ""
    """The statement that updates a tag in all rows of a series, such as "UPDATE"."""
    no_retags: str = "this module does not update rows"
    deletes: str = ""
    """The statement that deletes rows before a time, such as "DELETE"."""
    no_deletion: str = "this module does not delete rows by their time"
    drops: str = ""
    """The database's special command that drops old rows, such as "drop_chunks"."""
    no_retention: str = "the tables of this module have no unit of storage that can be dropped"

    def how(self, by: Deleting) -> str:
        """Return a description of this way to delete rows; empty if there is no such way."""
        return self.deletes if by is Deleting.STATEMENT else self.drops

    def why_not(self, by: Deleting) -> str:
        """Return why rows cannot be deleted in this way."""
        return self.no_deletion if by is Deleting.STATEMENT else self.no_retention


BY_SERIES = Changes(
    keys=frozenset({PrimaryKey.DB}),
    merges=True,
    no_retags="tags name the series, and a series is not renamed",
)
"""Changes in databases where a row replaces the row with the same series and time."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of a module."""

    modes: Mapping[str, str]
    """Insert mode -> how a batch is sent; SINGLE and BATCH come first."""
    primary_keys: Mapping[PrimaryKey, str]
    """Supported primary key -> how this database generates it."""
    acknowledged: str
    """The meaning of an acknowledgement, in a sentence; `describe` reads the server's settings."""
    oldest: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Product, as named by `describe` -> its oldest supported version."""
    by_version: Mapping[str, str] = field(default_factory=dict)
    """Product -> what the module uses that some versions lack, in a phrase."""
    multiple_tables: bool = True
    mixes_tables: bool = False
    """True if a payload of mode BATCH may contain rows of several tables."""
    formats: frozenset[RecordFormat] = frozenset()
    """File formats with records that the module can send unchanged (`Session.envelope`)."""
    no_import: str = "this module sends rows only in batches"
    """The reason why the module has no mode IMPORT."""
    no_driver: str = "this module does not send rows through the driver"
    """The reason why the module has no option `client`."""
    indices: bool = False
    """True if the database has secondary indices (option `create_indices`)."""
    stores: bool = True
    """False if nothing is stored, verified or queried."""
    checks_rows: bool = False
    """True if `check_rows` detects values that cannot be stored."""
    replaces_rows: bool = False
    """True if a row replaces another row with the same tags and time."""
    separates_fields: bool = False
    """True if fields are stored separately, so that rows with the same tags and time mix values."""
    embedded: bool = False
    """True if all workers open the data as a local file."""
    prefill_rows: int = PREFILL_ROWS
    max_workers: int | None = None
    """Largest number of processes that can open the database at once; None: no limit."""
    unsupported: Mapping[Feature, str] = field(default_factory=dict)
    """Feature of queries that `translate` cannot express -> the reason."""
    late: str = ""
    """The reason why an answer may lack acknowledged rows; empty if it cannot."""
    changes: Changes = field(default_factory=Changes)
    plans: str = ""
    """The statement of `query_plans`, such as "EXPLAIN ANALYZE"; empty if there is none."""
    no_plans: str = "this module does not support query plans"
    """The reason why the module shows no query plans."""
    no_time_sums: str = ""
    """The reason why verification does not sum times; empty: the database sums them exactly."""
    no_wide_sums: str = ""
    """The reason why verification avoids sums beyond 64 bits; empty: the database is exact."""
    in_client: str = ""
    """The client's part of answering queries, beyond the driver: "decodes ..."; empty: none."""
    shortens_float32: bool = False
    """True if the driver returns a float32 with the fewest digits that identify it (20.2)."""
    alike: Mapping[Alike, str] = field(default_factory=dict)
    """Values that the database does not distinguish -> why; `--verify full` ignores the difference.
    """
    limits: tuple[str, ...] = ()
    """Limits of the module or database, one sentence each."""

    @property
    def default_key(self) -> PrimaryKey:
        """The key `db` if it is supported, else the first supported key."""
        keys = self.primary_keys
        return PrimaryKey.DB if PrimaryKey.DB in keys else next(iter(keys))


@dataclass(frozen=True, slots=True)
class Existing:
    """An object that already has a name."""

    kind: str
    """Kind of the object, such as "table", "view" or "bucket"."""
    alike: bool = True
    """True if `create` makes objects of this kind: it may be ours, and `drop` can remove it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The size of an object's contents; None: unknown."""

    rows: int | None = None
    """The number of rows or points, up to MOST_COUNTED + 1."""
    size_bytes: int | None = None
    noun: str = "row"
    """The unit of `rows`."""

    @property
    def is_empty(self) -> bool:
        """True if the object is certainly empty."""
        return self.rows == 0 or (self.rows is None and self.size_bytes == 0)


class Payload(NamedTuple):
    """An encoded batch; only the module interprets `data`. Tuples are created fastest."""

    rows: int
    mode: str
    data: Any
    size_bytes: int | None = None
    """Number of bytes sent, without headers; None if the driver encodes the data."""


ReadCounters: TypeAlias = Callable[[], Mapping[str, int]]
"""Name of an activity -> its count since the server started."""
Encoder: TypeAlias = Callable[[Block, int], Sequence[Any]]
"""Block, batch size -> the data of each payload; UnstorableError if a value cannot be stored."""
Envelope: TypeAlias = Callable[[bytes, int], Any]
"""Encoded rows of a file, their number -> the data of a payload of mode BATCH."""
MixedEncoder: TypeAlias = Callable[[Sequence[Block], Sequence[Rows]], Sequence[Any]]


class Unsupported(Exception):
    """This database cannot express a query; the text gives the reason."""


class RowCountMismatch(Exception):
    """The server reported success for a different number of rows than were sent."""

    def __init__(self, stored: int, sent: int, what: str, answer: str) -> None:
        found = f": {answer}" if answer else ""
        super().__init__(f"the server acknowledged {stored} of {sent} {what}{found}")
        self.stored = stored


def expect_rows(stored: int, sent: int, what: str = "rows", *, answer: str = "") -> None:
    """Raise RowCountMismatch unless the server acknowledged as many rows as were sent.

    `answer` is the server's message about rejected rows.
    """
    if stored != sent:
        raise RowCountMismatch(stored, sent, what, answer)
