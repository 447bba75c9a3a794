"""Cubes: the same as plain Python, whatever is shared, however divided, dense or sparse."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.schema import Column, Role, Table, Type
from simulator.verify.truth import cube, groups
from simulator.verify.truth.oracle import Oracle
from tests.contract.reference import answer_of
from tests.fuzzing import try_cases
from tests.unit.verify.blocks import block_of

TABLE = Table(
    "cpu",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("host", Type.TEXT, Role.TAG),
        Column("rack", Type.INT32, Role.TAG, nullable=True),
        Column("usage", Type.FLOAT64, Role.FIELD),
        Column("load", Type.FLOAT64, Role.FIELD, exact=False),
        Column("packets", Type.INT64, Role.FIELD, nullable=True),
        Column("state", Type.TEXT, Role.FIELD),
    ),
    key=("host", "time"),
)
HOSTS = [b"host_%d" % number for number in range(7)]
STATES = [b"", b"a", b"idle", b"idle for very long", b"idle for very long!", "überlastet".encode()]


def drawn(seed, rows):
    """Draw rows: one host reports once at a time; packets are near the ends of 64 bits."""
    rng = np.random.default_rng(seed)
    places = rng.choice(400 * len(HOSTS), rows, replace=False)
    rack, packets = rng.integers(-2, 3, rows), rng.integers(-(2**63), 2**63, rows)
    return [
        {
            "time": int(place) // len(HOSTS) - 200,
            "host": HOSTS[place % len(HOSTS)].decode(),
            "rack": int(rack[row]) if rack[row] else None,
            "usage": int(rng.integers(-800, 800)) / 8,
            "load": float(rng.normal()),
            "packets": int(packets[row]) if packets[row] % 3 else None,
            "state": STATES[rng.integers(len(STATES))].decode(),
        }
        for row, place in enumerate(places)
    ]


NUMERIC = [function for function in Function if function not in ENDS]
SUMS = (Function.SUM, Function.AVG)
AGGREGATES = (
    Aggregate(Function.COUNT),
    *(Aggregate(function, c) for c in ("usage", "packets") for function in Function),
    *(Aggregate(function, "state") for function in Function if function not in SUMS),
)
windows = st.none() | st.integers(-220, 220)
selections = st.builds(
    Selection,
    one_of=st.lists(st.sampled_from(["host_1", "host_2", "host_3", "nobody"]), max_size=3).map(
        lambda hosts: (OneOf("host", tuple(hosts)),) if hosts else ()
    ),
    compared=st.sampled_from([(), (), (Condition("packets", Operator.LESS, 5),)]),
    since=windows,
    until=windows,
)


def query_of(by, bucket, selection, aggregates):
    """Make a query; only for groups of one host, FIRST and LAST have one answer."""
    if "host" not in {*by, *selection.fixed}:
        aggregates = [a for a in aggregates if a.function not in ENDS] or [AGGREGATES[0]]
    return AggregateQuery(TABLE, tuple(aggregates), by, bucket, selection)


queries = st.builds(
    query_of,
    by=st.sampled_from([(), ("host",), ("rack",), ("host", "rack"), ("rack", "host")]),
    bucket=st.sampled_from([None, 1, 7, 60, 120]),
    selection=selections,
    aggregates=st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=4, unique=True),
)


@pytest.fixture(params=["dense", "sparse", "sorted"], autouse=True, scope="module")
def density(request):
    """Number combinations of codes directly, by a table or sorted; merge runs late, or always."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "dense":
            patch.setattr(groups, "_MOST_SPARSE", {"sparse": 16, "sorted": 0}[request.param])
            patch.setattr(groups, "_LEAST_DENSE", 1)
            patch.setattr(cube, "_PENDING_GROUPS", 1)
        yield


@given(
    seed=st.integers(0, 2**32),
    size=st.integers(0, 300),
    asked=st.lists(queries, min_size=1, max_size=12, unique=True),
    cuts=st.lists(st.integers(0, 300), max_size=5),
)
@try_cases(60)
def test_queries_that_share_cubes_are_answered_as_by_plain_python(seed, size, asked, cuts):
    expect_right(asked, drawn(seed, size), cuts)


def expect_right(asked, rows, cuts=()):
    """Answer queries from one oracle as plain Python does; return the oracle."""
    oracle = Oracle(asked)
    for part, piece in enumerate(divided(rows, cuts)):
        oracle.add(block_of(TABLE, piece, part))
    for query in asked:
        assert oracle.truth(query).agrees(answer_of(query, rows))
    return oracle


def divided(rows, cuts):
    ends = sorted({0, len(rows), *(min(cut, len(rows)) for cut in cuts)})
    return [rows[start:stop] for start, stop in itertools.pairwise(ends)]


