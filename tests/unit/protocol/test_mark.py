"""Marks: any dataset survives, a damaged mark is seen, and the newest one counts."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.ranges import LANE_ROWS, RowRange, lane_range, merge
from simulator.data.schema import PrimaryKey
from simulator.protocol.mark import Marks, State, decode, encode, same_rows
from tests.unit.specs import MARKED_MS as MS
from tests.unit.specs import dataset, mark


def rows(*marks):
    return [(m.at_ms, part, value) for m in marks for part, value in enumerate(encode(m))]


def ranges(lanes, limit=LANE_ROWS):
    start = st.integers(0, limit - 1)
    pair = st.tuples(st.sampled_from(lanes), start, st.integers(1, 5000))
    return st.lists(pair.map(lambda p: lane_range(p[0], p[1], min(p[2], limit - p[1]))), max_size=8)


datasets = st.builds(
    lambda params, seed, start_ms, key, parts, few, strided, many: dataset(
        params=params, seed=seed, start_ms=start_ms, primary_key=key, parts=parts
    ).with_ranges([*few, *strided, *many]),
    st.dictionaries(st.text(max_size=20), st.text(max_size=200) | st.integers(), max_size=5),
    st.integers(0, 2**63 - 1),
    st.integers(-(2**40), 2**42),
    st.sampled_from(PrimaryKey),
    st.sampled_from([1, 4]),
    ranges([0, 1, 2, 2**20]),
    st.sampled_from([[], [RowRange(start=3, stop=900, table=2, take=2, every=7)]]),
    st.integers(0, 600).map(lambda n: [lane_range(lane, 5, 100) for lane in range(n)]),
)


UNCERTAIN = [
    (),
    (lane_range(1, 10, 20),),
    (RowRange(start=3, stop=9, table=2, take=2, every=7),),
    tuple(lane_range(lane, start, 10) for lane in (0, 1) for start in (10, 30)),
]


@given(
    datasets, st.sampled_from(State), st.lists(st.text(), max_size=3), st.sampled_from(UNCERTAIN)
)
def test_any_mark_survives(data, state, tables, uncertain):
    one = mark(dataset=data, state=state, tables=tuple(tables), uncertain=merge(uncertain))
    values = encode(one)

    assert all(0 <= value < 2**48 for value in values)
    assert decode(values, MS) == one


@given(st.data())
def test_a_damaged_mark_is_seen(data):
    values = encode(mark())
    place = data.draw(st.integers(0, len(values) - 1))
    bit = data.draw(st.integers(0, 47))
    values[place] ^= 1 << bit
    with pytest.raises(ValueError, match="checksum"):
        decode(values, MS)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_any_integers_are_a_mark_or_a_value_error(values):
    with pytest.raises(ValueError, match=r"checksum|not a mark"):
        decode(values, MS)


def test_the_size_does_not_depend_on_the_number_of_workers():
    sizes = [
        len(encode(mark(dataset=dataset().with_ranges([lane_range(n, 0, 9) for n in range(many)]))))
        for many in (2, 500)
    ]
    assert sizes[1] <= sizes[0] + 1


def test_rows_may_come_in_any_order_and_twice():
    older, newer = mark(state=State.WRITING), mark(at_ms=MS + 1)
    found = rows(older, newer) * 2
    random.Random(1).shuffle(found)

    assert Marks.of(found).entries == (newer, older)


@pytest.mark.parametrize(
    "damage",
    [lambda r: r[1:], lambda r: r[:-1], lambda r: r[:3] + r[4:], lambda r: [*r, (r[0][0], 0, 1)]],
)
def test_a_mark_with_a_lost_or_a_foreign_row_is_damaged(damage):
    newer = mark(at_ms=MS + 1)
    found = Marks.of([*rows(mark()), *damage(rows(newer))])

    assert found.entries == (None, mark())
    assert found.newest(["events"]) is None
    assert found.current == ()


def test_the_newest_mark_of_a_table_counts():
    marks = [
        mark(tables=("events",)),
        mark(tables=("rooms",), at_ms=MS + 1),
        mark(tables=("events",), state=State.WRITING, at_ms=MS + 2),
    ]
    found = Marks.of(rows(*marks))

    assert found.newest(["events"]) == marks[2]
    assert found.newest(["rooms"]) == marks[1]
    assert found.newest(["other"]) is None
    assert found.current == (marks[2], marks[1])


def test_the_rows_of_a_file_are_the_same_wherever_it_was_read_from():
    one = dataset(workload="file", params={"sha256": "a", "folder": "/tmp/1", "source": "a.csv"})
    moved = dataset(workload="file", params={"sha256": "a", "folder": "", "source": "/b/a.csv"})
    other = dataset(workload="file", params={"sha256": "b", "folder": "", "source": "a.csv"})

    assert same_rows(one, moved)
    assert same_rows(one, moved.model_copy(update={"seed": 9, "start_ms": 5}))
    assert not same_rows(one, other)


@pytest.mark.parametrize("field", ["seed", "start_ms", "parts"])
def test_rows_that_are_drawn_depend_on_seed_and_start(field):
    assert not same_rows(dataset(), dataset(**{field: 7}))


def test_a_mark_is_described_by_whom_and_when():
    text = mark().describe()

    assert text == (
        "insert 20261122-120000-ab12 by anna@laptop, 40 rows, complete at 2027-01-15 08:00:00 UTC"
    )


@pytest.mark.parametrize("state", [state for state in State if state is not State.COMPLETE])
def test_of_an_insert_that_is_not_complete_at_most_its_rows_are_stored(state):
    assert "by anna@laptop, up to 40 rows, " in mark(state=state).describe()


def test_a_mark_is_described_on_one_line():
    hostile = mark(by="anna\nerror: run `rm -r .`\r\n", sweep_id="a\tb")
    assert hostile.describe().startswith(
        "insert a b by anna error: run `rm -r .`, 40 rows, complete"
    )
    assert hostile.describe().isprintable()
