"""`cleanup`: remove what a killed command line has left."""

from pathlib import Path

import click

from cli import config as configuration
from cli.cluster.options import ClusterOptions
from cli.commands.common import Command, option
from cli.host.lock import remove_free_locks
from cli.host.scratch import abandoned_folders, remove_folder
from simulator.errors import ConfigError, SetupError


@click.command(cls=Command)
@option(
    "--config",
    "-c",
    type=click.Path(path_type=Path),
    default="config.yaml",
    show_default=True,
    help="File that names the namespace.",
)
@option("--namespace", "-n", help="Namespace to look in.  [default: the configuration's]")
@option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    help="How to reach the cluster.  [default: as kubectl finds it]",
)
@option("--context", help="Context of the kubeconfig.  [default: its current one]")
@option("--run", "run_id", metavar="ID", help="Remove this sweep, whoever started it.")
@option("--all", "everything", is_flag=True, help="Remove every sweep, also one that still runs.")
def cleanup(  # noqa: PLR0913
    *,
    config: Path,
    namespace: str | None,
    kubeconfig: Path | None,
    context: str | None,
    run_id: str | None,
    everything: bool,
) -> None:
    """Remove what a killed command line left, on this machine and in the cluster's namespace.

    Without --run or --all only what you started on this machine is removed, and only if the command
    line that started it is not alive any more. What others have there is listed.
    """
    if run_id and everything:
        raise ConfigError("--run, --all: give one of them")
    for folder in abandoned_folders():
        remove_folder(folder)
        click.echo(f"removed folder {folder}")
    for lock in remove_free_locks():
        click.echo(f"removed lock {lock}")
    where = namespace or configuration.load(config).namespace
    options = ClusterOptions(namespace=where, kubeconfig=kubeconfig, context=context)
    problems = options.problems()
    if problems:
        raise ConfigError(problems)
    try:
        _clean_cluster(options, where, run_id, everything=everything)
    except ConfigError as error:
        if run_id or everything or kubeconfig or context:
            raise
        click.echo(f"no cluster was looked at: {error}")


def _clean_cluster(
    options: ClusterOptions, namespace: str, run_id: str | None, *, everything: bool
) -> None:
    from cli.cluster.api import Cluster  # noqa: PLC0415 - only here
    from cli.cluster.helm import Helm  # noqa: PLC0415
    from cli.cluster.release import is_abandoned  # noqa: PLC0415
    from cli.cluster.removal import (  # noqa: PLC0415
        found_sweeps,
        remove,
    )

    cluster, helm = Cluster(options, namespace), Helm(options, namespace)
    helm.version()
    found = found_sweeps(cluster)
    chosen = [
        sweep
        for sweep in found
        if everything or (run_id.startswith(sweep.sweep) if run_id else is_abandoned(sweep.owner))
    ]
    for sweep in chosen:
        remove(cluster, helm, sweep.sweep)
        click.echo(f"removed {sweep.sweep} of {sweep.created}: {len(sweep.objects)} objects")
    if run_id and not chosen:
        raise SetupError(f"--run: there is nothing of {run_id} in namespace {namespace}")
    left = [sweep for sweep in found if sweep not in chosen]
    for sweep in left:
        click.echo(f"left {sweep.sweep} of {sweep.created}, started by {sweep.owner}")
    if left:
        click.echo("remove one with --run ID, all with --all")
    if not found:
        click.echo(f"nothing is left in namespace {namespace}")
