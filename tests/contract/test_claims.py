"""A claim of ownership is true at every moment, on a real PostgreSQL: some of the histories."""

import random

import pytest

from simulator.modules.postgres.database import Postgres, PostgresOptions
from tests.unit.control.interleaved import BEFORE, FAULTS, Event, History, User, World, every_event

pytestmark = [pytest.mark.server("postgres"), pytest.mark.rare]  # SQLite has all of them

NAMES = ("events", "events0")
CALLS = 20
SOME = 5
"""Histories of each length."""


class Connection:
    """Another session of the database, whose statements are committed one by one."""

    def __init__(self, session):
        self._cursor = session.connection.cursor()

    def execute(self, statement):
        self._cursor.execute(statement)
        return self._cursor.fetchall() if self._cursor.description else []

    def tables(self):
        found = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        return {name for (name,) in self.execute(f"{found} AND relkind = 'r'")}


@pytest.fixture
def play(server_options):
    def database():
        return Postgres(PostgresOptions(**server_options))

    with database().connect() as session:
        connection = Connection(session)

        def played(history):
            for name in connection.tables():
                connection.execute(f'DROP TABLE "{name}"')
            world = World(database, User(connection, NAMES))
            world.play(history)
            assert world.problems == [], history
            return world.calls

        yield played
        for name in connection.tables():
            connection.execute(f'DROP TABLE "{name}"')


def test_what_a_user_does_after_a_failure_is_respected(play):
    for before, replaces in (("", ()), ("foreign", NAMES)):
        calls = play(History((), before, replaces=replaces))
        assert calls > 4
        for call, fault in zip(range(4, calls), FAULTS * calls, strict=False):
            events = (Event(call, fault), Event(call, "swap"))
            play(History(events, before, replaces=replaces))


def test_a_consent_ends_with_an_insert_that_a_view_of_the_users_stops(play):
    for call in range(play(History((), "foreign", replaces=NAMES))):
        play(History((Event(call, "view"),), "foreign", replaces=NAMES))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_nothing_of_the_users_is_harmed_and_nothing_of_ours_refused(play, length):
    events, draw = [*every_event(CALLS)], random.Random(length)
    for _ in range(SOME):
        some = sorted(draw.sample(events, length), key=lambda event: event.call)
        before, parts = draw.choice(BEFORE), draw.choice((1, 2))
        play(History(tuple(some), before, parts, draw.choice(((), NAMES))))
