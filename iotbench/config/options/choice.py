"""The choice of a target and a runner; options of every command that runs something."""

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, cast

import click
from pydantic import Field

from iotbench.config.completion.words import complete_target
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.validation import describe_value
from iotbench.config.input.values import Notation, Seconds
from iotbench.config.options.basic import FORMATS, config_option, option, parse_tag
from iotbench.config.options.declared import options_of
from iotbench.config.targets import config as configuration
from iotbench.config.targets.config import RUNNERS, Target
from iotbench.results.names import DEFAULT_FOLDER
from simulator.errors import ConfigError
from simulator.modules.shared.client.driver import Client

_IMAGE = re.compile(
    r"(?P<name>(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_RESERVED = ("run", "workers")
"""Values of the chart that the command line sets for every run."""


class ClusterOptions(Options):
    """The cluster, the namespace, and changes of the chart; all are optional."""

    GROUP: ClassVar[str] = "Kubernetes"

    namespace: Annotated[str | None, Opt("-n")] = None
    """Namespace of the pods.  [default: the configuration's]"""
    kubeconfig: Path | None = None
    """Kubeconfig file.  [default: as kubectl finds it]"""
    context: str | None = None
    """Context in the kubeconfig.  [default: the current context]"""
    image: Annotated[str | None, Opt(metavar="NAME[:TAG][@DIGEST]")] = None
    """Image of collector and workers.  [default: the chart's]"""
    values: Annotated[tuple[Path, ...], Opt(metavar="FILE")] = ()
    """Values for the chart in deployment/, as for helm; may be given several times."""
    sets: Annotated[tuple[str, ...], Field(alias="set"), Opt(metavar="KEY=VALUE")] = ()
    """One value for the chart, as for helm; may be given several times."""
    keep: bool = False
    """Leave the release in the cluster, for debugging."""

    def where(self) -> dict[str, Any]:
        """Return the options that place pods, by name; values not given are empty."""
        files = {"kubeconfig": self.kubeconfig and str(self.kubeconfig)}
        names = {"namespace": self.namespace, "context": self.context, "image": self.image}
        return {**names, **files, "values": tuple(map(str, self.values)), "set": self.sets}

    def problems(self) -> list[str]:
        """Return what is wrong with the options, one sentence each."""
        found = [f"--values: {path}: the file does not exist" for path in self.values
                 if not path.is_file()]  # fmt: skip
        if self.kubeconfig and not self.kubeconfig.is_file():
            found.append(f"--kubeconfig: {self.kubeconfig}: the file does not exist")
        for word in self.sets:
            if not word.partition("=")[0] or "=" not in word:
                found.append(f"--set: expected KEY=VALUE, got {word!r}")
            keys = [pair.partition("=")[0] for pair in re.split(r"(?<!\\),", word) if "=" in pair]
            found += [
                f"--set: {key} is set by the command line for every run"
                for key in keys
                if re.split(r"[.\[]", key)[0] in _RESERVED
            ]
        if self.image is not None and not _IMAGE.fullmatch(self.image):
            found.append(f"--image: expected NAME[:TAG][@sha256:DIGEST], got {self.image!r}")
        return found

    def image_values(self) -> dict[str, Any]:
        """Return the chart's values for --image."""
        match = _IMAGE.fullmatch(self.image) if self.image else None
        if match is None:
            return {}
        words = match.groupdict(default="")
        if words["digest"]:
            words["tag"] = ""  # the digest is sufficient, and the chart accepts only one
        return {"image": words}


_Function = TypeVar("_Function", bound=Callable[..., Any])


_target = functools.partial(option, group="Target")

_RUNNER = _target(
    "--runner",
    type=click.Choice(RUNNERS),
    default=None,
    repeats=False,
    help="Where collector and workers run.  [default: the target's]",
)
_URL = (
    ", or a URL, such as sqlite:rooms.db or postgresql://anna@db.example/bench: it runs on this"
    " machine, and needs no configuration."
)
_name_target = functools.partial(
    _target, "--target", "-t", required=True, repeats=True, shell_complete=complete_target
)
_ONE = _name_target(help=f"Name of a target in the configuration{_URL}")
_SEVERAL = _name_target(
    metavar="TARGET,...", help=f"Names of targets in the configuration{_URL} Several are compared."
)
_TARGET_OPTIONS = (
    config_option,
    _RUNNER,
    _target(
        "--extra-option",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override an option of the target; may be given several times.",
    ),
)
_CLIENT = _target(
    "--client",
    type=click.Choice([each.value for each in Client]),
    default=None,
    help="Client that sends the rows: this program's own encoder, or the vendor's driver, used as"
    " its documentation advises (the target's option client).  [default: the target's]",
)
_reaching = options_of(ClusterOptions, "cluster")


class RunOptions(Options):
    """How a command runs, and where its result goes."""

    GROUP: ClassVar[str] = "Run and output"

    output: Path = DEFAULT_FOLDER
    """Folder for result files; created if it does not exist."""
    timeout_s: Seconds = 0.0
    """Longest duration of one run, such as 90s or 10m; 0: no limit."""
    quiet: Annotated[bool, Opt("-q")] = False
    """Show no progress."""
    force: bool = False
    """Start more local workers than this machine's cores and free memory allow."""
    form: Annotated[str, Field(alias="format"), Opt(choices=FORMATS)] = FORMATS[0]
    """Format of standard output; progress goes to standard error."""
    dry_run: Annotated[bool, Opt(inner=True)] = False


class TargetRun(RunOptions):
    """RunOptions for a command on one target."""

    GROUP: ClassVar[str] = "Run and output"

    result_tags: Annotated[
        tuple[Annotated[str, Notation("tag", parse_tag)], ...], Field(alias="tag")
    ] = ()
    """Tag of the result, for `results list --tag`; may be given several times."""
    dry_run: bool = False
    """Print the plan (on Kubernetes, the manifests of the first run) and do nothing."""
    timings: bool = False
    """Print the time of each phase of the sweep as well."""
    verbose: Annotated[bool, Opt("-v")] = False
    """Print everything known about the result below its table, as `show` does, not five lines."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The target that the user names, and where it runs."""

    target: str
    config: Path | None
    runner: str | None
    extra: tuple[str, ...]
    cluster: ClusterOptions
    client: str | None = None
    """Value of --client, an alias of the target's option client."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment with the variables that hold credentials, which only the user's own commands
    inherit.
    """

    @property
    def targets(self) -> tuple[str, ...]:
        """The names that `target` joins by commas."""
        return tuple(each.strip() for each in self.target.split(",") if each.strip())

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
                    f"--extra-option{which}: expected KEY=VALUE, got {describe_value(word)} without"
                    f" {'a key' if equals else 'an equals sign'}"
                )
        return options

    def resolve(self, extra: Mapping[str, Any], problems: list[str]) -> Target | None:
        """Return the target, or None with its problems added to `problems`."""
        found = self.find(extra, problems)
        forget_credentials([found] if found else [])
        return found

    def find(self, extra: Mapping[str, Any], problems: list[str]) -> Target | None:
        """Return what `resolve` returns, and leave its credentials in the environment."""
        problems += self.cluster.problems()
        if len(self.targets) != 1:
            count = len(self.targets)  # a part of a URL may be a credential, so it is not repeated
            several = "`insert` and `query` take several"
            problems.append(f"--target: expected one, got {count}; {several}")
            return None
        try:
            file, (name,) = configuration.load_for([self.target], self.config)
            if self.client:
                extra = _with_client(file, name, extra, self.client)
            found = file.resolve(name, extra, self.runner)
        except ConfigError as error:
            problems += error.problems
            return None
        given = self.cluster.given
        if found.runner == "local" and given:
            problems.append(
                f"{', '.join(given)}: only for the kubernetes runner, but"
                f" {found.name} uses the local runner"
            )
        return found


