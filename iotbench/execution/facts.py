"""Facts about a target before a run: cluster, permissions, database, capabilities."""

import time
from collections.abc import Iterator

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution.collector import STOPPED, ask_collector
from iotbench.machine.interrupts import Interrupts
from iotbench.measurements.shared import plan
from iotbench.results import result_files
from simulator.errors import BenchError, Interrupted, SetupError
from simulator.protocol.events import CheckEvent
from simulator.protocol.spec import Work

_CHECK_S = 60.0
"""Longest time that a target may take to answer."""
READY_S = 60.0
"""Longest time for a database to answer after a start or a failure."""
_POLL_S = 0.05
_NOT_GRANTED = "--resources needs what deployment/rbac-resources.yaml grants: "


def target_facts(target: Target, options: ClusterOptions) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of what a run would meet; BenchError if it could not run."""
    shown = " ".join(f"{k}={v}" for k, v in target.options.public().items())
    yield "target", f"{target.name}: module {target.module}, runner {target.runner}, {shown}"
    if target.runner == "kubernetes":
        yield from _cluster_facts(target, options)
    for event in database_facts(target, options):
        yield event.name, event.detail
    can = target.open().capabilities
    yield "insert modes", ", ".join(can.modes)
    yield "primary keys", ", ".join(can.primary_keys)
    yield "tables", "single, multiple" if can.multiple_tables else "single"
    yield "verification", "counts, full" if can.stores else "none: nothing is stored"


def _cluster_facts(target: Target, options: ClusterOptions) -> Iterator[tuple[str, str]]:
    from iotbench.execution.kubernetes.api import (  # noqa: PLC0415 - only this runner needs it
        Cluster,
    )
    from iotbench.execution.kubernetes.helm import Helm  # noqa: PLC0415
    from iotbench.execution.kubernetes.permissions import FOR_RESOURCES  # noqa: PLC0415

    namespace = options.namespace or target.namespace
    cluster = Cluster(options, namespace)
    version = cluster.version()
    yield "cluster", f"Kubernetes {version} at {cluster.server}, namespace {namespace}"
    yield "helm", Helm(options, namespace).version()
    missing = cluster.missing_permissions()
    if missing:
        raise SetupError(
            f"permissions are missing in namespace {namespace}:\n  "
            + "\n  ".join(missing)
            + "\ndeployment/rbac.yaml grants the permissions that a run needs"
        )
    yield "permissions", "all that a run needs in the namespace"
    also = cluster.missing_permissions(FOR_RESOURCES)
    yield "resources", _NOT_GRANTED + "; ".join(also) if also else "--resources can be used"
    nodes = cluster.nodes("workload=db")
    if nodes is not None:
        kept = (
            ", ".join(nodes)
            or "no node has the label workload=db: workers may run beside the database"
        )
        yield "database node", kept


def database_facts(
    target: Target, options: ClusterOptions, timeout_s: float = 0.0
) -> Iterator[CheckEvent]:
    """Yield the facts that a collector finds; SetupError if the database cannot be used."""
    sweep_id = result_files.new_id(result_files.now_utc())
    spec = plan.collector_run(Work.CHECK, sweep_id, target)
    spec = spec.model_copy(update={"timeout_s": timeout_s})
    for event in ask_collector(spec, target, options):
        if isinstance(event, CheckEvent):
            yield event


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
    """Wait until a database answers; return why it does not, or that the user stopped."""
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
    """Return the first line of an error, which has the cause."""
    return str(error).partition("\n")[0]
