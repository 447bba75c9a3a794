"""Rows of `slim`, `light` and `large` have the columns and values of the document's tables."""

import numpy as np
import pytest

from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import PrimaryKey, Type
from simulator.data.workloads.nosql import LETTERS, Large, Light, NosqlParams, Slim

START_MS = 1_520_000_000_999
ALL = (Slim, Light, Large)


def drawn(cls, rows=20_000, lane=0, seed=1, **params):
    workload = cls(NosqlParams(**params), seed, START_MS)
    return workload.draw(workload.table, lane * LANE_ROWS + np.arange(rows))


def values(cls, **options):
    return {name: data.values() for name, data in drawn(cls, **options).items()}


@pytest.mark.parametrize(
    ("cls", "types", "key"),
    [
        (Slim, [Type.INT32] * 2, PrimaryKey.NONE),
        (Light, [Type.INT32, Type.INT16, Type.INT16], PrimaryKey.DB),
        (Large, [Type.TEXT] + [Type.INT32] * 8, PrimaryKey.DB),
    ],
)
def test_tables_are_the_documents(cls, types, key):
    table = cls.table

    assert [column.type for column in table.columns] == types
    assert cls.default_key is key
    assert (table.key, table.tags) == ((), ())
    assert [index.columns for index in table.indices] == ([("val1",)] if cls is Light else [])


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("lane", [0, 5])
def test_a_second_has_as_many_rows_as_it_should(cls, lane):
    times = values(cls, rows=2500, lane=lane, rows_per_second=1000)["timestamp"]

    assert np.unique(times - START_MS // 1000, return_counts=True)[1].tolist() == [1000, 1000, 500]
    assert times[0] == 1_520_000_000
    workload = cls(NosqlParams(), 1, START_MS)
    assert int(times[-1]) * 1000 == workload.last_ms(2500)


def test_texts_are_200_letters_each_as_likely_as_another():
    texts = values(Large, rows=20_000)["value"]
    letters = texts.view(np.uint8).reshape(-1, 200)

    assert texts.dtype == np.dtype("S200")
    assert len(np.unique(texts)) == 20_000
    expected = letters.size / len(LETTERS)
    counts = np.bincount(letters.ravel(), minlength=256)
    assert np.flatnonzero(counts).tolist() == sorted(LETTERS.tolist())
    assert np.abs(counts[LETTERS] / expected - 1).max() < 0.02
    for place in (0, 1, 100, 199):
        by_letter = np.bincount(letters[:, place], minlength=256)[LETTERS]
        assert np.abs(by_letter / (20_000 / 52) - 1).max() < 0.35
    assert (letters[:, :-1] == letters[:, 1:]).mean() == pytest.approx(1 / 52, rel=0.02)


@pytest.mark.parametrize("cls", ALL)
def test_a_worker_has_no_more_rows_than_seconds_in_32_bits(cls):
    def rows(start_s, **params):
        return cls(NosqlParams(**params), 1, start_s * 1000).lane_rows

    assert rows(2**31 - 10) == 10_000
    assert rows(2**31 - 10, rows_per_second=1) == 10
    assert rows(2**31) == rows(2**32) == 0
    assert rows(-(2**31) - 1) == 0
    assert rows(0, rows_per_second=LANE_ROWS) == LANE_ROWS
