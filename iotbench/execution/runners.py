"""Chooses the runner of a target, and the meters of its runs."""

from contextlib import nullcontext
from functools import partial

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target, address_key
from iotbench.config.targets.packages import missing_packages
from iotbench.execution.kubernetes.api import cluster_of
from iotbench.execution.kubernetes.helm import Helm
from iotbench.execution.kubernetes.kubelet import DatabasePod, KubeletSource, database_pods
from iotbench.execution.kubernetes.lock import ClusterLock
from iotbench.execution.kubernetes.permissions import FOR_RESOURCES
from iotbench.execution.kubernetes.preflight import groups_of
from iotbench.execution.kubernetes.release import Release, remove
from iotbench.execution.kubernetes.runner import KubernetesRunner
from iotbench.execution.local.runner import LocalRunner
from iotbench.machine.bystanders import Bystanders
from iotbench.machine.counters import ProcessSource
from iotbench.machine.interrupts import Interrupts
from iotbench.machine.listener import server_of, servers_here
from iotbench.machine.lock import hold_lock
from iotbench.machine.resources import ResourceMeter
from simulator.errors import ConfigError, SetupError
from simulator.modules import database_class
from simulator.packages import describe_missing
from simulator.protocol.spec import RunSpec, Work

Runner = LocalRunner | KubernetesRunner
"""Starts one run at a time; the end of the context removes everything that the runs left."""
_WITHOUT_LOCK = (Work.CHECK, Work.MARKS, Work.SCAN)
"""Work that is allowed during another run on the same database."""


def runner_for(
    target: Target,
    sweep_id: str,
    options: ClusterOptions,
    interrupts: Interrupts,
    largest: RunSpec,
) -> Runner:
    """Return the runner of a target, a context for one sweep.

    ConfigError if the options do not allow the largest run to start. Entering the context raises
    ConfigError while another run is in progress on the same database, and SetupError if the
    cluster does not let the largest run start.
    """
    key = address_key(target.options) if largest.work not in _WITHOUT_LOCK else ""
    command = f"{largest.work} --target {target.name}"
    if target.runner == "local":
        cls = database_class(target.module)
        if missing := missing_packages(cls):
            raise ConfigError(
                f"target {target.name}: module {cls.name}: {describe_missing(missing)}"
            )
        file_lock = hold_lock(key, command) if key else nullcontext()
        return LocalRunner(
            target.secrets(), target.credential_files, interrupts, file_lock, sweep_id
        )
    pods = groups_of(render_manifests(target, sweep_id, options, largest))
    cluster = cluster_of(target, options)
    helm = Helm(options, cluster.namespace)
    release = Release(sweep_id, target, keep=options.keep)
    remove_sweep = partial(remove, cluster, helm)
    lock = ClusterLock(cluster, key, sweep_id, command, remove_sweep) if key else nullcontext()
    return KubernetesRunner(release, cluster, options, interrupts, lock, pods=pods)


def meter_for(
    target: Target, sweep_id: str, options: ClusterOptions, *, required: bool = True
) -> ResourceMeter:
    """Return the meter of machine, client and server for a sweep.

    If permissions are missing, raise SetupError if `required`, or else return a meter that reports
    the reason.
    """
    if target.runner == "local":
        return ResourceMeter(ProcessSource(server_of(target.open())))
    cluster = cluster_of(target, options)
    missing = cluster.missing_permissions(FOR_RESOURCES)
    if missing and required:
        raise SetupError(
            "--resources: permissions are missing in the cluster:\n  "
            + "\n  ".join(missing)
            + "\ndeployment/rbac-resources.yaml grants them"
        )
    database: tuple[DatabasePod, ...] | str = f"permissions are missing: {'; '.join(missing)}"
    if not missing:
        database = database_pods(cluster, target)
    return ResourceMeter(KubeletSource(cluster, Release(sweep_id, target).selector, database))


def bystanders_for(target: Target) -> Bystanders | None:
    """Return the meter of other work on this machine; None for runs in pods."""
    return Bystanders(partial(servers_here, target.open())) if target.runner == "local" else None


def render_manifests(target: Target, sweep_id: str, options: ClusterOptions, spec: RunSpec) -> str:
    """Return the manifests of a run, as helm would apply them."""
    release = Release(sweep_id, target)
    helm = Helm(options, options.namespace or target.namespace)
    helm.version()
    keys = ", ".join(release.credentials(""))
    applied = helm.template(release.name, release.values(spec), release.propose(spec))
    return (
        f"# Besides these, the command line makes a Secret {release.credentials_name(spec.run_id)}"
        f" with the keys {keys}.\n{applied}"
    )
