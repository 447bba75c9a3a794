"""Which target is meant and where it runs; the options of every command that runs something."""

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from cli.cluster.options import ClusterOptions
from cli.completion.words import complete_target
from cli.input.validation import shown
from cli.options.basic import DURATION_S, TAG, config_option, option
from cli.options.declared import options_of
from cli.report import tables
from cli.targets import config as configuration
from cli.targets.config import RUNNERS, Target
from simulator.errors import ConfigError

_Function = TypeVar("_Function", bound=Callable[..., Any])


_target = functools.partial(option, group="Target")
_output = functools.partial(option, group="Run and output")

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


_reaching = options_of(ClusterOptions, "cluster")
_TAG = _output(
    "--tag",
    "result_tags",
    multiple=True,
    type=TAG,
    help="Word to find the result by, with `results list --tag`; may be given several times.",
)
_DRY_RUN = _output(
    "--dry-run",
    is_flag=True,
    help="Print the plan (on Kubernetes, the manifests of the first run) and do nothing.",
)


@dataclass(frozen=True, slots=True)
class Run:
    """How a command runs, and where its result goes."""

    output: Path
    timeout_s: float
    """Of one run; 0: no limit."""
    form: str
    """In which the result is printed."""
    quiet: bool
    force: bool
    dry: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The target that the user names, and where it runs."""

    target: str
    config: Path | None
    runner: str | None
    extra: tuple[str, ...]
    cluster: ClusterOptions
    tags: tuple[str, ...] = ()
    """Of the result."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """With the variables that hold credentials, which only the user's own commands inherit."""

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
        given = self.cluster.given
        if found.runner == "local" and given:
            problems.append(
                f"{', '.join(given)}: only for the kubernetes runner, but"
                f" {found.name} uses the local runner"
            )
        return found


def _gathered(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Any:
    """Add `options` and those of a Choice, which the command receives as one argument."""

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        choice = Choice(
            cluster=given.pop("cluster"),
            target=given.pop("target"),
            config=given.pop("config"),
            runner=given.pop("runner"),
            extra=given.pop("extra_option"),
            tags=given.pop("result_tags", ()),
            environment={**os.environ},
        )
        return command(choice=choice, **given)

    return _with(_reaching(gathered), (*_TARGET_OPTIONS, *options))


def _with(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Any:
    """Return a command with more options, in this order."""
    for add in reversed(options):
        command = add(command)
    return command


def target_options(command: _Function) -> _Function:
    """Add the options that name a target and where it runs."""
    return cast("_Function", _gathered(command, ()))


def several_targets(*forms: str) -> Callable[[_Function], _Function]:
    """Add the options of a command that runs something on several targets, those of a Run."""
    options = (*_RUN_OPTIONS, _format_option(*forms))

    def added(command: _Function) -> _Function:
        return cast("_Function", _across(_running(command), options))

    return added


def reach_options(command: _Function) -> _Function:
    """Add the options that say how several targets are reached."""
    return cast("_Function", _across(command, ()))


def _across(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Any:
    return _with(_reaching(command), (config_option, _RUNNER, *options))


def common_options(command: _Function) -> _Function:
    """Add the options of a Choice and a Run, of every command that runs something on a target."""
    options = (*_RUN_OPTIONS, _TAG, _format_option(*tables.FORMATS), _DRY_RUN)
    return cast("_Function", _gathered(_running(command), options))


def _running(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that receives its options about the run as one argument."""

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        run = Run(
            output=given.pop("output"),
            timeout_s=given.pop("timeout"),
            form=given.pop("form"),
            quiet=given.pop("quiet"),
            force=given.pop("force"),
            dry=given.pop("dry_run", False),
        )
        return command(run=run, **given)

    return gathered