def resolve_several(choices: Sequence[Choice], problems: list[str]) -> list[Target]:
    """Return the targets, which may share a variable; add what is wrong to `problems`."""
    found = [target for choice in choices if (target := choice.find({}, problems))]
    forget_credentials(found)
    return found


def forget_credentials(targets: Iterable[Target]) -> None:
    """Remove the credentials of targets from the environment, which child processes inherit."""
    for name in {name for target in targets for name in target.variables}:
        os.environ.pop(name, None)


def _with_client(
    file: configuration.Config, target: str, extra: Mapping[str, Any], client: str
) -> Mapping[str, Any]:
    """Return options with the chosen sender of rows; ConfigError if the module has none."""
    cls = file.module_of(target)
    if "client" not in cls.options_model.model_fields:
        reason = cls.capabilities.no_driver
        raise ConfigError(f"--client {client}: {cls.name}: {reason}; leave it out")
    return {**extra, "client": client}


@dataclass(frozen=True, slots=True)
class Reach:
    """How several targets are reached."""

    config: Path | None
    runner: str | None
    cluster: ClusterOptions

    def choice(self, target: str) -> Choice:
        """Return the choice of one target."""
        return Choice(target, self.config, self.runner, (), self.cluster)


def _with(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Any:
    """Return a command with more options, in this order."""
    for add in reversed(options):
        command = add(command)
    return command


def target_options(command: _Function, name: Callable[..., Any] = _ONE) -> _Function:
    """Add the options of a Choice, which the command receives as one argument."""

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        choice = Choice(
            cluster=given.pop("cluster"),
            target=given.pop("target"),
            config=given.pop("config"),
            runner=given.pop("runner"),
            extra=given.pop("extra_option"),
            client=given.pop("client", None),
            environment={**os.environ},
        )
        return command(choice=choice, **given)

    return cast("_Function", _with(_reaching(gather), (name, *_TARGET_OPTIONS)))


def writing_options(command: _Function) -> _Function:
    """Add the options of every command that writes rows to a target."""
    return common_options(cast("_Function", _with(command, (_CLIENT,))))


def inserting_options(command: _Function) -> _Function:
    """Add the options of `writing_options`, with a Choice that may name several targets."""
    return asking_options(cast("_Function", _with(command, (_CLIENT,))))


def asking_options(command: _Function) -> _Function:
    """Add the options of `common_options`, with a Choice that may name several targets."""
    return target_options(options_of(TargetRun, "run")(command), _SEVERAL)


def reach_options(command: _Function) -> _Function:
    """Add the options of a Reach, which the command receives as one argument."""

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        reach = Reach(given.pop("config"), given.pop("runner"), given.pop("cluster"))
        return command(reach=reach, **given)

    return cast("_Function", _with(_reaching(gather), (config_option, _RUNNER)))


def common_options(command: _Function) -> _Function:
    """Add the options of every command that runs something on a target: Choice and TargetRun."""
    return target_options(options_of(TargetRun, "run")(command))
