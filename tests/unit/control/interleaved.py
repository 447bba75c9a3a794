"""Runs inserts step by step, between whose calls other inserts, users and failures come.

An insert stops before each call to the database or the table of marks. Whatever happens, what the
user made must stay as it is, unless the insert that makes the call may replace it by name.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from typing import Any, Protocol

from simulator.control.database.work import DatabaseWork
from simulator.data.ranges import lane_range
from simulator.errors import ConfigError, SetupError
from simulator.modules.contract import Database
from simulator.protocol.spec import InsertTask
from tests.unit.specs import dataset, run_spec

_OF_DATABASE = (
    "inspect",
    "find_existing",
    "obstacles",
    "find_attached",
    "find_signed",
    "resembles",
    "contents",
    "drop",
    "drop_signed",
    "drop_unsigned",
    "create",
    "carry_out",
    "describe_stored",
)
_OF_MARKS = ("read", "foreign", "open", "write", "replace")
_WAIT_S = 60
COLUMNS = "device_id TEXT, timestamp BIGINT, sequence_number BIGINT, temperature REAL"


class Killed(BaseException):
    """Ends a process at once."""


class Connection(Protocol):
    """What the user of a database has."""

    def execute(self, statement: str) -> Sequence[Sequence[Any]]:
        """Carry out a statement and return its rows."""

    def tables(self) -> set[str]:
        """Return the names of all tables."""


class User:
    """Somebody who has tables in the same database, and expects to find them as they were."""

    def __init__(self, connection: Connection, names: Sequence[str]) -> None:
        self._connection = connection
        self._needed = names
        self._numbers = count()
        self.mine: dict[str, object] = {}
        """Table -> its rows."""
        self._views: list[str] = []

    def act(self, what: str) -> None:
        """Do one of the things in USER with the names that inserts need, as far as possible."""
        if what in {"drop", "rename", "swap"}:  # a view is in the way of these
            self.drop_views()
        for name in self._needed:
            exists = name in self._connection.tables()
            match what:
                case "create" if not exists:
                    self._create(name, "mine TEXT", "'mine'")
                case "alike" | "swap" if not exists:
                    self._create(name, COLUMNS, "'mine', 1, 1, 0.5")
                case "empty" if not exists:
                    self._create(name, COLUMNS, "")
                case "drop" if exists:
                    self._connection.execute(f"DROP TABLE {name}")
                    self.mine.pop(name, None)
                case "view" if exists:
                    self._views.append(f"view{next(self._numbers)}")
                    self._connection.execute(
                        f"CREATE VIEW {self._views[-1]} AS SELECT * FROM {name}"
                    )
                case "rename" if exists:
                    self._rename(name)
                case "swap":
                    self._rename(name)
                    self._create(name, COLUMNS, "'mine', 1, 1, 0.5")

    def drop_views(self) -> None:
        """Drop the views on tables, which keep some databases from dropping these."""
        while self._views:
            self._connection.execute(f"DROP VIEW {self._views.pop()}")

    def _create(self, name: str, columns: str, row: str) -> None:
        self._connection.execute(f"CREATE TABLE {name} ({columns})")
        if row:
            self._connection.execute(f"INSERT INTO {name} VALUES ({row})")
        self.mine[name] = self._contents(name)

    def _rename(self, name: str) -> None:
        kept = f"kept{next(self._numbers)}"
        self._connection.execute(f"ALTER TABLE {name} RENAME TO {kept}")
        self.mine.pop(name, None)
        self.mine[kept] = self._contents(kept)

    def _contents(self, name: str) -> object:
        return [tuple(row) for row in self._connection.execute(f"SELECT * FROM {name}")]

    def harmed(self) -> list[str]:
        """Return which tables are no longer as they were."""
        there = self._connection.tables()
        return [n for n, rows in self.mine.items() if n not in there or self._contents(n) != rows]


USER = ("create", "alike", "empty", "view", "drop", "rename", "swap")
FAULTS = ("fail", "fail after", "kill")


class Inserting:
    """One insert, which waits before each call until it may go on."""

    def __init__(
        self, database: Database, user: User, *, parts: int = 1, replaces: tuple[str, ...] = ()
    ) -> None:
        spec = run_spec(
            workers=(InsertTask(timed=(lane_range(0, 0, 5),)),), dataset=dataset(parts=parts),
            replace_tables=replaces, setup=("SELECT 1",),
        )  # fmt: skip
        self._user = user
        self._replaces = replaces
        self._work = DatabaseWork(spec, database, lambda _: None)
        for owner, names in ((database, _OF_DATABASE), (self._work.ownership._book, _OF_MARKS)):
            for name in names:
                if hasattr(owner, name):
                    setattr(owner, name, self._stopping(getattr(owner, name), name))
        self._may_go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._fate = ""
        self._is_in_call = False
        self.error: BaseException | None = None
        self.harm: list[str] = []
        self.calls: list[str] = []
        self.done = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._wait()

    def _run(self) -> None:
        try:
            self._work.prepare()
        except BaseException as error:  # noqa: BLE001 - also Killed
            self.error = error
        finally:
            self._work.background.finish()
            self.done = True
            self._stopped.release()

    def _stopping(self, call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def stopped(*arguments: Any, **named: Any) -> Any:
            if self._is_in_call:
                return call(*arguments, **named)
            self._is_in_call = True
            try:
                return carried_out(*arguments, **named)
            finally:
                self._is_in_call = False

        def carried_out(*arguments: Any, **named: Any) -> Any:
            self._stopped.release()
            self._may_go.acquire()
            fate, self._fate = self._fate, ""
            self.calls.append(name)
            if fate == "kill":
                raise Killed
            if fate == "fail":
                raise SetupError("it failed")
            result = call(*arguments, **named)
            harmed = set(self._user.harmed())
            self.harm += [f"{n} by {name}" for n in harmed - {*self._replaces}]
            for each in harmed:  # by consent, or found already
                self._user.mine.pop(each)
            if fate == "fail after":
                raise SetupError("it failed afterwards")
            return result

        return stopped

    def _wait(self) -> None:
        assert self._stopped.acquire(timeout=_WAIT_S), "it hangs"

    def step(self, fate: str = "") -> None:
        """Carry out the next call, or have it fail."""
        if not self.done:
            self._fate = fate
            self._may_go.release()
            self._wait()

    def finish(self) -> None:
        """Carry out all calls."""
        while not self.done:
            self.step()


@dataclass(frozen=True)
class Event:
    """What happens before a call of the first insert."""

    call: int
    what: str
    """One of USER or FAULTS; or "other": a second insert begins."""
    calls: int = 0
    """How many calls the second insert carries out."""
    then: str = ""
    """What becomes of its next call, one of FAULTS; the rest follows after the first insert."""


BEFORE = ("", "made", "foreign")
"""What there is before a history: nothing, our tables, or the user's."""


