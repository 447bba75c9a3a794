"""Bars have the counts, times and prices that the document of the ingress benchmark gives them."""

from datetime import UTC, datetime

import numpy as np
import pytest

from simulator.data.block import Block
from simulator.data.workloads.ohlcv import (
    BARS,
    DAY_MS,
    MINUTES,
    OPENING_MS,
    Ohlcv,
    OhlcvParams,
)
from simulator.verify.truth.oracle import Oracle

MONDAY_MS = 978_307_200_000
"""2001-01-01."""


def stocks(seed=1, start_ms=MONDAY_MS, **params):
    return Ohlcv(OhlcvParams(**params), seed, start_ms)


def values(workload, rows=None):
    chosen = np.arange(workload.size(BARS)) if rows is None else np.array(rows)
    return {name: data.values() for name, data in workload.draw(BARS, chosen).items()}


@pytest.mark.parametrize(
    ("params", "bars"),
    [({}, 18 * 261 * 390), ({"symbols": 30, "years": 1}, 30 * 261 * 390), ({"years": 0.001}, 390)],
)
def test_bars_are_minutes_of_trading_days(params, bars):
    assert stocks(**params).size(BARS) == bars


def test_every_minute_of_trading_is_there_once_and_no_other():
    times = values(stocks(years=1))["time"]
    dates, minutes = np.divmod(times, DAY_MS)
    days = [datetime.fromtimestamp(date * 86_400, UTC) for date in np.unique(dates).tolist()]

    assert (np.diff(times) > 0).all()
    assert len(days) == 261
    assert {day.weekday() for day in days} == {0, 1, 2, 3, 4}
    assert np.diff(np.unique(dates)).max() == 3
    assert (np.bincount(dates - dates[0])[np.unique(dates - dates[0])] == MINUTES).all()
    assert np.array_equal(np.unique(minutes), OPENING_MS + np.arange(MINUTES) * 60_000)


@pytest.mark.parametrize(
    ("start", "first"),
    [
        ("2001-01-01T00:00", "2001-01-01T14:30"),
        ("2001-01-01T14:30", "2001-01-01T14:30"),
        ("2001-01-01T14:31", "2001-01-02T14:30"),
        ("2001-01-05T15:00", "2001-01-08T14:30"),
        ("2001-01-06T00:00", "2001-01-08T14:30"),
        ("2001-01-07T23:59", "2001-01-08T14:30"),
        ("1969-12-25T12:00", "1969-12-25T14:30"),
        ("1899-12-31T12:00", "1900-01-01T14:30"),
    ],
)
def test_the_first_bar_is_that_of_the_first_day_which_begins_after_the_start(start, first):
    start_ms, first_ms = (
        int(np.datetime64(text, "ms").astype(np.int64)) for text in (start, first)
    )
    workload = stocks(start_ms=start_ms, years=0.05)
    times = values(workload)["time"]

    assert times[0] == first_ms
    assert times[-1] == workload.last_ms(workload.size(BARS))


def test_prices_are_those_of_bars():
    found = values(stocks(symbols=3, years=2))
    highest = np.maximum(found["open"], found["close"])
    lowest = np.minimum(found["open"], found["close"])

    assert (found["high"] >= highest).all()
    assert (found["low"] <= lowest).all()
    for wick in (found["high"] - highest, lowest - found["low"]):
        assert np.unique(np.rint(wick * 100)).tolist() == [0, 1, 2, 3, 4]
    assert found["volume"].min() > 0


def test_prices_are_cents_as_written():
    closes = values(stocks(years=1))["close"]

    assert np.array_equal(closes, [float(f"{close:.2f}") for close in closes.tolist()])
    assert (closes * 64 % 1 != 0).mean() > 0.9


def truth(workload, query, rows):
    oracle = Oracle([query])
    oracle.add(Block(BARS, 0, rows, workload.draw(BARS, rows)))
    return oracle.truth(query).answer


@pytest.mark.parametrize(("name", "rows"), [("1-symbol-1-day", 7), ("1-symbol-1-month", 20)])
def test_a_window_holds_larger_bars_of_one_stock(name, rows):
    workload = stocks(symbols=3, years=0.5)
    asked = workload.query_types(workload.tables, aligned=True)[name]
    queries = [asked.instance(number) for number in range(20)]
    answers = [
        truth(workload, query, workload.candidates(BARS, query.selection)) for query in queries
    ]

    assert len({query.selection for query in queries}) > 15
    assert all(len(answer.rows) >= rows for answer in answers)
    for answer in answers:
        for _, opened, high, low, closed, volume in answer.rows:
            assert low <= min(opened, closed) <= max(opened, closed) <= high
            assert volume > 0


def test_a_window_longer_than_the_data_is_impossible():
    workload = stocks(years=0.02)
    types = workload.query_types(workload.tables, aligned=False)

    assert types["1-symbol-1-month"].problem == "it asks about 30 days, and the data has 8"
    assert not types["1-symbol-1-day"].problem
    shortest = stocks(years=0.001)
    day = shortest.query_types(shortest.tables, aligned=False)["1-symbol-1-day"]
    assert day.instance(0).selection.since == MONDAY_MS
