"""Candidates of a fleet: exactly the rows that a selection of tags and times matches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.fleet import select_fleet_rows
from simulator.data.query import OneOf, Selection

HOSTS = np.array([b"a", b"b", b"c", b"d", b"e"])
REGIONS = np.array([b"x", b"y", b"x", b"y", b"z"])
TAGS = {"host": HOSTS, "region": REGIONS}


def candidates(selection):
    return select_fleet_rows(TAGS, selection, ticks=7, start=-20, interval=10)


def one_of(tag, values):
    return st.lists(st.sampled_from(values), min_size=1, unique=True).map(
        lambda chosen: OneOf(tag, tuple(chosen))
    )


@given(
    tags=st.lists(one_of("host", ["a", "c", "nobody"]) | one_of("region", ["x", "z"]), max_size=3),
    since=st.none() | st.integers(-50, 70),
    until=st.none() | st.integers(-50, 70),
)
def test_candidates_are_the_rows_of_the_hosts_and_ticks(tags, since, until):
    selection = Selection(tuple(tags), since=since, until=until)
    rows = candidates(selection)
    expected = [
        row
        for row in range(35)
        if (since is None or row // 5 * 10 - 20 >= since)
        and (until is None or row // 5 * 10 - 20 < until)
        and all(TAGS[tag.column][row % 5].decode() in tag.values for tag in tags)
    ]

    assert (rows is None and len(expected) > 35 / 2) or rows.tolist() == expected


def test_most_of_the_table_is_not_named():
    assert candidates(Selection(until=10)).tolist() == list(range(15))
    assert candidates(Selection(until=20)) is None
