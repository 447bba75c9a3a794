"""A sweep: what of its runs is shown and kept."""

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from cli import sweep
from cli.host.interrupts import Interrupts
from cli.host.machine import this_machine
from cli.plan import PlannedRun
from cli.results import Result, ResultFile
from cli.sweep import run_sweep
from simulator.data.dataset import lane_range
from simulator.modules.base import Options
from simulator.protocol.messages import Outcome, WorkerReport
from simulator.protocol.spec import Kind, WorkerPlan
from simulator.protocol.verdict import RowSlice, Status, Verdict
from tests.unit.specs import run_spec

SECRETS = {"password": "sesame open"}


class Secretive(Options):
    password: SecretStr


class Runner:
    """A runner whose run fails with a message that repeats the password."""

    def run(self, spec):
        reported = f"no entry for {SECRETS['password']}"
        worker = WorkerReport(index=0, error=reported, uncertain_cause=reported)
        yield Outcome(
            status="failed", cause=f"worker 0: {reported}", exit_code=1, workers=(worker,)
        )

    def facts(self):
        return {}

    def logs(self):
        return {"worker-0": "tried 'sesame open'"}


def test_a_password_that_an_error_repeats_is_neither_shown_nor_kept(tmp_path):
    spec = run_spec(workers=(WorkerPlan(timed=(lane_range(0, 0, 10),)),))
    result = Result(
        program_version="1",
        sweep_id="s",
        created=datetime(2026, 11, 21, tzinfo=UTC),
        kind=Kind.INSERT,
        target="t",
        module="null",
        runner="local",
        configuration={},
        machine=this_machine(),
        dataset=spec.dataset,
    )
    shown, path = [], tmp_path / "result.json"
    run_sweep(
        [PlannedRun(spec, 1, 0)],
        Runner(),
        Secretive(password="sesame open").redact,
        result=result,
        file=ResultFile(path),
        watch=lambda _, event: shown.append(event.model_dump_json()),
        interrupts=Interrupts(),
    )

    for text in (*shown, path.read_text()):
        assert "no entry for ***" in text
        assert "sesame" not in text


UNCERTAIN = WorkerReport(index=0, rows=5, uncertain=(RowSlice(start=5, stop=10, step=1),))
CERTAIN = WorkerReport(index=0, rows=10)


@pytest.mark.parametrize(
    ("report", "status", "absent", "complete"),
    [
        (CERTAIN, Status.VERIFIED, 0, True),
        (CERTAIN, Status.MISMATCH, 0, True),
        (CERTAIN, Status.OFF, 0, True),
        (UNCERTAIN, Status.VERIFIED, 0, True),
        (UNCERTAIN, Status.INCOMPLETE, 3, False),
        (UNCERTAIN, Status.MISMATCH, 3, False),
        (UNCERTAIN, Status.UNKNOWN, 0, False),
        (UNCERTAIN, Status.OFF, 0, False),
    ],
)
def test_a_manifest_is_complete_only_if_no_row_is_in_doubt(report, status, absent, complete):
    verdict = Verdict(status=status, uncertain_absent=absent)
    outcome = Outcome(status="done", touched=True, workers=(report,), verdict=verdict)

    assert sweep._complete(outcome) is complete


@pytest.mark.parametrize("status", ["failed", "interrupted"])
def test_a_manifest_of_a_run_that_did_not_finish_is_incomplete(status):
    assert not sweep._complete(Outcome(status=status, workers=(CERTAIN,)))
