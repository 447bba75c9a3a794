"""Runs a collector without workers, to check a database, read its marks, or scan a file."""

import time
from collections.abc import Iterator

from iotbench.config.options.choice import ClusterOptions, Reach, RunOptions
from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes.api import cluster_of
from iotbench.execution.kubernetes.helm import Helm
from iotbench.execution.kubernetes.permissions import FOR_QUOTAS, FOR_RESOURCES
from iotbench.execution.kubernetes.preflight import database_nodes, expect, groups_of, look
from iotbench.execution.runners import render_manifests, runner_for
from iotbench.machine.interrupts import STOPPED, Interrupts, catch_interrupts
from iotbench.machine.streams import print_out, say
from iotbench.measurements.shared import plan
from iotbench.measurements.shared.plan import PlannedRun
from iotbench.output.terminal.course import Course
from iotbench.output.terminal.progress import ProgressDisplay
from iotbench.results import result_files
from simulator.errors import BenchError, ConfigError, Interrupted, SetupError
from simulator.protocol.events import CheckEvent, Event, Outcome
from simulator.protocol.mark import Mark
from simulator.protocol.records import Scanned
from simulator.protocol.spec import InsertTask, RunSpec, Work

_CHECK_S = 60.0
"""Maximum time that a target may take to answer."""
READY_S = 60.0
"""Maximum time that a database may take to answer after a start or a failure."""
_POLL_S = 0.05
_NOT_GRANTED = "--resources needs what deployment/rbac-resources.yaml grants: "


def ask_collector(
    spec: RunSpec, target: Target, cluster: ClusterOptions, about: str = ""
) -> Iterator[Event]:
    """Yield the events of a collector; the last one is a successful outcome.

    If the collector fails, raise BenchError with a message that begins with `about`, or else with
    the name of the target.
    """
    with (
        catch_interrupts() as interrupts,
        runner_for(target, spec.sweep_id, cluster, interrupts, spec) as runner,
    ):
        for event in runner.run(spec):
            if isinstance(event, Outcome) and event.status != "done":
                cause = target.explain(target.options.redact(event.cause))
                if event.status == "interrupted":
                    raise Interrupted(cause)
                if spec.work is Work.SCAN and event.exit_code == ConfigError.exit_code:
                    raise ConfigError(cause)
                raise SetupError(f"{about or target.name}: {cause}")
            yield event
        if interrupts.requested:
            raise Interrupted(STOPPED)


def scan_in_pod(
    reach: Reach, run: RunOptions, target: Target, spec: RunSpec, name: str
) -> Scanned | None:
    """Scan a file in a pod and return the findings; None after a dry run."""
    if run.dry_run:
        print_out(render_manifests(target, spec.sweep_id, reach.cluster, spec))
        return None
    if not run.quiet:
        say(f"reading {name} in a pod", err=True)
    planned = PlannedRun(spec, 1, 0)
    course, about = Course([planned]), f"--data: {name}"
    with ProgressDisplay(quiet=run.quiet) as follower:
        for event in ask_collector(spec, target, reach.cluster, about):
            if isinstance(event, Outcome) and event.scanned:
                return event.scanned
            follower.take(course.follow(planned, event))
    raise SetupError(f"{about}: the scan ended without an outcome")


def target_facts(target: Target, options: ClusterOptions) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each fact that a run would find; BenchError if no run is possible."""
    shown = " ".join(f"{k}={v}" for k, v in target.options.public().items())
    yield "target", f"{target.name}: module {target.module}, runner {target.runner}, {shown}"
    if target.runner == "kubernetes":
        yield from _list_cluster_facts(target, options)
    for event in database_facts(target, options):
        yield event.name, event.detail
    can = target.open().capabilities
    yield "insert modes", ", ".join(can.modes)
    yield "primary keys", ", ".join(can.primary_keys)
    yield "tables", "single, multiple" if can.multiple_tables else "single"
    yield "verification", "counts, full" if can.stores else "none: nothing is stored"


def _list_cluster_facts(target: Target, options: ClusterOptions) -> Iterator[tuple[str, str]]:
    cluster = cluster_of(target, options)
    namespace, version = cluster.namespace, cluster.version()
    yield "cluster", f"Kubernetes {version} at {cluster.address}, namespace {namespace}"
    yield "helm", Helm(options, namespace).version()
    pods = groups_of(_render_a_worker(target, options))
    seen = look(cluster)
    warnings = expect(namespace, seen, pods, inside=True)
    yield "permissions", "all that a run needs in the namespace"
    also = cluster.missing_permissions(FOR_RESOURCES)
    yield "resources", _NOT_GRANTED + "; ".join(also) if also else "--resources can be used"
    if unread := cluster.missing_permissions(FOR_QUOTAS):
        yield "quotas", "not checked: " + "; ".join(unread)
    if nodes := database_nodes(seen.nodes or (), pods):
        yield "database node", ", ".join(nodes)
    for text in warnings:
        yield "warning", text


def _render_a_worker(target: Target, options: ClusterOptions) -> str:
    """Return the manifests of a collector and one worker with the chart's values."""
    sweep_id = result_files.new_id(result_files.now_utc())
    spec = plan.collector_run(Work.CHECK, sweep_id, target)
    spec = spec.model_copy(update={"workers": (InsertTask(),)})
    return render_manifests(target, sweep_id, options, spec)


def database_facts(
    target: Target, options: ClusterOptions, timeout_s: float = 0.0
) -> Iterator[CheckEvent]:
    """Yield the facts that a collector finds; SetupError if a run could not use the database."""
    for event in _ask(Work.CHECK, target, options, timeout_s):
        if isinstance(event, CheckEvent):
            yield event


def read_marks(target: Target, options: ClusterOptions) -> tuple[Mark, ...]:
    """Return the marks in a database."""
    for event in _ask(Work.MARKS, target, options):
        if isinstance(event, Outcome):
            return event.marks
    return ()


def _ask(
    work: Work, target: Target, options: ClusterOptions, timeout_s: float = 0.0
) -> Iterator[Event]:
    sweep_id = result_files.new_id(result_files.now_utc())
    spec = plan.collector_run(work, sweep_id, target, timeout_s=timeout_s)
    return ask_collector(spec, target, options)


def explain_silence(target: Target, options: ClusterOptions) -> str:
    """Return why a run could not use the database; empty if it could."""
    began_s = time.monotonic()
    try:
        for _ in database_facts(target, options, _CHECK_S):
            pass
    except Interrupted:
        raise
    except BenchError as error:
        if time.monotonic() - began_s >= _CHECK_S:
            return f"does not answer within {_CHECK_S:g} s"
        return first_line(error).removeprefix(f"{target.name}: ")
    return ""


def wait_for_answer(target: Target, options: ClusterOptions, interrupts: Interrupts) -> str:
    """Wait until a database answers.

    Return the reason if the database does not answer, or if the user has asked to stop.
    """
    deadline_s = time.monotonic() + READY_S
    while not interrupts.requested:
        try:
            reason = explain_silence(target, options)
        except Interrupted:
            interrupts.requested = True
            break
        if not reason or time.monotonic() > deadline_s:
            return reason
        time.sleep(_POLL_S)  # a database cannot say when it will answer
    return STOPPED


def first_line(error: BenchError) -> str:
    """Return the first line of an error, which names the cause."""
    return str(error).partition("\n")[0]
