"""Pipes of many processes in one thread: nothing that a process does or omits blocks the caller."""

import os
import queue
import threading
import time
from contextlib import ExitStack

import pytest

from iotbench.execution.local.pipes import Pipes

MIB = 1 << 20


@pytest.fixture
def stack():
    with ExitStack() as made:
        yield made


@pytest.fixture
def pipes(stack):
    return stack.enter_context(Pipes())


@pytest.fixture
def pipe(stack):
    """Return the ends of a pipe: to read, to write."""

    def make():
        reader, writer = os.pipe()
        return (
            stack.enter_context(os.fdopen(reader, "rb", buffering=0)),
            stack.enter_context(os.fdopen(writer, "wb", buffering=0)),
        )

    return make


def lines_of(pipes, reader):
    """Read a pipe; return where its lines arrive, and what is set at its end."""
    lines, ended = queue.SimpleQueue(), threading.Event()
    pipes.read(reader, lines.put, ended.set)
    return lines, ended


def test_lines_arrive_whole_however_they_are_written(pipes, pipe):
    reader, writer = pipe()
    lines, ended = lines_of(pipes, reader)
    for part in (b"on", b"e\ntw", b"o\n", b"thr\xff", b"ee"):
        writer.write(part)
        time.sleep(0.02)
    writer.close()

    assert ended.wait(5)
    assert [lines.get(timeout=1) for _ in range(3)] == ["one", "two", "thr\ufffdee"]


def test_an_end_without_a_line_is_noticed(pipes, pipe):
    reader, writer = pipe()
    lines, ended = lines_of(pipes, reader)
    writer.close()

    assert ended.wait(5)
    assert lines.empty()


def test_a_long_line_passes_a_slow_reader_and_the_caller_does_not_wait(pipes, pipe):
    reader, writer = pipe()
    data = os.urandom(3 * MIB).hex().encode() + b"\n"
    began = time.monotonic()
    pipes.write(writer, data)
    pipes.write(writer, b"last\n")
    took_s = time.monotonic() - began
    received = b""
    while not received.endswith(b"last\n"):
        received += reader.read(MIB)

    assert took_s < 30  # nobody had read yet
    assert received == data + b"last\n"


def test_a_process_that_reads_nothing_delays_no_other(pipes, pipe):
    _, stuck = pipe()
    reader, writer = pipe()
    pipes.write(stuck, bytes(3 * MIB))
    pipes.write(writer, b"hello\n")

    assert reader.read(100) == b"hello\n"


def test_a_process_that_is_gone_is_no_error(pipes, pipe):
    gone, writer = pipe()
    gone.close()
    pipes.write(writer, b"hello\n")
    reader, other = pipe()
    pipes.write(other, b"still here\n")

    assert reader.read(100) == b"still here\n"


def test_many_pipes_are_served_at_once(pipes, pipe):
    made = [pipe() for _ in range(200)]
    heard = [lines_of(pipes, reader) for reader, _ in made]
    for number, (_, writer) in enumerate(made):
        writer.write(f"{number}\n".encode())
        writer.close()

    assert all(ended.wait(5) for _, ended in heard)
    assert [lines.get() for lines, _ in heard] == [str(number) for number in range(200)]