@given(
    seed=st.integers(0, 2**32),
    size=st.integers(0, 300),
    asked=st.lists(queries, min_size=1, max_size=5, unique=True),
    cuts=st.lists(st.integers(0, 300), max_size=5),
)
@try_cases(40)
def test_oracles_of_parts_merge_to_the_whole_also_when_carried_as_bytes(seed, size, asked, cuts):
    rows = drawn(seed, size)
    others = [
        NewestQuery(TABLE, ("host",), ("usage", "rack", "state")),
        RowsQuery(TABLE, ("time", "rack", "state"), Selection(until=50)),
        RowsQuery(TABLE, (), Selection((OneOf("host", ("host_1",)),)), 5),
        DistinctQuery(TABLE, ("host", "time")),
        DistinctQuery(TABLE, ("host",)),
    ]
    every = [*asked, *others, loads()]
    whole, total = Oracle(every), Oracle(every)
    whole.add(block_of(TABLE, rows))
    for part, piece in enumerate(divided(rows, cuts)):
        own = Oracle(every)
        own.add(block_of(TABLE, piece, part))
        if part % 2:
            total.merge(total.from_bytes(own.to_bytes()))
        else:
            total.merge(own.parts())

    for query in (*asked, *others):
        assert total.truth(query) == whole.truth(query)
    assert total.truth(loads()).agrees(whole.truth(loads()).answer)


def loads():
    """Ask for a column whose sums depend on the order."""
    return AggregateQuery(TABLE, tuple(Aggregate(f, "load") for f in NUMERIC), ("host",), 60)


def test_a_query_that_two_cubes_could_answer_is_answered_by_the_one_that_keeps_its_values():
    asked = [
        AggregateQuery(TABLE, (Aggregate(Function.SUM, "usage"),), (), None, until("host_1", 0)),
        AggregateQuery(TABLE, (Aggregate(Function.COUNT),), (), None, until("host_1", 1)),
        AggregateQuery(TABLE, (Aggregate(Function.COUNT),), ("host",), None, Selection(until=0)),
    ]

    expect_right(asked, drawn(0, 100))


def until(host, end):
    return Selection((OneOf("host", (host,)),), until=end)


def test_windows_of_hosts_are_answered_from_one_cube():
    highest = (Aggregate(Function.MAX, "usage"),)
    hours = [
        AggregateQuery(TABLE, highest, (), 10, window(f"host_{host}", since))
        for host in range(7)
        for since in range(-200, 100, 15)
    ]

    assert len(expect_right(hours, drawn(1, 2000)).cubes) == 1


def window(host, since):
    return Selection((OneOf("host", (host,)),), since=since, until=since + 60)


def test_a_total_is_answered_from_the_cube_by_host():
    count = AggregateQuery(TABLE, (Aggregate(Function.COUNT),))
    by_host = AggregateQuery(TABLE, (Aggregate(Function.MAX, "usage"),), ("host",))
    oracle = Oracle([count, by_host, NewestQuery(TABLE, ("host",), ("usage",))])

    assert [shape.by for shape in (c.shape for c in oracle.cubes)] == [("host",)]


@pytest.mark.parametrize(
    "ranges",
    [
        [("host", 10, 5), ("host", 20, 300), (None, 5, 300)],
        [("host", 0, 100), (None, 0, 50), (None, 50, 100)],
        [("host", None, 100), ("host", None, 50), (None, 0, 50), (None, 7, 50)],
        [("host", 100, -100), (None, 100, -100)],
    ],
    ids=["later rows", "no cuts", "no beginning", "no rows"],
)
def test_a_cube_answers_only_for_windows_that_it_can_be_cut_at(ranges):
    highest = (Aggregate(Function.MAX, "usage"),)
    asked = [
        AggregateQuery(
            TABLE, highest, (tag,) if tag else (), None, Selection(since=since, until=until)
        )
        for tag, since, until in ranges
    ]

    expect_right(asked, drawn(2, 1000))


def test_buckets_far_apart_take_no_room_between_them():
    rows = drawn(3, 40)
    for place, row in enumerate(rows):
        row["time"] += (place % 3 - 1) * 2**61
    query = AggregateQuery(TABLE, (Aggregate(Function.MAX, "usage"),), ("host",), 7)

    expect_right([query], rows, [15])


def test_bytes_of_other_queries_are_refused():
    by_host = AggregateQuery(TABLE, (Aggregate(Function.MAX, "usage"),), ("host",))
    by_rack = AggregateQuery(TABLE, (Aggregate(Function.MAX, "usage"),), ("rack",))
    oracle = Oracle([by_host])
    oracle.add(block_of(TABLE, drawn(1, 10)))

    with pytest.raises(ValueError, match="other queries"):
        Oracle([by_rack]).from_bytes(oracle.to_bytes())
