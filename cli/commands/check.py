"""`check`: whether a target can be reached and used, before a long sweep."""

import click

from cli import plan, results
from cli.cluster.options import ClusterOptions
from cli.commands.common import Choice, Command, target_options
from cli.config import Target
from cli.host.interrupts import caught_interrupts
from cli.runners.choice import runner_for
from simulator.errors import ConfigError, SetupError
from simulator.protocol.messages import CheckEvent, Outcome


@click.command(cls=Command)
@target_options
def check(*, choice: Choice) -> None:
    """Connect to a target, tell its version and rights, and what it can do.

    It is tried from where a run would use it: on a cluster, from a pod, after a look at the rights
    there. The database's rights are tried, not read: a scratch table is created, written, read and
    dropped.
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


def _line(name: str, told: str) -> None:
    click.echo(f"{name:13} {told}")


def _check_cluster(target: Target, options: ClusterOptions) -> None:
    from cli.cluster.api import Cluster  # noqa: PLC0415 - only this runner needs it
    from cli.cluster.helm import Helm  # noqa: PLC0415

    namespace = options.namespace or target.namespace
    cluster = Cluster(options, namespace)
    version = cluster.version()
    _line("cluster", f"Kubernetes {version} at {cluster.server}, namespace {namespace}")
    _line("helm", Helm(options, namespace).version())
    missing = cluster.missing_rights()
    if missing:
        raise SetupError(
            f"in namespace {namespace} you may not:\n  "
            + "\n  ".join(missing)
            + "\ndeployment/rbac.yaml holds the rights that a run needs"
        )
    _line("rights", "to run, to look and to clean up: all there")
    nodes = cluster.nodes("workload=db")
    if nodes is not None:
        kept = ", ".join(nodes) or "none carries workload=db: workers may run beside the database"
        _line("database node", kept)


def _check_database(target: Target, options: ClusterOptions) -> None:
    sweep_id = results.new_id(results.now_utc())
    spec = plan.check_run(sweep_id, target)
    with (
        caught_interrupts() as interrupts,
        runner_for(target, sweep_id, options, interrupts, spec) as runner,
    ):
        for event in runner.run(spec):
            if isinstance(event, CheckEvent):
                _line(event.name, event.detail)
            if isinstance(event, Outcome) and event.status != "done":
                raise SetupError(f"{target.name}: {target.options.redact(event.cause)}")