@dataclass(frozen=True)
class History:
    """What happens during an insert, and what there is before it."""

    events: tuple[Event, ...]
    before: str = ""
    parts: int = 1
    replaces: tuple[str, ...] = ()


@dataclass
class World:
    """A database in which a history takes place."""

    open: Callable[[], Database]
    user: User
    problems: list[str] = field(default_factory=list)
    calls: int = 0
    """Of the first insert."""

    def play(self, history: History) -> None:
        """Play a history and note what is wrong."""
        if history.before == "made":
            self._insert().finish()
        elif history.before == "foreign":
            self.user.act("create")
        first = self._insert(parts=history.parts, replaces=history.replaces)
        others = []
        for event in history.events:
            while len(first.calls) < event.call and not first.done:
                first.step()
            if event.what in USER:
                self.user.act(event.what)
            elif event.what in FAULTS:
                first.step(event.what)
                if event.what == "kill":
                    first.finish()
            else:
                others.append(self._begin(event))
        first.finish()
        for second in others:
            second.finish()
        self.calls = len(first.calls)
        self.problems += [harm for each in (first, *others) for harm in each.harm]
        self._look_around()

    def _begin(self, event: Event) -> "Inserting":
        second = self._insert()
        for _ in range(event.calls):
            second.step()
        second.step(event.then)
        return second

    def _insert(self, **given: Any) -> Inserting:
        return Inserting(self.open(), self.user, **given)

    def _look_around(self) -> None:
        """Have each kind of insert run once more, without consent to anything."""
        self.user.drop_views()
        for parts in (2, 1):
            needed = {"events"} if parts == 1 else {"events0", "events1"}
            in_the_way = needed & self.user.mine.keys()
            last = self._insert(parts=parts)
            last.finish()
            self.problems += last.harm
            if in_the_way and not isinstance(last.error, ConfigError):
                self.problems.append(f"not refused: {in_the_way}")
            if not in_the_way and last.error:
                self.problems.append(f"refused without cause: {last.error}")


def every_event(calls: int) -> Iterator[Event]:
    """Yield every event during an insert of so many calls."""
    for call in range(calls):
        yield from (Event(call, what) for what in (*USER, *FAULTS))
        for done, then in product(range(calls), ("", *FAULTS)):
            yield Event(call, "other", done, then)
