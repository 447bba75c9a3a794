"""Candidates of every generator: they hold each row that a query or a window of time matches."""

import numpy as np
import pytest

from simulator.data.derived import innermost
from simulator.data.query import DistinctQuery, Selection
from tests.unit.data.generated import WITH_END, drawn, workload_of

INSTANCES = (0, 3)
SPREAD = ("trucks", "multi-measurement")
"""Workloads whose rows are in no order of time: their candidates hold others too."""


def matching(table, data, selection):
    """Return the rows that a selection of tags and times matches, of all that were drawn."""
    times = data[table.time.name].values()
    chosen = np.ones(len(times), np.bool_)
    if selection.since is not None:
        chosen &= times >= selection.since
    if selection.until is not None:
        chosen &= times < selection.until
    for one in selection.one_of:
        column = data[one.column]
        chosen &= np.isin(column.values(), [value.encode() for value in one.values])
        if column.valid is not None:
            chosen &= column.valid
    return np.flatnonzero(chosen)


def are_narrowed(name, workload, table, data, selection):
    """Check the candidates of a selection; False if all rows are."""
    found, expected = workload.candidates(table, selection), matching(table, data, selection)
    if found is None:
        return False
    assert (np.diff(found) > 0).all()
    if name.startswith(SPREAD):
        assert np.isin(expected, found).all()
    else:
        assert found.tolist() == expected.tolist()
    return True


@pytest.mark.parametrize("name", WITH_END)
def test_candidates_of_every_query_type_are_the_rows_that_match(name):
    workload = workload_of(name, **({"duration_ms": 86_400_000} if name == "metaquery" else {}))
    known, narrowed = {}, 0
    for query_type in workload.query_types(workload.tables, aligned=True).values():
        if query_type.problem:
            continue
        for number in INSTANCES:
            query = innermost(query_type.instance(number))
            if isinstance(query, DistinctQuery):
                continue
            table = query.table
            if table.name not in known:
                known[table.name] = drawn(workload, table)
            narrowed += are_narrowed(name, workload, table, known[table.name], query.selection)
    assert narrowed


@pytest.mark.parametrize("name", WITH_END)
def test_candidates_of_windows_are_the_rows_in_them(name):
    workload, narrowed = workload_of(name), 0
    for table in workload.tables[:20]:
        data = drawn(workload, table)
        times = np.sort(data[table.time.name].values())
        first, middle, last = (int(times[place]) for place in (0, len(times) // 2, -1))
        for since, until in (
            (first, first + 1),
            (first - 5, first + (last - first) // 7),
            (middle + 1, middle + 60_001),
            (last, None),
            (last + 10**9, None),
            (None, first),
        ):
            selection = Selection(since=since, until=until)
            narrowed += are_narrowed(name, workload, table, data, selection)
        are_narrowed(name, workload, table, data, Selection())
    assert narrowed >= 2
