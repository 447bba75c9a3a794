"""What commands that run something share: options, starting a sweep, printing its result."""

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from cli import config as configuration
from cli import results
from cli.cluster.options import ClusterOptions
from cli.commands.options import DURATION_S, complete_target, config_option, option
from cli.config import RUNNERS, Target
from cli.host.interrupts import Interrupts, caught_interrupts
from cli.host.listener import server_of
from cli.host.machine import this_machine
from cli.host.program import program
from cli.host.resources import ResourceMeter
from cli.host.streams import OutputError, print_out, say
from cli.host.terminal import width_of
from cli.plan import PlannedRun
from cli.report import tables
from cli.report.plans import plan_text
from cli.report.progress import Follower
from cli.results import Result, ResultFile
from cli.runners.choice import manifests, runner_for
from cli.sweep import run_sweep
from cli.validation import shown
from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.errors import ConfigError
from simulator.protocol.spec import Kind

_Function = TypeVar("_Function", bound=Callable[..., Any])


_target = functools.partial(option, group="Target")
_output = functools.partial(option, group="Run and output")
_cluster = functools.partial(option, group="Kubernetes")

_RUNNER = _target(
    "--runner",
    type=click.Choice(RUNNERS),
    default=None,
    help="Where collector and workers run.  [default: the target's]",
)
_TARGET_OPTIONS = (
    _target(
        "--target",
        "-t",
        required=True,
        help="Name of a target in the configuration.",
        shell_complete=complete_target,
    ),
    config_option,
    _RUNNER,
    _target(
        "--extra-option",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override an option of the target; may be given several times.",
    ),
)
_RUN_OPTIONS = (
    _output(
        "--output",
        type=click.Path(path_type=Path),
        default="results",
        show_default=True,
        help="Folder for result files; created if it does not exist.",
    ),
    _output(
        "--timeout",
        type=DURATION_S,
        default=0.0,
        show_default=True,
        help="Longest duration of one run, such as 90s or 10m; 0: no limit.",
    ),
    _output("--quiet", "-q", is_flag=True, help="Show no progress."),
    _output(
        "--force",
        is_flag=True,
        help="Start more local workers than this machine's cores and free memory allow.",
    ),
)


def _format_option(*forms: str) -> Callable[..., Any]:
    """Return the option that says in which form to print the result."""
    return _output(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="What to print on standard output; progress goes to standard error.",
    )


