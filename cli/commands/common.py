"""What insert and query share: options, opening a sweep, running it, showing it."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from cli import config as configuration
from cli import results
from cli.cluster.options import ClusterOptions
from cli.config import RUNNERS, Target
from cli.host.interrupts import caught_interrupts
from cli.host.machine import this_machine
from cli.host.program import program
from cli.host.streams import OutputError, print_out
from cli.plan import PlannedRun
from cli.report import tables
from cli.report.progress import Follower
from cli.results import Result, ResultFile
from cli.runners.choice import manifests, runner_for
from cli.sweep import run_sweep
from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.errors import ConfigError
from simulator.protocol.spec import Kind

_PROBLEMS = "problems"
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Command(click.Command):
    """A command that tells all its unusable options at once, not only the first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options; ConfigError with everything that is wrong with them."""
        problems = ctx.meta[_PROBLEMS] = []
        rest = super().parse_args(ctx, args)
        if problems:
            raise ConfigError(problems)
        return rest


class _Option(click.Option):
    """An option of a Command: it notes what is wrong with it."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().process_value(ctx, value)
        except click.BadParameter as error:
            ctx.meta[_PROBLEMS].append(error.format_message())
            return None


option = functools.partial(click.option, cls=_Option)


class _Integers(click.ParamType[tuple[int, ...]]):
    """Whole numbers, separated by commas."""

    name = "n,n,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(word) for word in str(value).split(","))
        except ValueError:
            self.fail(f"expected whole numbers separated by commas, got {value!r}", param, ctx)


INTEGERS = _Integers()

_TARGET_OPTIONS = (
    option("--target", "-t", required=True, help="Name of a target in the configuration."),
    option(
        "--config",
        "-c",
        type=click.Path(path_type=Path),
        default="config.yaml",
        show_default=True,
        help="File with the targets.",
    ),
    option(
        "--runner",
        type=click.Choice(RUNNERS),
        default=None,
        help="Where collector and workers run.  [default: the target's]",
    ),
    option(
        "--extra-option",
        multiple=True,
        metavar="KEY=VALUE",
        help="An option of the target, over the configuration's; may be given several times.",
    ),
)
_RUN_OPTIONS = (
    option(
        "--output",
        type=click.Path(path_type=Path),
        default="results",
        show_default=True,
        help="Folder for result files.",
    ),
    option(
        "--timeout",
        type=float,
        default=0.0,
        show_default=True,
        help="Seconds that one run may take; 0: no limit.",
    ),
    option(
        "--format",
        "form",
        type=click.Choice(tables.FORMATS),
        default="table",
        show_default=True,
        help="What to print on standard output; progress goes to standard error.",
    ),
    option("--quiet", "-q", is_flag=True, help="No progress."),
    option(
        "--force",
        is_flag=True,
        help="Start more local workers than this machine's cores and free memory allow.",
    ),
)


