"""Answers about fresh rows of a simulated database, whose rows become visible at any time."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from simulator.data.fresh import FreshType, fresh_types
from simulator.data.query import Statement
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import Type
from simulator.load.ask.answers import EveryAnswer
from simulator.load.ask.asker import Asked
from simulator.load.write.batch import Batch, Held, Origin
from simulator.load.write.send_log import SendLog
from simulator.modules.contract import Payload
from simulator.protocol.arrivals import Ticks
from simulator.verify.fresh.answers import check
from simulator.verify.fresh.arriving import (
    AnswerLog,
    ArrivingRows,
    TimedBatches,
    select_stored_since,
)
from tests.unit.specs import dataset

STORED, BATCH_ROWS, BATCHES, WORKERS = 1000, 10, 30, 2
DATA = dataset(params={"devices": 3}).with_ranges(
    [lane_range(worker, 0, STORED) for worker in range(WORKERS)]
)
READER = DatasetReader(DATA)
(EVENTS,) = READER.tables
TYPES = fresh_types(READER)
MS = 10**6
SAME = Ticks()
"""Clocks of one machine."""


class Row:
    """A row of the simulated database."""

    def __init__(self, block, place, sent, acknowledged, visible):
        self.device = block.data["device_id"].values()[place].decode()
        self.time = int(block.data["timestamp"].values()[place])
        self.value = block.data["temperature"].values()[place].item()
        self.sent, self.acknowledged, self.visible = sent, acknowledged, visible


class Run:
    """Workers that insert, with the rows and what their logs report."""

    def __init__(self, seed=0, late=0.0, ticks=SAME, measured_ns=0):
        random = Random(seed)
        self.rows, self.parts, self.stored = [], [], []
        for worker in range(WORKERS):
            log, now = SendLog(READER), 0
            for number in range(BATCHES):
                first = STORED + number * BATCH_ROWS
                numbers = lane_range(worker, first, BATCH_ROWS).numbers()
                sent, acknowledged = now, now + random.randrange(1, 20) * MS
                batch = Batch(
                    Payload(BATCH_ROWS, "batch", b"", 0), Origin.of(Held(0, 0, numbers), 10), 0
                )
                log.note_sent(batch, sent)
                if number != 7:  # its outcome stays unknown
                    log.note_acknowledged(batch, acknowledged)
                block = READER.draw_rows(EVENTS, numbers)
                known = acknowledged if number != 7 else None
                self.rows += [
                    Row(
                        block, place, sent, known,
                        random.uniform(sent, acknowledged) + random.uniform(0, late) * MS,
                    )
                    for place in range(BATCH_ROWS)
                ]  # fmt: skip
                now = acknowledged + random.randrange(0, 5) * MS
            self.parts += log.parts(worker, ticks, measured_ns)
        self.end = max(row.acknowledged or 0 for row in self.rows)
        self.until_ms = min(row.time for row in self.rows)
        stored = select_stored_since(READER, DATA, self.until_ms)
        self.arriving = ArrivingRows(READER, TimedBatches.of(self.parts, stored))

    def asks(self, seed=0, count=60):
        random = Random(seed)
        found = []
        for number in range(count):
            began = random.uniform(0, self.end)
            ended = began + random.uniform(0.1, 5) * MS
            since = self.until_ms + (number * 8 // count) * 3000
            found.append((since, int(began), int(ended)))
        return sorted(found)

    def visible(self, since, at):
        return [row for row in self.rows if row.visible <= at and row.time >= since]


def answer_of(name, rows):
    """Return the rows of an answer as a driver would."""
    if name == "fresh-count":
        return [(len(rows),)]
    found = []
    for device in {row.device for row in rows}:
        own = [row for row in rows if row.device == device]
        values = [row.value for row in own]
        newest = max(own, key=lambda row: row.time)
        if name == "fresh-extremes":
            found.append((device, len(own), min(values), max(values)))
        else:
            found.append((device, newest.time, newest.value))
    return found


def found_by(run, name, asks, change=None, *, promised=True, ticks=SAME):
    """Check the answers to a query, of which `change` may spoil the rows or the answer."""
    answers = EveryAnswer(name, TYPES[name])
    statement = Statement("", TYPES[name].outputs)
    for number, (since, began, ended) in enumerate(asks):
        rows = run.visible(since, Random(number).uniform(began, ended))
        raw = answer_of(name, change[1](rows) if change and change[0] == number else rows)
        answers.keep(Asked(since, statement), raw, began, ended)
    parts = (AnswerLog.of(part, TYPES[name]) for part in answers.parts(WORKERS, ticks))
    return check(run.arriving, TYPES[name], parts, promised=promised)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("seed", range(5))
def test_no_right_answer_is_called_wrong(name, seed):
    run = Run(seed)
    found = found_by(run, name, run.asks(seed))

    assert (found.answers, found.right, found.wrong) == (60, 60, [])


@pytest.mark.parametrize("name", TYPES)
def test_an_acknowledged_row_that_is_missing_is_named(name):
    run = Run()
    asks = run.asks()
    since, began, _ = asks[40]
    known = [row for row in run.rows if (row.acknowledged or run.end) < began and row.time >= since]
    newest = max(known, key=lambda row: row.time)

    def without(rows):
        return [row for row in rows if row.device != newest.device]

    found = found_by(run, name, asks, (40, without))
    (wrong,) = found.wrong

    assert (found.answers, found.right) == (60, 59)
    assert "acknowledged" in wrong.expected
    assert "before the query began" in wrong.expected
    if name != "fresh-count":
        assert newest.device in wrong.expected


@pytest.mark.parametrize("name", TYPES)
def test_a_row_that_was_not_sent_yet_is_found(name):
    run = Run()
    asks = run.asks()
    since, _, ended = asks[20]
    later = [row for row in run.rows if row.sent > ended and row.time >= since]
    sent = [row for row in run.rows if row.sent <= ended and row.time >= since]
    found = found_by(run, name, asks, (20, lambda _: sent + later[-1:]), promised=False)

    assert found.right == 59
    assert "sent before the query ended" in found.wrong[0].expected


def test_a_database_that_promises_nothing_may_lack_rows_and_not_invent_them():
    run = Run(late=40.0)
    asks = run.asks()

    for name in TYPES:
        assert found_by(run, name, asks, promised=False).wrong == []
        assert found_by(run, name, asks).wrong != []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda rows: [*rows, rows[0]], "one row of device_id="),
        (lambda rows: [(*rows[0][:2], rows[0][2] - 1000, rows[0][3]), *rows[1:]], "temperature "),
        (lambda rows: [(*rows[0][:3], rows[0][3] + 1000), *rows[1:]], "temperature "),
        (lambda rows: [(*rows[0][:2], None, rows[0][3]), *rows[1:]], "temperature "),
        (lambda rows: [("another", 1, 20.0, 20.0), *rows], "device_id=another"),
    ],
)
def test_a_wrong_group_or_extreme_is_named(spoil, words):
    run = Run()
    since, began, ended = run.asks()[40]
    name = "fresh-extremes"
    raw = answer_of(name, run.visible(since, (began + ended) / 2))
    answers = EveryAnswer(name, TYPES[name])
    answers.keep(Asked(since, Statement("", TYPES[name].outputs)), spoil(raw), began, ended)
    parts = [AnswerLog.of(part, TYPES[name]) for part in answers.parts(0, Ticks())]
    (wrong,) = check(run.arriving, TYPES[name], parts, promised=True).wrong

    assert words in wrong.expected


def test_an_extreme_without_a_value_is_wrong_in_integers_too():
    columns = {column.name: column for column in EVENTS.columns}
    whole = replace(columns["temperature"], type=Type.INT32)
    table = replace(EVENTS, columns=(*EVENTS.columns[:-1], whole))
    fresh_type = FreshType(replace(TYPES["fresh-extremes"].query, table=table))
    run = Run()
    since, began, ended = run.asks()[40]
    answers = EveryAnswer("fresh-extremes", fresh_type)
    rows = answer_of("fresh-extremes", run.visible(since, (began + ended) / 2))
    raw = [(device, count, int(low), None) for device, count, low, _ in rows]
    answers.keep(Asked(since, Statement("", fresh_type.outputs)), raw, began, ended)
    parts = [AnswerLog.of(part, fresh_type) for part in answers.parts(0, SAME)]

    assert check(run.arriving, fresh_type, parts, promised=False).right == 0


def test_rows_of_workers_that_share_a_lane_are_drawn_in_their_order(monkeypatch):
    params = {"scale": 5, "duration_ms": 3_600_000, "interval_ms": 10_000}
    reader = DatasetReader(dataset(workload="cpu", params=params))
    logs = [SendLog(reader), SendLog(reader)]
    for number in range(20):
        numbers = np.arange(number * 10, number * 10 + 10)
        batch = Batch(Payload(10, "batch", b"", 0), Origin.of(Held(0, 0, numbers), 10), 0)
        logs[number % 2].note_sent(batch, number)
        logs[number % 2].note_acknowledged(batch, number + 1)
    parts = [part for log in logs for part in log.parts(0, SAME, 0)]
    rows = ArrivingRows(reader, TimedBatches.of(parts, np.empty((5, 0), np.int64)))
    draw = DatasetReader.draw_rows

    def ascending(self, table, numbers):
        assert (np.diff(numbers) > 0).all()
        return draw(self, table, numbers)

    monkeypatch.setattr(DatasetReader, "draw_rows", ascending)
    window = rows.window(fresh_types(reader)["fresh-extremes"], 0, 100)

    assert len(window.keys) == 5
    assert np.bincount(window.group).tolist() == [40] * 5
    assert (window.sent_ns == window.times // 20_000).all()


def test_clocks_that_differ_make_no_right_answer_wrong():
    ahead = Ticks(offset_ns=-50 * MS, unsure_ns=60 * MS)
    run, shifted = Run(), Run(ticks=ahead)
    asks = run.asks()

    for name in TYPES:
        run.arriving, mine = shifted.arriving, run.arriving
        assert found_by(run, name, asks).wrong == []
        run.arriving = mine


def test_rows_that_were_stored_at_the_same_instant_belong_to_the_truth():
    run = Run()
    times = READER.draw_rows(EVENTS, DATA.ranges[0].numbers()).data["timestamp"].values()
    since = int(times[-3])
    rows = sum(
        len(range(int(count))) for _, _, _, count, _ in select_stored_since(READER, DATA, since).T
    )

    assert rows == sum(
        int((READER.draw_rows(EVENTS, item.numbers()).data["timestamp"].values() >= since).sum())
        for item in DATA.ranges
    )
    assert select_stored_since(READER, DATA, run.until_ms + 10**6).shape == (5, 0)


def test_freshness_is_the_time_until_an_answer_counts_what_was_acknowledged():
    run = Run(measured_ns=100 * MS)
    delay = 30 * MS
    for row in run.rows:
        row.visible = (row.acknowledged or row.sent) + delay
    every = [(run.until_ms, at, at + MS) for at in range(0, run.end + 60 * MS, 10 * MS)]
    found = found_by(run, "fresh-count", every, promised=False)
    (delays, rows), unseen = found.delays(run.arriving, 0)
    measured = [row for row in run.rows if row.acknowledged and row.acknowledged >= 100 * MS]

    assert rows.sum() == len(measured)
    assert not unseen.rows.size
    assert delay <= np.average(delays, weights=rows) <= delay + 15 * MS
