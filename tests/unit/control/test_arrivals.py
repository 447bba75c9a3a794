"""What workers report of rows that arrive: in order, once, within a limit, and unpacked safely."""

import base64
import zlib

import numpy as np
import pytest

from simulator.control.answers import fresh as arrivals
from simulator.control.answers.fresh import Arrivals
from simulator.control.script import Rejected
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.numbers import MOST_NUMBERS, pack, unpack

NONE = pack(np.empty((2, 0), np.int64))


def sent(part, *, last=False, worker=0):
    return SentBatches(index=worker, part=part, last=last, batches=NONE, runs=NONE)


def answered(part, count, *, last=False):
    return FreshAnswers(
        index=1, part=part, last=last, query="fresh-count", count=count, answers=NONE, values=NONE
    )


def test_parts_are_taken_in_order_and_once():
    kept = Arrivals()
    for part in (sent(0), sent(0), sent(1), sent(0), sent(2, last=True), sent(2, last=True)):
        kept.take(part)
    kept.take(answered(0, 5))
    kept.take(answered(1, 7, last=True))

    assert [each.part for each in kept.list_sent()] == [0, 1, 2]
    assert (kept.has_sent(0), kept.has_sent(1)) == (True, False)
    assert kept.count_answered("fresh-count", 1) == 12
    assert [each.count for each in kept.answers("fresh-count")] == [5, 7]


@pytest.mark.parametrize("parts", [[sent(1)], [sent(0), sent(2)], [sent(0, last=True), sent(1)]])
def test_a_part_that_is_not_the_next_one_is_refused(parts):
    kept = Arrivals()
    for part in parts[:-1]:
        kept.take(part)

    with pytest.raises(Rejected, match="part"):
        kept.take(parts[-1])


def test_a_run_with_too_many_answers_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(arrivals, "MOST_BYTES", 10)

    with pytest.raises(Rejected, match="lower --query-rate"):
        Arrivals().take(sent(0))


def test_packed_columns_come_back_and_damaged_or_large_ones_are_refused():
    columns = np.array([[1, -(2**62), 3], [4, 5, 2**62]], np.int64)

    assert unpack(pack(columns), 2).tolist() == columns.tolist()
    for text in ("!", "AAAA", pack(columns)[:-8], pack(np.arange(7))):
        with pytest.raises(ValueError, match=r"packed columns|whole numbers"):
            unpack(text, 2)
    bomb = base64.b64encode(zlib.compress(bytes(8 * MOST_NUMBERS + 8))).decode()
    with pytest.raises(ValueError, match="columns of whole numbers"):
        unpack(bomb, 1)
