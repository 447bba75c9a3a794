"""`check`: check that a target can be reached and used, before a long sweep."""

from collections.abc import Iterator

import click

from cli import plan, results
from cli.cluster.options import ClusterOptions
from cli.commands.common import Choice, target_options
from cli.commands.options import Command
from cli.config import Target
from cli.host.interrupts import caught_interrupts
from cli.host.streams import say
from cli.runners.choice import runner_for
from simulator.errors import ConfigError, Interrupted, SetupError
from simulator.protocol.messages import CheckEvent, Outcome
from simulator.protocol.spec import Kind


@click.command(cls=Command)
@target_options
def check(*, choice: Choice) -> None:
    """Check that a target can be reached and used.

    The check shows the server's version, what an acknowledgement means, and your permissions. It
    connects from where a run would connect: on a cluster from a pod, after it has checked your
    permissions there. It creates a scratch table, writes to it, reads it and drops it.
    """
    problems: list[str] = []
    found = choice.resolve(choice.extra_options(problems), problems)
    if problems or not found:
        raise ConfigError(problems)
    shown = " ".join(f"{k}={v}" for k, v in found.options.public().items())
    _line("target", f"{found.name}: module {found.module}, runner {found.runner}, {shown}")
    if found.runner == "kubernetes":
        _check_cluster(found, choice.cluster)
    _check_database(found, choice.cluster)
    can = found.open().capabilities
    _line("insert modes", ", ".join(can.modes))
    _line("primary keys", ", ".join(can.primary_keys))
    _line("tables", "single, multiple" if can.multiple_tables else "single")
    _line("verification", "counts, full" if can.stores else "none: nothing is stored")


def _line(name: str, text: str) -> None:
    say(f"{name:13} {text}")


def _check_cluster(target: Target, options: ClusterOptions) -> None:
    from cli.cluster.api import Cluster  # noqa: PLC0415 - only this runner needs it
    from cli.cluster.helm import Helm  # noqa: PLC0415

    namespace = options.namespace or target.namespace
    cluster = Cluster(options, namespace)
    version = cluster.version()
    _line("cluster", f"Kubernetes {version} at {cluster.server}, namespace {namespace}")
    _line("helm", Helm(options, namespace).version())
    missing = cluster.missing_permissions()
    if missing:
        raise SetupError(
            f"permissions are missing in namespace {namespace}:\n  "
            + "\n  ".join(missing)
            + "\ndeployment/rbac.yaml grants the permissions that a run needs"
        )
    _line("permissions", "all that a run needs in the namespace")
    nodes = cluster.nodes("workload=db")
    if nodes is not None:
        kept = (
            ", ".join(nodes)
            or "no node has the label workload=db: workers may run beside the database"
        )
        _line("database node", kept)


def _check_database(target: Target, options: ClusterOptions) -> None:
    for event in database_facts(target, options):
        _line(event.name, event.detail)


def database_facts(
    target: Target, options: ClusterOptions, timeout_s: float = 0.0
) -> Iterator[CheckEvent]:
    """Yield what a collector sees of the database; SetupError if it cannot be used."""
    sweep_id = results.new_id(results.now_utc())
    spec = plan.collector_run(Kind.CHECK, sweep_id, target)
    spec = spec.model_copy(update={"timeout_s": timeout_s})
    with (
        caught_interrupts() as interrupts,
        runner_for(target, sweep_id, options, interrupts, spec) as runner,
    ):
        for event in runner.run(spec):
            if isinstance(event, CheckEvent):
                yield event
            if isinstance(event, Outcome) and event.status == "interrupted":
                raise Interrupted(event.cause)
            if isinstance(event, Outcome) and event.status != "done":
                raise SetupError(f"{target.name}: {target.options.redact(event.cause)}")
        if interrupts.requested:
            raise Interrupted("stopped by the user")
