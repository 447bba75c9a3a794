"""Abilities that only some modules have; `Capabilities` shows them, and the reasons for lacks.

Each class is a part of `Session` or `Database`; a module without the ability leaves it as it is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field, field_validator

from simulator.data.dataset import Retag
from simulator.data.query import Query, Statement
from simulator.data.row_hash import RowHash
from simulator.data.schema import Table
from simulator.modules.contract.options import Options
from simulator.modules.contract.records import (
    CORRECT,
    Envelope,
    MixedEncoder,
    Payload,
    QueryPlan,
    Server,
)
from simulator.protocol.records import RecordFormat

_DAY_S = 86_400


class Sending:
    """A session that may send rows of several tables or of a file, or several payloads at once."""

    in_flight: int = 1
    """How many payloads may be in flight at once; more than 1 requires `begin`."""
    makes_objects: bool = False
    """True if payloads are Python objects, which are slow to prepare far ahead."""

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        """Return the encoder of payloads that hold the rows of each block between two edges."""
        raise NotImplementedError

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return the envelope that turns records of a file, rows of these tables, into payloads."""
        raise NotImplementedError

    def begin(self, payload: Payload, done: Callable[[Exception | None], None]) -> None:
        """Send one payload without waiting.

        `done` is called once, on any thread, at the latest when the session is closed: with None
        for an acknowledgement, or with the error. An exception raised here has the same meaning.
        """
        raise NotImplementedError


class Changing:
    """A session that changes stored rows."""

    correcting: ClassVar[str] = CORRECT
    """The insert mode of batches of corrected rows: BATCH where rows replace others anyway."""

    def delete_before(self, table: Table, until: int) -> None:
        """Delete the rows before a time, in the unit of the table; return once they are gone."""
        raise NotImplementedError

    def retag(self, table: Table, retag: Retag, name: str) -> int:
        """Give the rows of a series another value of a tag; return how many they were."""
        raise NotImplementedError

    def drop_before(self, table: Table, until: int) -> None:
        """Drop the rows by the database's special command, up to `Database.drops_until`."""
        raise NotImplementedError


class Explaining:
    """A session that can show query plans."""

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of each statement that answers a query (`Capabilities.plans`), in order.

        Each is asked for when it is its turn: a caller may want the first ones only. Raises
        Unsupported for a statement that the database does not explain.
        """
        raise NotImplementedError


class OwnStatements:
    """A database that runs statements of the user (`--setup`, `--teardown`)."""

    no_statements: ClassVar[str] = "this module runs no statements of the user"
    """Reason why the module runs no statements of the user; empty: it runs them."""

    def carry_out(self, statement: str) -> None:
        """Run one statement, which may be a complete transaction."""
        raise NotImplementedError

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        """Return a description of the server with the present durability of these tables.

        None: the database does not report it, so that a user's statement may have changed it.
        """
        return None


class Hashing:
    """A database that may hash rows in a query."""

    row_hash: ClassVar[RowHash | None] = None
    """Hash with which `render` translates a query for hashed rows; None: there is none."""
    no_row_hash: ClassVar[str] = "this module has no hash of rows that its database computes"
    """Reason why there is none."""
    hash_probe: ClassVar[str] = ""

    def probe(self) -> Statement:
        """Return the statement that a server with the functions answers with `RowHash.known`."""
        return Statement(self.hash_probe, ())


def intervals(how: str) -> Any:
    """Return the option of the intervals; `how` the database keeps the aggregates, as a verb."""
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
        wrong = [text for text in _list(value) if not int(text) or _DAY_S % int(text)]
        if wrong:
            raise ValueError(f"expected divisors of {_DAY_S:,} s, got {', '.join(wrong)}")
        return value

    @property
    def intervals_s(self) -> list[int]:
        """The intervals, in order."""
        return sorted({*map(int, _list(self.aggregate_intervals_s))})


def _list(text: str) -> list[str]:
    return text.split(",") if text else []


class Aggregating:
    """A database that may keep aggregates of its tables: by their tags and intervals of time."""

    options: Options

    @property
    def interval_s(self) -> int:
        """The shortest interval of the aggregates, in seconds; 0: it keeps none."""
        options = self.options
        return min(options.intervals_s, default=0) if isinstance(options, AggregateOptions) else 0

    def from_aggregates(self, query: Query) -> Statement | None:
        """Return the statement that answers a query from the aggregates; None: they do not."""
        return None
