"""Freshness of a simulated database, of every lag, window and rate: right, or "at least"."""

from unittest.mock import Mock

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from iotbench.results.latency import freshness_ms, least_freshness_ms
from simulator.data.fresh import fresh_types
from simulator.data.query import Statement
from simulator.data.reader import DatasetReader
from simulator.load.ask.answers import EveryAnswer, Moving
from simulator.load.write.batch import Batch, Held, Origin
from simulator.load.write.send_log import SendLog
from simulator.modules.contract import Payload
from simulator.protocol.arrivals import Ticks
from simulator.protocol.events import Freshness
from simulator.protocol.numbers import counts_of, pairs_of
from simulator.verify.fresh.answers import check
from simulator.verify.fresh.arriving import (
    AnswerLog,
    ArrivingRows,
    TimedBatches,
    select_stored_since,
)
from tests.unit.specs import dataset

MS = 10**6
RUN_MS, ACKNOWLEDGED_MS, BEAT_MS, BATCH_ROWS = 10_000, 2, 500, 10
READER = DatasetReader(dataset(params={"devices": 3}))
(EVENTS,) = READER.tables
COUNT = fresh_types(READER)["fresh-count"]


def database():
    """Return one that renders the instant since which rows are asked for."""
    found = Mock()
    found.statement = lambda query: Statement(str(query.selection.since), COUNT.outputs)
    return found


class Simulated:
    """A worker inserts batches at a rate; another asks how many rows there are in a window."""

    def __init__(self, visible_ms, window_ms, rows_per_s, asked_every_ms):
        """`visible_ms` returns when a row is visible that was acknowledged at a time."""
        every_ms = 1000 * BATCH_ROWS / rows_per_s
        self.sent_ms = np.arange(0, RUN_MS, every_ms)
        self.acknowledged_ms = self.sent_ms + ACKNOWLEDGED_MS
        self.visible_ms = np.array([visible_ms(at) for at in self.acknowledged_ms])
        rows = np.arange(len(self.sent_ms) * BATCH_ROWS)
        self.times = READER.draw_rows(EVENTS, rows).data["timestamp"].values().astype(np.int64)
        self.window_ms, self.now_ms = window_ms, 0.0
        answers = EveryAnswer("fresh-count", COUNT)
        moving = Moving(database(), COUNT, self.since_ms, answers)
        while self.now_ms < RUN_MS:
            asked = moving.timed(0)
            visible = int(np.searchsorted(self.visible_ms, self.now_ms, "right")) * BATCH_ROWS
            count = max(visible - int(np.searchsorted(self.times, asked.instance)), 0)
            began_ns = int(self.now_ms * MS)
            answers.keep(asked, [(count,)], began_ns, began_ns + MS)
            self.now_ms += asked_every_ms
        self.freshness = self.judged(answers)

    def since_ms(self):
        """Return the begin of the window that is wanted, as last reported."""
        at = self.now_ms - self.now_ms % BEAT_MS
        known = int(np.searchsorted(self.acknowledged_ms, at, "right")) * BATCH_ROWS
        first = int(self.times[0])
        return max(first, int(self.times[known - 1]) - self.window_ms) if known else first

    def judged(self, answers):
        log = SendLog(READER)
        for number, (sent, acknowledged) in enumerate(
            zip(self.sent_ms, self.acknowledged_ms, strict=True)
        ):
            rows = np.arange(number * BATCH_ROWS, (number + 1) * BATCH_ROWS)
            batch = Batch(Payload(BATCH_ROWS, "batch", b"", 0), Origin.of(Held(0, 0, rows), 10), 0)
            log.note_sent(batch, int(sent * MS))
            log.note_acknowledged(batch, int(acknowledged * MS))
        stored = select_stored_since(READER, dataset(params={"devices": 3}), int(self.times[0]))
        arriving = ArrivingRows(READER, TimedBatches.of(log.parts(0, Ticks(), 0), stored))
        parts = [AnswerLog.of(part, COUNT) for part in answers.parts(0, Ticks())]
        found = check(arriving, COUNT, parts, promised=False)
        assert (found.wrong, found.right) == ([], found.answers)
        seen, unseen = found.delays(arriving, 0)
        return Freshness(
            query="fresh-count", rows=int(seen.rows.sum()), unseen_rows=int(unseen.rows.sum()),
            delays=pairs_of(counts_of(*seen)), unseen=pairs_of(counts_of(*unseen)),
        )  # fmt: skip


LAGS_MS = st.sampled_from([0, 50, 700, 5000, 20_000]) | st.integers(0, 15_000)
WINDOWS_MS = st.sampled_from([1, 100, 3000, 60_000, 3_600_000])
RATES = st.sampled_from([200, 500, 2000])


@given(LAGS_MS, WINDOWS_MS, RATES, st.sampled_from([3, 20, 100, 700]))
@example(50, 60_000, 2000, 5)
@example(700, 60_000, 2000, 5)
@example(700, 1, 2000, 5)
@example(5000, 60_000, 2000, 5)
@example(20_000, 60_000, 2000, 5)
def test_freshness_is_the_lag_or_at_least_a_time_below_it(lag_ms, window_ms, rate, every_ms):
    run = Simulated(lambda at: at + lag_ms, window_ms, rate, every_ms)
    found, longest_ms = run.freshness, lag_ms + 2 * every_ms + 2
    """A try of a later window may fall between two answers that count the rows."""
    not_visible = int((run.visible_ms > RUN_MS).sum()) * BATCH_ROWS
    visible_late = int((run.visible_ms > RUN_MS - 2 * every_ms).sum()) * BATCH_ROWS

    assert found.rows + found.unseen_rows == len(run.times)
    assert not_visible <= found.unseen_rows <= visible_late
    for share in (0.5, 0.99):
        figure, least = freshness_ms(found, share), least_freshness_ms(found, share)
        if lag_ms + 2 * every_ms < RUN_MS - ACKNOWLEDGED_MS - 1:
            assert figure is not None
        if figure is None:
            assert least is None or least <= 1.04 * lag_ms + 1
        else:
            assert 0.96 * lag_ms <= figure <= 1.04 * longest_ms


@given(st.sampled_from([50, 700, 2000, 4000]), WINDOWS_MS)
def test_freshness_of_rows_that_a_refresh_shows_together_is_spread_over_its_interval(
    interval_ms, window_ms
):
    def at_refresh(at_ms):
        return (at_ms // interval_ms + 1) * interval_ms

    run = Simulated(at_refresh, window_ms, 2000, 10)
    truth = run.visible_ms - run.acknowledged_ms

    for share in (0.5, 0.99):
        # The last interval is watched, not seen: a figure may be off by that part of the rows.
        unsure = run.freshness.unseen_rows / len(run.times)
        low, high = np.quantile(truth, [share - unsure, min(share + unsure, 1)])
        assert 0.96 * low <= freshness_ms(run.freshness, share) <= 1.04 * high + 22
