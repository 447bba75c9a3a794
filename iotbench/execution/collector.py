"""Runs of a collector without workers: to check a database, read its marks, or scan a file."""

from collections.abc import Iterator

from iotbench.config.options.choice import Choice, ClusterOptions, RunOptions
from iotbench.config.targets.config import Target
from iotbench.execution.runners import manifests, runner_for
from iotbench.machine.interrupts import caught_interrupts
from iotbench.machine.streams import print_out, say
from iotbench.measurements.shared.plan import PlannedRun
from iotbench.output.terminal.course import Course
from iotbench.output.terminal.progress import ProgressDisplay
from simulator.errors import BenchError, ConfigError, Interrupted, SetupError
from simulator.protocol.events import Event, Outcome
from simulator.protocol.records import Scanned
from simulator.protocol.spec import RunSpec, Work

STOPPED = "stopped by the user"


def ask_collector(
    spec: RunSpec, target: Target, cluster: ClusterOptions, about: str = ""
) -> Iterator[Event]:
    """Yield the events of a collector; the last one is an outcome without failure.

    BenchError if it fails; its message begins with `about`, or else the name of the target.
    """
    with (
        caught_interrupts() as interrupts,
        runner_for(target, spec.sweep_id, cluster, interrupts, spec) as runner,
    ):
        for event in runner.run(spec):
            if isinstance(event, Outcome) and event.status != "done":
                raise _failure(event, spec, target, about or target.name)
            yield event
        if interrupts.requested:
            raise Interrupted(STOPPED)


def _failure(outcome: Outcome, spec: RunSpec, target: Target, about: str) -> BenchError:
    cause = target.options.redact(outcome.cause)
    if outcome.status == "interrupted":
        return Interrupted(cause)
    if spec.work is Work.SCAN and outcome.exit_code == ConfigError.exit_code:
        return ConfigError(cause)
    return SetupError(f"{about}: {cause}")


def scan_in_pod(
    choice: Choice, run: RunOptions, target: Target, spec: RunSpec, name: str
) -> Scanned | None:
    """Scan a file in a pod and return what it finds; None after a dry run."""
    if run.dry_run:
        print_out(manifests(target, spec.sweep_id, choice.cluster, spec))
        return None
    if not run.quiet:
        say(f"reading {name} in a pod", err=True)
    planned = PlannedRun(spec, 1, 0)
    course, about = Course([planned]), f"--data: {name}"
    with ProgressDisplay(quiet=run.quiet) as follower:
        for event in ask_collector(spec, target, choice.cluster, about):
            if isinstance(event, Outcome) and event.scanned:
                return event.scanned
            follower.take(course.follow(planned, event))
    raise SetupError(f"{about}: the scan ended without an outcome")
