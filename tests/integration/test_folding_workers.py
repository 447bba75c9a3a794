"""Workers that have reported fold rows for the collector; what becomes of them ends no run."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psutil
import pytest

from iotbench.execution.local.runner import LocalRunner
from iotbench.machine.interrupts import Interrupts
from simulator.data.dataset import Dataset
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.protocol.events import Event, Outcome, PhaseEvent
from simulator.protocol.spec import InsertTask, RunSpec, Work
from simulator.protocol.verdict import Status, Verdict
from simulator.verify.truth.folding import truths
from simulator.verify.truth.needed import statistics_of
from tests.processes import part_of

EMPTY = """
from simulator.data.query import Statement, outputs
from simulator.modules.null import Null, NullSession


class Empty(Null):
    "Answers with a count that is wrong, so that checks show the truth."

    def connect(self):
        return EmptySession(self.options.encode)

    def translate(self, query):
        return Statement("", outputs(query))


class EmptySession(NullSession):
    def run(self, statement):
        return [[1 << 40, *[None] * (len(statement.outputs) - 1)]]
"""
MANY, ENDLESS = 30_000_000, 1 << 38
WORKERS = 2


def spec(rows: int, timeout_s: float = 0.0) -> RunSpec:
    """Return an insert of few rows into tables that hold many."""
    held = Dataset(
        workload="iot", workload_version=1, params={"devices": 1000}, seed=1, start_ms=0,
        primary_key=PrimaryKey.NONE, parts=1, ranges=(lane_range(9, 0, rows),),
    )  # fmt: skip
    plans = tuple(InsertTask(timed=(lane_range(index, 0, 1000),)) for index in range(WORKERS))
    return RunSpec(
        run_id="r", work=Work.INSERT, target="t", module="empty:Empty", options={}, dataset=held,
        workers=plans, mode="batch", batch_rows=1000, timeout_s=timeout_s, silence_s=5.0,
    )  # fmt: skip


@cache
def true_values() -> dict[str, str]:
    """Return the truth of MANY rows, as checks show it."""
    given = spec(MANY)
    (table,) = DatasetReader(given.dataset).tables
    (truth,) = truths([statistics_of(table)], given.after).values()
    pairs = zip(truth.answer.names, truth.answer.rows[0], strict=True)
    return {f"events: {name}": str(value) for name, value in pairs}


def holds(verdict: Verdict | None) -> bool:
    """Return whether the checks compare with the truth."""
    assert verdict
    assert verdict.status is Status.MISMATCH
    shown = {check.name: check.expected for check in verdict.checks}
    return true_values().items() <= shown.items()


@dataclass
class Run:
    """A local run, and what is done to it once its workers fold rows."""

    given: RunSpec
    act: Callable[["Run"], object]
    interrupts: Interrupts = field(default_factory=Interrupts)
    helped_s: dict[int, float] = field(default_factory=dict)
    acted_s: float = 0.0

    def outcome(self) -> Outcome:
        """Run it; return its outcome."""
        with LocalRunner({}, {}, self.interrupts, nullcontext()) as runner:
            last = None
            for event in runner.run(self.given):
                last = event
                if is_verify(event) and not self.acted_s:
                    self._wait_for_help()
                    self.act(self)
                    self.acted_s = time.monotonic()
        assert isinstance(last, Outcome)
        return last

    def _wait_for_help(self) -> None:
        """Wait until each worker has folded for 0.1 s; the first to come so far waits, stopped."""
        waiting = {index: worker(index) for index in range(WORKERS)}
        began_s = {index: process.cpu_times().user for index, process in waiting.items()}
        deadline_s = time.monotonic() + 30
        while min(self.helped_s.values(), default=0) < 0.1:
            assert time.monotonic() < deadline_s, self.helped_s
            for index, process in waiting.items():
                self.helped_s[index] = process.cpu_times().user - began_s[index]
                if self.helped_s[index] >= 0.1:
                    process.suspend()
            time.sleep(0.01)
        for process in waiting.values():
            process.resume()


def is_verify(event: Event) -> bool:
    return isinstance(event, PhaseEvent) and event.phase == "verify"


def worker(index: int) -> psutil.Process:
    """Return the process of a worker."""
    (found,) = (child for child in children() if part_of(child) == f"worker-{index}")
    return found


def children() -> list[psutil.Process]:
    return [
        c for c in psutil.Process().children(recursive=True) if c.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "empty.py").write_text(EMPTY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    before = children()  # a server that tests share may run
    yield
    assert set(children()) <= set(before)


@pytest.mark.parametrize(
    "how",
    [signal.SIGKILL, signal.SIGSTOP, pytest.param(signal.SIGTERM, marks=pytest.mark.rare)],
)
def test_the_truth_is_that_of_all_rows_whatever_becomes_of_a_worker(how: signal.Signals) -> None:
    def act(_: Run) -> None:
        os.kill(worker(0).pid, how)

    run = Run(spec(MANY), act)
    outcome = run.outcome()

    assert (outcome.status, outcome.cause, outcome.reports) == ("done", "", WORKERS)
    assert holds(outcome.verdict)


def test_an_interruption_ends_a_run_whose_workers_fold() -> None:
    def act(run: Run) -> None:
        run.interrupts.requested = True

    run = Run(spec(ENDLESS), act)
    outcome = run.outcome()

    assert (outcome.status, outcome.exit_code) == ("interrupted", 130)
    assert time.monotonic() - run.acted_s < 5


def test_the_time_limit_ends_a_run_whose_workers_fold() -> None:
    outcome = Run(spec(ENDLESS, timeout_s=6), lambda _: None).outcome()

    assert outcome.status == "failed"
    assert outcome.cause.startswith("--timeout: the run was not done after 6 s, in phase verify")


def test_a_run_whose_workers_are_all_lost_is_verified_by_the_collector() -> None:
    def act(_: Run) -> None:
        for index in range(WORKERS):
            worker(index).kill()

    outcome = Run(spec(MANY), act).outcome()

    assert outcome.status == "done"
    assert holds(outcome.verdict)
