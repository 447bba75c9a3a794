"""Abilities that only some modules have; `Capabilities` lists them, and the reasons for gaps.

Each class is a base of `Session` or `Database`; a module without the ability does not override it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field, field_validator

from simulator.data.dataset import Retag
from simulator.data.query import Query, Statement
from simulator.data.row_hash import RowHash
from simulator.data.schema import Table
from simulator.modules.contract.options import Options
from simulator.modules.contract.records import CORRECT, Envelope, MixedEncoder, Payload
from simulator.protocol.events import QueryPlan, Server
from simulator.protocol.records import RecordFormat

_DAY_S = 86_400


class Sending:
    """A session that may send rows of several tables or of a file, or payloads concurrently."""

    in_flight: int = 1
    """Largest number of payloads in flight at once; more than 1 requires `begin`."""
    makes_objects: bool = False
    """True if payloads are Python objects, which become slow when many are prepared ahead."""

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        """Return the encoder of payloads that mix rows of several tables."""
        raise NotImplementedError

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return the envelope that turns a file's records into payloads, for these tables."""
        raise NotImplementedError

    def begin(self, payload: Payload, done: Callable[[Exception | None], None]) -> None:
        """Send one payload without waiting.

        `done` is called once, on any thread, no later than `close`: with None for an
        acknowledgement, or with the error. An exception raised here has the same meaning.
        """
        raise NotImplementedError


class Changing:
    """A session that changes stored rows."""

    correcting: ClassVar[str] = CORRECT
    """The insert mode of corrected rows: BATCH if any inserted row replaces a stored one."""

    def delete_before(self, table: Table, until: int) -> None:
        """Delete the rows before a time, in the table's unit; return once they are gone."""
        raise NotImplementedError

    def retag(self, table: Table, retag: Retag, name: str) -> int:
        """Update a tag in all rows of a series; return the number of rows."""
        raise NotImplementedError

    def drop_before(self, table: Table, until: int) -> None:
        """Drop rows by the database's special command, up to `Database.drops_until`."""
        raise NotImplementedError


class Explaining:
    """A session that can show query plans."""

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of each statement that answers a query (`Capabilities.plans`), in order.

        A plan is fetched when the caller asks for it. Raises Unsupported for a statement that the
        database cannot explain.
        """
        raise NotImplementedError


class OwnStatements:
    """A database that runs statements of the user (`--setup`, `--teardown`)."""

    no_statements: ClassVar[str] = "this module runs no statements of the user"
    """Reason why the module cannot run a user's statements; empty if it can."""

    def carry_out(self, statement: str) -> None:
        """Run one statement, which may be a complete transaction."""
        raise NotImplementedError

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        """Return the server's description with the current durability of these tables.

        None: the database does not report it; a user's statement may have changed it.
        """
        return None


class Hashing:
    """A database that may compute hashes of rows."""

    row_hash: ClassVar[RowHash | None] = None
    """Hash that queries for hashed rows use; None: the database computes none."""
    no_row_hash: ClassVar[str] = "this module has no hash of rows that its database computes"
    """Reason why the database computes no hash."""
    hash_probe: ClassVar[str] = ""

    def probe(self) -> Statement:
        """Return the statement that yields `RowHash.known` on a server with the hash functions."""
        return Statement(self.hash_probe, ())


def intervals(how: str) -> Any:
    """Return the option for intervals; `how` begins its description, with a verb."""
    return Field(
        "",
        pattern=r"^(\d{1,5}(,\d{1,5})*)?$",
        description=f"{how}, over these intervals in seconds, such as 60,3600, and let queries read"
        " them; each divides a day of 86,400 s",
    )


class AggregateOptions(Options):
    """Options of a module that can keep aggregates."""

    columns: ClassVar[tuple[str, ...]] = ("aggregate_intervals_s",)
    aggregate_intervals_s: str = intervals("keep aggregates of each table")

    @field_validator("aggregate_intervals_s")
    @classmethod
    def _divide_a_day(cls, value: str) -> str:
        """Refuse intervals that databases do not count from the start of 1970."""
        given = value.split(",") if value else []
        wrong = [text for text in given if not int(text) or _DAY_S % int(text)]
        if wrong:
            raise ValueError(f"expected divisors of {_DAY_S:,} s, got {', '.join(wrong)}")
        return value

    @property
    def intervals_s(self) -> list[int]:
        """The intervals in ascending order."""
        text = self.aggregate_intervals_s
        return sorted({*map(int, text.split(","))}) if text else []


class Aggregating:
    """A database that may keep aggregates of its tables, by tags and intervals of time."""

    options: Options

    @property
    def interval_s(self) -> int:
        """The shortest interval of the aggregates in seconds; 0: there are none."""
        options = self.options
        return min(options.intervals_s, default=0) if isinstance(options, AggregateOptions) else 0

    def from_aggregates(self, query: Query) -> Statement | None:
        """Return the statement that answers a query from the aggregates, or None."""
        return None