_CLUSTER_OPTIONS = (
    _cluster("--namespace", "-n", help="Namespace of the pods.  [default: the configuration's]"),
    _cluster(
        "--kubeconfig",
        type=click.Path(path_type=Path),
        help="Kubeconfig file.  [default: as kubectl finds it]",
    ),
    _cluster("--context", help="Context in the kubeconfig.  [default: the current context]"),
    _cluster(
        "--image",
        metavar="NAME[:TAG][@DIGEST]",
        help="Image of collector and workers.  [default: the chart's]",
    ),
    _cluster(
        "--values",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="FILE",
        help="Values for the chart in deployment/, as for helm; may be given several times.",
    ),
    _cluster(
        "--set",
        "sets",
        multiple=True,
        metavar="KEY=VALUE",
        help="One value for the chart, as for helm; may be given several times.",
    ),
    _cluster("--keep", is_flag=True, help="Leave the release in the cluster, for debugging."),
)
_DRY_RUN = _output(
    "--dry-run",
    is_flag=True,
    help="Print the plan (on Kubernetes, the manifests of the first run) and do nothing.",
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The target that the user names, and where it runs."""

    target: str
    config: Path | None
    runner: str | None
    extra: tuple[str, ...]
    cluster: ClusterOptions

    def extra_options(self, problems: list[str]) -> dict[str, Any]:
        """Return the KEY=VALUE words as a mapping; add malformed words to `problems`."""
        options: dict[str, Any] = {}
        for number, word in enumerate(self.extra, 1):
            key, equals, value = word.partition("=")
            if equals and key:
                options[key] = value
            else:  # it may be a credential, so it is not repeated
                which = f" (number {number} of {len(self.extra)})" if len(self.extra) > 1 else ""
                problems.append(
                    f"--extra-option{which}: expected KEY=VALUE, got {shown(word)} without"
                    f" {'a key' if equals else 'an equals sign'}"
                )
        return options

    def resolve(self, extra: Mapping[str, Any], problems: list[str]) -> Target | None:
        """Return the target, or None with its problems added to `problems`."""
        problems += self.cluster.problems()
        try:
            found = configuration.load(self.config).resolve(self.target, extra, self.runner)
        except ConfigError as error:
            problems += error.problems
            return None
        for name in found.variables:  # no child process inherits a credential
            os.environ.pop(name, None)
        given = self.cluster.given()
        if found.runner == "local" and given:
            problems.append(
                f"{', '.join(given)}: only for the kubernetes runner, but"
                f" {found.name} uses the local runner"
            )
        return found


def _gathered(command: _Function, options: Sequence[Callable[..., Any]]) -> _Function:
    """Add `options` and those of a Choice, which the command receives as one argument."""

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        choice = Choice(
            cluster=_cluster_options(given),
            target=given.pop("target"),
            config=given.pop("config"),
            runner=given.pop("runner"),
            extra=given.pop("extra_option"),
        )
        return command(choice=choice, **given)

    return cast("_Function", _with(gathered, (*_TARGET_OPTIONS, *options, *_CLUSTER_OPTIONS)))


def _with(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Any:
    """Return a command with more options, in this order."""
    for add in reversed(options):
        command = add(command)
    return command


def _cluster_options(given: dict[str, Any]) -> ClusterOptions:
    """Take the options for the cluster out of all that were given."""
    return ClusterOptions(**{field.name: given.pop(field.name) for field in fields(ClusterOptions)})


def target_options(command: _Function) -> _Function:
    """Add the options that name a target and where it runs."""
    return _gathered(command, ())


def several_targets(*forms: str) -> Callable[[_Function], _Function]:
    """Add the options of a command that runs something on several targets."""

    def added(command: _Function) -> _Function:
        @functools.wraps(command)
        def gathered(**given: Any) -> Any:
            return command(cluster=_cluster_options(given), **given)

        run = (config_option, _RUNNER, *_RUN_OPTIONS, _format_option(*forms))
        return cast("_Function", _with(gathered, (*run, *_CLUSTER_OPTIONS)))

    return added


def common_options(command: _Function) -> _Function:
    """Add the options of every command that runs something on a target."""
    return _gathered(command, (*_RUN_OPTIONS, _format_option(*tables.FORMATS), _DRY_RUN))


def given_options() -> dict[str, Any]:
    """Return the options that were given on the command line, by parameter name."""
    context = click.get_current_context()
    source = context.get_parameter_source
    return {n: v for n, v in context.params.items() if source(n) is ParameterSource.COMMANDLINE}


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that is about to start: its target, and where its result goes."""

    target: Target
    result: Result
    file: ResultFile


def start(kind: Kind, target: Target, output: Path, dataset: Dataset, sweep_id: str = "") -> Sweep:
    """Return a new sweep with an empty result, and a new id unless it has one."""
    created = results.now_utc()
    result = Result(
        program_version=__version__,
        sweep_id=sweep_id or results.new_id(created),
        created=created,
        kind=kind,
        target=target.name,
        module=target.module,
        runner=target.runner,
        configuration={},
        target_options=target.options.public(),
        machine=this_machine(),
        dataset=dataset,
    )
    return Sweep(target, result, ResultFile(results.path_of(output, result)))


@contextmanager
def carried_out(  # noqa: PLR0913
    sweep: Sweep,
    planned: Sequence[PlannedRun],
    cluster: ClusterOptions,
    interrupts: Interrupts,
    *,
    quiet: bool,
    as_json: bool = False,
    measured: bool = False,
) -> Iterator[None]:
    """Run a sweep; inside the context its result is complete, and the database still locked.

    `as_json`: progress is JSON, too; `measured`: as in `conclude`.
    """
    target, sweep_id = sweep.target, sweep.result.sweep_id
    assert sweep.file.path
    output = sweep.file.path.parent
    with runner_for(target, sweep_id, cluster, interrupts, planned[0].spec) as runner:
        if results.prepare_folder(output) and not quiet:
            say(f"created folder {output}", err=True)
        with (
            Follower(planned, quiet=quiet, as_json=as_json) as follower,
            _meter(target) if measured else nullcontext() as meter,
        ):
            run_sweep(
                planned,
                runner,
                target.options.redact,
                result=sweep.result,
                file=sweep.file,
                watch=follower.show,
                interrupts=interrupts,
                meter=meter,
            )
        yield


def conclude(  # noqa: PLR0913
    sweep: Sweep,
    planned: Sequence[PlannedRun],
    choice: Choice,
    *,
    form: str,
    quiet: bool,
    dry: bool,
    measured: bool = False,
) -> None:
    """Run a sweep, print its result, and exit with its exit code.

    `measured`: measure what the machine, the client and the server use.
    """
    if dry:
        print_out(_dry_run(sweep, planned, choice))
        return
    as_json = form == "json"
    with (
        caught_interrupts() as interrupts,
        carried_out(
            sweep, planned, choice.cluster, interrupts,
            quiet=quiet, as_json=as_json, measured=measured,
        ),
    ):  # fmt: skip
        kept = _shown(sweep, form=form, quiet=quiet)
    click.get_current_context().exit(sweep.result.exit_code or (0 if kept else 1))


def _meter(target: Target) -> ResourceMeter:
    embedded = target.open().capabilities.embedded
    return ResourceMeter(server_of(target.options, embedded=embedded))


def _dry_run(sweep: Sweep, planned: Sequence[PlannedRun], choice: Choice) -> str:
    """Return what would be started: the manifests of the first run, or the plan."""
    target, file = sweep.target, sweep.file
    if target.runner == "kubernetes":
        return manifests(target, sweep.result.sweep_id, choice.cluster, planned[0].spec)
    folder = file.path.parent if file.path else Path()
    batch_rows = planned[0].spec.batch_rows
    earlier = (result for _, result in results.inserts(folder, target.name))
    last = next((r for r in earlier if r.configuration.get("batch") == batch_rows), None)
    return plan_text(planned, target.runner, last, width_of(sys.stdout))


def _shown(sweep: Sweep, *, form: str, quiet: bool) -> bool:
    """Print the result; return whether it was printed and is stored where it should be."""
    result, file = sweep.result, sweep.file
    text = tables.printed(result, file.path, form)
    if result.cause and (quiet or form != "table"):
        say(f"{result.kind} {result.status}: {result.cause}", err=True)
    if file.trouble:
        say(f"error: {file.trouble}", err=True)
        where = f"is in {file.path}" if file.path else "follows on standard output"
        say(f"the result {where}", err=True)
    try:
        print_out(text if text.strip() else "")
        if file.path is None:
            print_out(result.model_dump_json(indent=1) + "\n")
    except OutputError as error:
        say(f"error: {error}", err=True)
        if file.path:
            say(f"`{program()} show {file.path}` prints the tables again", err=True)
        return False
    return not file.trouble