_CLUSTER_OPTIONS = (
    option("--namespace", "-n", help="Namespace of the pods.  [default: the configuration's]"),
    option(
        "--kubeconfig",
        type=click.Path(path_type=Path),
        help="How to reach the cluster.  [default: as kubectl finds it]",
    ),
    option("--context", help="Context of the kubeconfig.  [default: its current one]"),
    option(
        "--image",
        metavar="NAME[:TAG][@DIGEST]",
        help="Image of collector and workers.  [default: the chart's]",
    ),
    option(
        "--values",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="FILE",
        help="Values for the chart in deployment/, as for helm; may be given several times.",
    ),
    option(
        "--set",
        "sets",
        multiple=True,
        metavar="KEY=VALUE",
        help="One value for the chart, as for helm; may be given several times.",
    ),
    option("--keep", is_flag=True, help="Leave the release in the cluster, for debugging."),
)
_DRY_RUN = option(
    "--dry-run", is_flag=True, help="Print the manifests of the first run, and do nothing."
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The target that the user names, and where it is to run."""

    target: str
    config: Path
    runner: str | None
    extra: tuple[str, ...]
    cluster: ClusterOptions

    def extra_options(self, problems: list[str]) -> dict[str, Any]:
        """Return KEY=VALUE words as a mapping; notes the words that are none."""
        options: dict[str, Any] = {}
        for word in self.extra:
            key, equals, value = word.partition("=")
            if not equals or not key:
                problems.append(f"--extra-option: expected KEY=VALUE, got {word!r}")
            options[key] = value
        return options

    def resolve(self, extra: Mapping[str, Any], problems: list[str]) -> Target | None:
        """Return the target; or note what is wrong with it, so that it is told with the rest."""
        problems += self.cluster.problems()
        try:
            found = configuration.load(self.config).resolve(self.target, extra, self.runner)
        except ConfigError as error:
            problems += error.problems
            return None
        given = self.cluster.given()
        if found.runner == "local" and given:
            problems.append(
                f"{', '.join(given)}: only for the kubernetes runner, and {found.name} runs locally"
            )
        return found


def _gathered(command: _Function, options: Sequence[Callable[..., Any]]) -> _Function:
    """Add the options of a Choice and `options`; the command gets the Choice as one argument."""

    @functools.wraps(command)
    def told(**given: Any) -> Any:
        cluster = {field.name: given.pop(field.name) for field in fields(ClusterOptions)}
        choice = Choice(
            target=given.pop("target"),
            config=given.pop("config"),
            runner=given.pop("runner"),
            extra=given.pop("extra_option"),
            cluster=ClusterOptions(**cluster),
        )
        return command(choice=choice, **given)

    for add in reversed((*_TARGET_OPTIONS, *options, *_CLUSTER_OPTIONS)):
        told = add(told)
    return cast("_Function", told)


def target_options(command: _Function) -> _Function:
    """Add the options that name a target and where it is to run."""
    return _gathered(command, ())


def common_options(command: _Function) -> _Function:
    """Add the options of every command that runs something on a target."""
    return _gathered(command, (*_RUN_OPTIONS, _DRY_RUN))


def given_options() -> dict[str, Any]:
    """Return the options that stand on the command line, by parameter name."""
    context = click.get_current_context()
    source = context.get_parameter_source
    return {n: v for n, v in context.params.items() if source(n) is ParameterSource.COMMANDLINE}


def describe_options(options: Any) -> dict[str, Any]:
    """Return a dataclass of options as plain data."""
    plain = dataclasses.asdict(options)
    return {key: value.value if isinstance(value, Enum) else value for key, value in plain.items()}


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that is about to start: what it runs on, and where its result goes."""

    target: Target
    result: Result
    file: ResultFile


def start(kind: Kind, target: Target, output: Path, dataset: Dataset) -> Sweep:
    """Return a new sweep with its result still empty."""
    created = results.now_utc()
    result = Result(
        program_version=__version__,
        sweep_id=results.new_id(created),
        created=created,
        kind=kind,
        target=target.name,
        module=target.module,
        runner=target.runner,
        configuration={},
        machine=this_machine(),
        dataset=dataset,
    )
    return Sweep(target, result, ResultFile(results.path_of(output, result)))


def conclude(  # noqa: PLR0913
    sweep: Sweep,
    planned: Sequence[PlannedRun],
    choice: Choice,
    *,
    form: str,
    quiet: bool,
    dry: bool,
) -> None:
    """Run a sweep, print its result, and leave with its exit code."""
    target, sweep_id = sweep.target, sweep.result.sweep_id
    assert sweep.file.path
    output = sweep.file.path.parent
    if dry:
        click.echo(manifests(target, sweep_id, choice.cluster, planned[0].spec), nl=False)
        return
    with (
        caught_interrupts() as interrupts,
        runner_for(target, sweep_id, choice.cluster, interrupts, planned[0].spec) as runner,
    ):
        results.prepare_folder(output)
        with Follower(total_runs=len(planned), quiet=quiet) as follower:
            run_sweep(
                planned,
                runner,
                target.options.redact,
                result=sweep.result,
                file=sweep.file,
                watch=follower.show,
                interrupts=interrupts,
            )
        kept = _shown(sweep, form=form, quiet=quiet)
    click.get_current_context().exit(sweep.result.exit_code or (0 if kept else 1))


def _shown(sweep: Sweep, *, form: str, quiet: bool) -> bool:
    """Print the result; return whether it was printed and is stored where it should be."""
    result, file = sweep.result, sweep.file
    text = tables.printed(result, file.path, form)
    if result.cause and (quiet or form != "table"):
        click.echo(f"{result.kind} {result.status}: {result.cause}", err=True)
    if file.trouble:
        click.echo(f"error: {file.trouble}", err=True)
        where = f"is in {file.path}" if file.path else "follows on standard output"
        click.echo(f"the result {where}", err=True)
    try:
        print_out(text if text.strip() else "")
        if file.path is None:
            print_out(result.model_dump_json(indent=1) + "\n")
    except OutputError as error:
        click.echo(f"error: {error}", err=True)
        if file.path:
            click.echo(f"`{program()} show {file.path}` prints the tables again", err=True)
        return False
    return not file.trouble
