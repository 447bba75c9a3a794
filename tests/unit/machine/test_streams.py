"""The program at a terminal: its streams, its signals, its name."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.program import program, program_name, state_folder
from iotbench.machine.streams import (
    OutputError,
    expect_printed,
    guard_streams,
    plain,
    print_out,
    say,
)
from simulator.errors import Interrupted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc é 中", "a\tb\nc é 中"),
        ("\x1b[2J\r\0", "\\x1b[2J\\r\\x00"),
        ("\x9b2J\u202e\udcff", "\\u009b2J\\u202e\\udcff"),
    ],
)
def test_a_control_character_is_written_out(text, shown):
    assert plain(text) == shown


@pytest.fixture
def guarded(monkeypatch):
    """Guards standard output and standard error, which lead to two files."""
    streams = []

    def guard(out, err):
        streams.extend(os.fdopen(os.open(path, os.O_WRONLY), "w") for path in (out, err))
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        guard_streams()

    yield guard
    for stream in streams:
        stream.close()


def test_what_an_encoding_lacks_is_escaped_as_in_json(monkeypatch, tmp_path):
    place = tmp_path / "out"
    with place.open("w", encoding="latin-1") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        guard_streams()
        print_out('── "é 中 😀"')

    assert place.read_bytes() == b'-- "\xe9 \\u4e2d \\ud83d\\ude00"'


def test_an_output_that_takes_no_more_is_an_error_at_every_text(guarded):
    guarded("/dev/full", "/dev/null")

    for _ in range(2):
        with pytest.raises(OutputError, match="standard output: No space left on device"):
            print_out("a table\n")
    with pytest.raises(OutputError):
        expect_printed()


def test_an_error_output_that_takes_no_more_stops_nothing(guarded):
    guarded("/dev/null", "/dev/full")

    say("progress", err=True)
    sys.stderr.flush()
    print_out("a table\n")
    expect_printed()


def test_a_pipe_that_nobody_reads_is_an_error_of_the_output_only(guarded):
    reader, writer = os.pipe()
    os.close(reader)
    guarded(f"/proc/self/fd/{writer}", "/dev/null")
    os.close(writer)

    with pytest.raises(OutputError) as error:
        print_out("a table\n")
    assert isinstance(error.value.__cause__, BrokenPipeError)


def test_a_guarded_stream_is_otherwise_the_stream(guarded, tmp_path):
    for name in ("out", "err"):
        (tmp_path / name).touch()
    guarded(tmp_path / "out", tmp_path / "err")
    print_out("a table\x1b\n")
    say("progress", err=True)
    expect_printed()

    assert (tmp_path / "out").read_text() == "a table\\x1b\n"
    assert (tmp_path / "err").read_text() == "progress\n"
    assert sys.stdout.encoding
    assert not sys.stdout.isatty()


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT]


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_only_asks(number):
    with catch_interrupts() as interrupts:
        assert not interrupts.requested
        signal.raise_signal(number)

        assert interrupts.requested


@pytest.mark.parametrize("number", SIGNALS)
def test_the_second_signal_stops_at_once(number):
    with catch_interrupts():
        signal.raise_signal(signal.SIGINT)

        with pytest.raises(Interrupted, match=f"stopped at once by {number.name}") as error:
            signal.raise_signal(number)

    assert error.value.exit_code == 130


def test_the_signals_are_given_back_even_after_an_error():
    before = handlers()
    with suppress(KeyError), catch_interrupts():
        assert not set(handlers()) & set(before)
        raise KeyError

    assert handlers() == before


@pytest.mark.parametrize(
    ("called", "name", "words"),
    [
        ("run.py", "run.py", "python run.py"),
        ("/usr/local/bin/iotbench", "iotbench", "iotbench"),
        ("", "run.py", "python run.py"),
    ],
)
def test_messages_name_the_program_as_it_was_called(monkeypatch, called, name, words):
    monkeypatch.setattr(sys, "argv", [called])

    assert (program_name(), program()) == (name, words)


def test_the_state_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "iotbench"

    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_folder() == Path.home() / ".local" / "state" / "iotbench"
