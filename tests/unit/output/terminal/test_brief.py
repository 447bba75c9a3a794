"""The lines that a sweep prints below its table, and what they leave to `show`."""

from pathlib import Path

import pytest

from iotbench.machine import streams
from iotbench.measurements.warnings import merge_warnings
from iotbench.output.terminal.notes import brief_of, notes_of
from iotbench.results.command import GivenCommand
from iotbench.results.result import Manifest
from simulator.protocol.verdict import Status, Verdict, VerifyMode
from tests.unit.output.page import shown
from tests.unit.output.terminal.made import outcome, result, run, stored

PATH = Path("results/r.json")
SPREAD = "the runs differ by {} of their mean"


def lines(found, path=PATH):
    return [*brief_of(found, path)]


def test_a_sweep_prints_five_lines_and_show_everything():
    found = result([run(), run(number=2)], warnings=["slow", "late", "odd"])
    brief = lines(found)

    assert [line.partition(":")[0] for line in brief] == [
        "verdict", "server", "warning", "result file", "next"
    ]  # fmt: skip
    assert brief[2] == "warning: slow (2 more warnings)"
    assert {"warning: slow", "warning: late", "warning: odd"} <= {*notes_of(found, PATH)}


def test_the_next_command_reaches_the_same_target():
    options = {"target": ("lite",), "runner": ("local",), "batch": ("10",)}
    found = result([run()]).model_copy(
        update={
            "manifest": Manifest(dataset=stored(3), rows=3, complete=True),
            "command": GivenCommand(name="insert", options=options),
        }
    )
    last = lines(found, Path("elsewhere/r.json"))[-1]

    assert "next: `python run.py query --target lite --runner local --output elsewhere`" in last
    assert "`python run.py show --output elsewhere`" in last
    assert "batch" not in last


def test_what_is_wrong_stands_in_place_of_the_verdict():
    wrong = run(outcome(verdict=Verdict(status=Status.MISMATCH, reason="missing 2")))
    brief = lines(result([wrong] * 7))

    assert brief[0] == "mismatch: 1 worker, run 1: missing 2"
    assert brief[5] == "and 2 more lines like these"
    assert not any(line.startswith("verdict") for line in brief)


@pytest.mark.parametrize(
    ("levels", "asked", "verdict"),
    [
        ((VerifyMode.FULL,), False, "verified: every row is right"),
        ((VerifyMode.COUNTS,), False, "verified: rows were counted, and their sums agree"),
        (
            (VerifyMode.FULL, VerifyMode.COUNTS),
            True,
            "verified: rows were counted, and their sums agree; every answer is right",
        ),
        ((), True, "verified: every answer is right"),
        ((None,), False, "verified"),
    ],
)
def test_the_verdict_says_no_more_than_what_was_compared(levels, asked, verdict):
    runs = [run(outcome(verdict=Verdict(status=Status.VERIFIED, level=each))) for each in levels]
    runs += shown.query(counts=(1,)).runs if asked else []

    assert lines(result(runs))[0] == f"verdict: {verdict}"


@pytest.mark.parametrize(
    ("warnings", "merged"),
    [
        ([], []),
        (["slow", "slow, too"], ["slow", "slow, too"]),
        (["1 worker: " + SPREAD.format("20%")], ["1 worker: " + SPREAD.format("20%")]),
        (
            [f"1 worker: {SPREAD.format('22%')}", f"4 workers: {SPREAD.format('9%')}"],
            [f"1 and 4 workers: {SPREAD.format('9 to 22%')}"],
        ),
        (
            [f"{n} workers share 2 cores, so they wait" for n in (4, 8, 16)],
            ["4, 8 and 16 workers share 2 cores, so they wait"],
        ),
        (
            ["1 worker shares 0 cores", "2 workers share 0 cores"],
            ["1 and 2 workers share 0 cores"],
        ),
        (["slow", "slow"], ["slow"]),
        (["1 worker: 5 sends", "1 worker: 7 sends"], ["1 worker: 5 to 7 sends"]),
        (["1 worker: slow", "2 workers: late"], ["1 worker: slow", "2 workers: late"]),
    ],
)
def test_warnings_of_several_worker_counts_are_one(warnings, merged):
    assert merge_warnings(warnings) == merged


class Terminal:
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_are_for_terminals_that_want_them(monkeypatch, variables, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert streams.is_coloured(Terminal()) == coloured


@pytest.mark.parametrize(
    ("line", "painted"),
    [
        ("      1  100  verified, hash", "      1  100  \x1b[32mverified\x1b[0m, hash"),
        ("      1  100  not verified", "      1  100  \x1b[33mnot verified\x1b[0m"),
        ("mismatch: missing 2", "\x1b[31mmismatch\x1b[0m: missing 2"),
        ("verdict: verified: rows", "verdict: \x1b[32mverified\x1b[0m: rows"),
        ("rows are verified by their sums", "rows are verified by their sums"),
    ],
)
def test_colours_say_how_good_a_word_is(line, painted):
    assert streams._paint(line) == painted


def test_a_terminal_breaks_no_word(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    path = "results/20261129T171255147Z-insert-sqlite-1bc6.json"
    text = f"the result file is {path}, and it is whole"
    wrapped = [*streams.wrap([text], Terminal())]

    assert any(path in line for line in wrapped)
    assert " ".join(line.strip() for line in wrapped) == text
