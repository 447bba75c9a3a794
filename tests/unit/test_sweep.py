"""A sweep: what of its runs is shown and kept."""

from contextlib import suppress

from pydantic import SecretStr

from iotbench.config.targets.config import Target
from iotbench.execution import sweep as sweeps
from iotbench.execution.sweep import Sweep, run_sweep
from iotbench.machine.bystanders import Bystanders
from iotbench.machine.disk import DROPPED
from iotbench.machine.interrupts import Interrupts
from iotbench.measurements.shared.faults import Faults
from iotbench.measurements.shared.options import MachineOptions
from iotbench.measurements.shared.plan import PlannedRun
from iotbench.output.terminal.notes import notes_of
from iotbench.results import result_files
from iotbench.results.result import Manifest
from iotbench.results.result_files import ResultFile
from simulator.data.ranges import lane_range
from simulator.errors import Interrupted
from simulator.modules.contract import Options
from simulator.protocol.events import Outcome, PhaseEvent, ProgressEvent
from simulator.protocol.messages import WorkerReport
from simulator.protocol.spec import InsertTask
from tests.unit.output.terminal import made
from tests.unit.specs import dataset, run_spec


class Secretive(Options):
    password: SecretStr


def test_a_password_that_an_error_repeats_is_neither_shown_nor_kept(tmp_path):
    text = "no entry for sesame open"
    worker = WorkerReport(index=0, error=text, uncertain_cause=text)
    failed = Outcome(status="failed", cause=f"worker 0: {text}", exit_code=1, workers=(worker,))
    shown = []
    swept(
        tmp_path, failed, options=Secretive(password="sesame open"),
        watch=lambda _, event: shown.append(event.model_dump_json()),
    )  # fmt: skip

    for each in (*shown, (tmp_path / "result.json").read_text()):
        assert "no entry for ***" in each
        assert "sesame" not in each


def test_the_command_of_the_target_that_ends_a_fault_is_kept_without_its_password(tmp_path):
    target = Target("t", "null", "local", Secretive(password="sesame open"), {},
                    restart_with="up 'sesame open'")  # fmt: skip
    found = {}
    for fault in ("kill-database", "pause-database"):
        options = Faults.model_validate({"fault": fault})
        sweep = Sweep(target, options, [], made.result([]), ResultFile(tmp_path / "result.json"))
        found[fault] = sweep.failing.restart_with, sweep.describe()

    assert found == {
        "kill-database": ("up 'sesame open'", {"restart_with": "up '***'"}),
        "pause-database": (None, {}),
    }


class Scripted:
    """A runner whose run yields the given events; between them it looks at the result file."""

    def __init__(self, path, *events):
        self.path, self.events, self.seen, self.cluster_warnings = path, events, [], []

    def run(self, spec):
        self.look()
        for event in self.events:
            yield event
            self.look()

    def look(self):
        self.seen.append(result_files.read(self.path))

    def facts(self):
        return {}

    def logs(self):
        return {"worker-0": "tried 'sesame open'"}


def swept(tmp_path, *events, before=None, options=None, watch=lambda *_: None, **given):
    """Run a sweep of one run; return what its result file held after each event, and at the end."""
    spec = run_spec(workers=(InsertTask(timed=(lane_range(0, 0, 10),)),))
    result = made.result([], target="t", status="running", dataset=spec.dataset)
    result.manifest = before
    path = tmp_path / "result.json"
    runner = Scripted(path, *events)
    target = Target("t", "null", "local", options or Options(), {})
    runs = [PlannedRun(spec, 1, 0)]
    sweep = Sweep(target, MachineOptions(), runs, result, ResultFile(path))
    with suppress(Interrupted):
        run_sweep(sweep, runner, watch, Interrupts(), **given)
    return [*runner.seen, result_files.read(path)]


