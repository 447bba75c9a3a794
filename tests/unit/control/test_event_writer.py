"""The writer of events: in order, complete at the end, and never in the way."""

import io
import os
import threading
import time

import pytest

from simulator.control.progress.phases import EventWriter
from simulator.protocol.events import PhaseEvent, SampleEvent, parse_event

MANY = 3_000
"""More lines than a pipe holds."""


def pipe():
    reading, writing = os.pipe()
    return os.fdopen(reading, "r"), os.fdopen(writing, "w")


def written(output, count):
    writer = EventWriter(output)
    for number in range(count):
        writer.write(PhaseEvent(phase=str(number)))
    return writer


def test_a_reader_that_is_stopped_delays_nobody_and_misses_nothing():
    reader, output = pipe()
    began = time.monotonic()
    writer = written(output, MANY)
    took_s = time.monotonic() - began
    closing = threading.Thread(target=writer.close)
    closing.start()
    lines = [parse_event(reader.readline()) for _ in range(MANY)]
    closing.join(5)
    output.close()
    reader.close()

    assert took_s < 5
    assert [number for number, _ in lines] == list(range(1, MANY + 1))
    assert [event.phase for _, event in lines] == [str(number) for number in range(MANY)]


def test_a_reader_that_is_gone_ends_the_writing():
    reader, output = pipe()
    writer = written(output, MANY)
    reader.close()
    closing = threading.Thread(target=writer.close, daemon=True)
    closing.start()
    closing.join(5)

    assert not closing.is_alive()
    with pytest.raises(BrokenPipeError):
        output.close()


def test_samples_do_not_end_a_silence():
    now_s = [10.0]
    writer = EventWriter(io.StringIO(), lambda: now_s[0])
    now_s[0] = 13.0
    writer.write(SampleEvent(at_s=1.0, phase="insert", rows=1, rows_per_s=1.0))
    assert writer.silent_s == 3.0

    writer.write(PhaseEvent(phase="insert"))
    assert writer.silent_s == 0.0
    writer.close()
