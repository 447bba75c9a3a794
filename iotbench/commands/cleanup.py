"""`cleanup`: remove the remains of killed commands."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Annotated, ClassVar

import click
from pydantic import Field

from iotbench.config.input.options import Opt
from iotbench.config.options.basic import Command, Configured, WrittenFolder
from iotbench.config.options.choice import ClusterOptions
from iotbench.config.options.declared import option_like, options_of
from iotbench.config.targets import config as configuration
from iotbench.execution.kubernetes.api import Cluster
from iotbench.execution.kubernetes.helm import Helm
from iotbench.execution.kubernetes.preflight import expect_namespace
from iotbench.execution.kubernetes.release import find_sweeps, has_ended, remove
from iotbench.machine.lock import remove_free_locks
from iotbench.machine.scratch import find_left_folders
from iotbench.machine.streams import OutputError, say
from iotbench.measurements import writing_kinds
from iotbench.results import result_files
from iotbench.results.names import DEFAULT_FOLDER
from simulator.errors import ConfigError, SetupError, counted


class _Options(Configured):
    """The remains to remove."""

    GROUP: ClassVar[str] = "Other options"

    run_id: Annotated[str | None, Field(alias="run"), Opt(metavar="ID")] = None
    """Remove this sweep, even if another user started it."""
    everything: Annotated[bool, Field(alias="all")] = False
    """Remove every sweep, even one in progress."""
    tables: bool = False
    """Only list the tables that inserts left, by the result files in --output."""
    output: WrittenFolder = DEFAULT_FOLDER


@click.command(cls=Command)
@option_like(
    ClusterOptions, "namespace", help="Namespace to clean up.  [default: the configuration's]"
)
@option_like(ClusterOptions, "kubeconfig")
@option_like(ClusterOptions, "context")
@options_of(_Options)
def cleanup(
    *, namespace: str | None, kubeconfig: Path | None, context: str | None, options: _Options
) -> None:
    """Remove the remains of killed commands.

    Cleans up this machine and the cluster's namespace. Without --run or --all it removes only
    remains of commands that you started from this machine and that have ended, and lists all other
    remains.

    The tables of the last insert, and of each file of --data, stay in the database. --tables lists
    them, so that you can drop those that you no longer need.
    """
    run_id, everything = options.run_id, options.everything
    if options.tables:
        _list_tables(options.output)
        return
    if run_id and everything:
        raise ConfigError("--run, --all: give one of them")
    problems = _clean_machine(options.output)
    where = namespace or configuration.load(options.config).namespace
    cluster = ClusterOptions(namespace=where, kubeconfig=kubeconfig, context=context)
    wrong = cluster.problems()
    if wrong:
        raise ConfigError(wrong)
    try:
        _clean_cluster(cluster, where, run_id, everything=everything)
    except ConfigError as error:
        if run_id or everything or kubeconfig or context:
            raise
        _report(f"no cluster was cleaned up: {error}")
    if problems:
        raise SetupError("; ".join(problems))


def _report(text: str) -> None:
    """Print a line; an output that cannot be written is reported only when the program ends."""
    with suppress(OutputError):
        say(text)


def _clean_machine(output: Path) -> list[str]:
    """Remove the remains of ended commands; return a sentence for each failed removal."""
    removed, problems = 0, []
    left = find_left_folders()
    for folder in left.abandoned:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            problems.append(f"cannot remove folder {folder}: {error.strerror or error}")
        else:
            _report(f"removed folder {folder}")
            removed += 1
    for folder in left.unknown:
        _report(
            f"left folder {folder}: it does not name the command that made it; if no command runs,"
            " remove it with rm -r"
        )
    for path in result_files.find_unfinished(output):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            problems.append(f"cannot remove file {path}: {error.strerror or error}")
        else:
            _report(f"removed unfinished file {path}")
            removed += 1
    for lock in remove_free_locks():
        _report(f"removed lock {lock}")
        removed += 1
    if not removed:
        _report("nothing to remove on this machine")
    return problems


def _list_tables(output: Path) -> None:
    """List the tables that inserts left, newest first, without checking that they still exist."""
    left = result_files.find_tables_left(output, writing_kinds())
    for (target, table), (path, manifest) in left.items():
        rows = counted(manifest.rows, "row") if manifest.complete else "an unknown number of rows"
        _report(f"{target}: table {table}, {rows} by {path}")
    if not left:
        _report(f"no insert in {output} left tables")


def _clean_cluster(
    options: ClusterOptions, namespace: str, run_id: str | None, *, everything: bool
) -> None:
    cluster, helm = Cluster(options, namespace), Helm(options, namespace)
    helm.version()
    expect_namespace(namespace, cluster.own_namespace())
    found = find_sweeps(cluster)
    chosen = [
        sweep
        for sweep in found
        if everything
        or (run_id.startswith(sweep.sweep) if run_id else has_ended(sweep.owner, cluster))
    ]
    for sweep in chosen:
        remove(cluster, helm, sweep.sweep)
        _report(f"removed {sweep.sweep} of {sweep.created}: {len(sweep.objects)} objects")
    if run_id and not chosen:
        raise SetupError(f"--run: namespace {namespace} has no objects of {run_id}")
    left = [sweep for sweep in found if sweep not in chosen]
    for sweep in left:
        _report(f"left {sweep.sweep} of {sweep.created}, started by {sweep.owner}")
    if left:
        _report("remove one with --run ID, all with --all")
    if not found:
        _report(f"nothing to remove in namespace {namespace}")