INIT, INSERT = PhaseEvent(phase="init"), PhaseEvent(phase="insert")
BATCH = ProgressEvent(phase="insert", rows=7, of=10, rows_per_s=1.0, left_s=3.0)
COMPACT = PhaseEvent(phase="compact")
KILLED = Outcome(status="failed", cause="the collector was killed", exit_code=1, touched=True)
REFUSED = Outcome(status="failed", cause="the rows of another insert", exit_code=1)
DONE = Outcome(
    status="done", touched=True, complete=True, workers=(WorkerReport(index=0, rows=10),)
)


def test_the_file_says_before_a_run_that_its_rows_are_not_known_to_be_stored(tmp_path):
    first, *_, last = swept(tmp_path, INIT, DONE)

    assert (first.status, first.manifest.complete, first.manifest.rows) == ("running", False, 10)
    assert (last.status, last.manifest.complete, last.manifest.rows) == ("done", True, 10)


def test_the_file_holds_the_progress_while_a_run_goes_on(tmp_path):
    _, init, insert, batch, compact, last = swept(tmp_path, INIT, INSERT, BATCH, COMPACT)[:6]

    assert (init.in_progress.phase, insert.in_progress.phase) == ("init", "insert")
    assert batch.in_progress.rows == 0  # written less than 5 s ago
    assert (compact.in_progress.phase, compact.in_progress.rows) == ("compact", 7)
    assert last.in_progress is None


def test_progress_is_written_every_few_seconds(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeps, "_WRITE_EVERY_S", 0.0)
    monkeypatch.setattr(sweeps, "_WRITE_SHARE", 1e9)
    *_, batch, _, _ = swept(tmp_path, INSERT, BATCH, DONE)

    assert batch.in_progress.rows == 7


def test_a_run_whose_collector_was_killed_keeps_its_last_progress(tmp_path):
    last = swept(tmp_path, INIT, INSERT, BATCH, KILLED)[-1]

    (run,) = last.runs
    assert (run.progress.phase, run.progress.rows) == ("insert", 7)
    assert not last.manifest.complete
    assert "at least 7 rows acknowledged, 0 prefilled (1 worker, phase insert)" in (
        "\n".join(notes_of(last, None))
    )
    early = swept(tmp_path, INIT, KILLED)[-1]
    assert "before that" not in "\n".join(notes_of(early, None))


def test_a_run_that_touched_nothing_leaves_the_manifest_as_it_was(tmp_path):
    before = Manifest(dataset=dataset(), rows=0, complete=True)
    during, *_, last = swept(tmp_path, REFUSED, before=before)

    assert not during.manifest.complete
    assert last.manifest == before


def test_a_file_of_a_sweep_that_was_killed_says_so(tmp_path):
    killed = swept(tmp_path, INIT, INSERT, BATCH, COMPACT, DONE)[4]

    text = "\n".join(notes_of(killed, None))
    assert "running: did not end: its command line was killed, or is still running" in text
    assert "at least 7 rows acknowledged" in text


def test_caches_are_dropped_before_a_run_and_the_result_says_so(tmp_path):
    dropped, kept, unasked = (
        swept(tmp_path, INIT, DONE, drop_caches=drop)
        for drop in (lambda: DROPPED, lambda: "no permission", None)
    )

    assert [found[0].caches for found in (dropped, kept, unasked)] == [DROPPED, "no permission", ""]
    assert "system caches: dropped before each run" in notes_of(dropped[-1], None)
    (warning,) = [text for text in kept[-1].warnings if "caches" in text]
    assert warning.startswith("--drop-caches: the system's file caches were not dropped (no permi")
    assert not any("caches" in line for line in notes_of(unasked[-1], None))


class NoFaults:
    """Faults that do nothing."""

    def follow(self, spec, event):
        pass

    def collect_injected(self, outcome):
        return ()


def test_the_work_of_others_is_measured_beside_each_run_but_not_beside_faults(tmp_path):
    none = swept(tmp_path, INIT, DONE)[-1]
    measured = swept(tmp_path, INIT, DONE, bystanders=Bystanders(list))[-1]
    failing = swept(tmp_path, INIT, DONE, bystanders=Bystanders(list), faults=NoFaults())[-1]

    assert none.runs[0].other_work is None
    assert measured.runs[0].other_work.cores >= 0
    assert failing.runs[0].other_work is None
