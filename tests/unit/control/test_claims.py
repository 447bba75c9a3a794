"""A claim of ownership is true at every moment: interleavings on real SQLite files."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from simulator.modules.sqlite import Sqlite, SqliteOptions
from tests.fuzzing import THOROUGH
from tests.unit.control.interleaved import (
    BEFORE,
    FAULTS,
    USER,
    Event,
    History,
    User,
    World,
    every_event,
)

NAMES = ("events", "events0")


class Connection:
    def __init__(self, path):
        self.path = path

    def execute(self, statement):
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("PRAGMA synchronous = off")
            return connection.execute(statement).fetchall()

    def tables(self):
        found = self.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found if not name.startswith("sqlite_")}


SCRATCH = Path("/dev/shm")  # in memory, if there is such a folder
SOME = 1_000 if THOROUGH else 15
"""Drawn histories of each length."""
STEP = 1 if THOROUGH else 4
"""How many histories of one or two events there are for each that is played."""


class Unsigned(Sqlite):
    """A database that has no place for a signature."""

    def create(self, tables, batch_rows):
        super().create([replace(table, signed=False) for table in tables], batch_rows)

    def find_signed(self, names):
        return {}


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    with TemporaryDirectory(dir=SCRATCH if SCRATCH.is_dir() else folder) as scratch:
        path = Path(scratch) / "bench.db"

        def played(history, kind=Sqlite):
            def database():
                return kind(SqliteOptions(path=str(path), synchronous="off"))

            for file in Path(scratch).iterdir():
                file.unlink()
            world = World(database, User(Connection(path), NAMES))
            world.play(history)
            assert world.problems == [], history
            return world.calls

        yield played


@pytest.mark.parametrize("before", BEFORE)
def test_any_call_may_fail_or_follow_what_a_user_does(play, before):
    """Histories of one event, without a second insert; a quick run plays some of them."""
    calls = play(History((), before))
    for call, what in [*product(range(calls), (*USER, *FAULTS))][::STEP]:
        play(History((Event(call, what),), before))


@pytest.mark.parametrize("before", BEFORE)
def test_two_inserts_interleave_at_any_call(play, before):
    """Histories of one second insert; a quick run plays some of them."""
    events = [event for event in every_event(play(History((), before))) if event.what == "other"]
    if not THOROUGH:
        events = random.Random(before).sample(events, SOME)
    for event in events:
        play(History((event,), before))


def test_what_a_user_does_after_a_failure_at_any_call_is_respected(play):
    """A creation that failed, or a consent that led to nothing, allows no later insert anything."""
    for before, replaces in (("", ()), ("made", ()), ("foreign", NAMES)):
        calls = play(History((), before, replaces=replaces))
        for call, fault, what in [*product(range(calls), FAULTS, ("alike", "swap"))][::STEP]:
            play(History((Event(call, fault), Event(call, what)), before, replaces=replaces))


@pytest.mark.parametrize("length", [2, 3])
def test_nothing_of_the_users_is_harmed_and_nothing_of_ours_refused(play, length):
    """Histories of a few events, as many as there is time for."""
    calls = max(play(History((), before, parts=2)) for before in ("", "made"))
    events = [*every_event(calls)]
    draw = random.Random(length)
    for _ in range(SOME):
        some = sorted(draw.sample(events, length), key=lambda event: event.call)
        before, parts = draw.choice(BEFORE), draw.choice((1, 2))
        replaces = draw.choice(((), (), NAMES[:1], NAMES))
        play(History(tuple(some), before, parts, replaces))


def test_without_a_place_for_a_signature_columns_distinguish_the_users_tables_from_ours(play):
    """Only a table of the user's with exactly our columns may be taken for ours."""
    calls = play(History((), "made"), Unsigned)
    events = [each for each in every_event(calls) if each.what not in ("alike", "empty", "swap")]
    alone = [each for each in events if each.what != "other"]
    draw = random.Random(0)
    for _ in range(min(SOME, 60)):
        some = sorted((draw.choice(alone), draw.choice(events)), key=lambda event: event.call)
        parts = draw.choice((1, 2)) if {*some} <= {*alone} else 1
        play(History(tuple(some), draw.choice(BEFORE), parts), Unsigned)


def test_without_a_place_for_a_signature_an_intention_makes_only_an_empty_table_ours(play):
    for call, fault in product(range(play(History(()), Unsigned)), FAULTS):
        play(History((Event(call, fault), Event(call, "alike"))), Unsigned)
