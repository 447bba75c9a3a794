"""The choice of a target and a runner, and the options of every command that runs something."""

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, cast

from pydantic import Field

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.validation import describe_value
from iotbench.config.input.values import Seconds, Tag
from iotbench.config.options.basic import FORMATS, Configured, WrittenFolder
from iotbench.config.options.declared import options_of
from iotbench.config.targets import config as configuration
from iotbench.config.targets.config import RUNNERS, Target
from iotbench.results.names import DEFAULT_FOLDER
from simulator.errors import ConfigError
from simulator.modules.contract import Database
from simulator.modules.shared.client.driver import Client

_IMAGE = re.compile(
    r"(?P<name>(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_RESERVED = ("run", "workers")
"""Values of the chart that only the command line sets."""


class ClusterOptions(Options):
    """Options for the cluster, the namespace, and values of the chart."""

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
    keep: Annotated[bool, Opt(consents=True)] = False
    """Leave the release in the cluster, for debugging."""

    def where(self) -> dict[str, Any]:
        """Return name -> value of the given options that determine where the pods run."""
        files = {"kubeconfig": self.kubeconfig and str(self.kubeconfig)}
        names = {"namespace": self.namespace, "context": self.context, "image": self.image}
        return {**names, **files, "values": tuple(map(str, self.values)), "set": self.sets}

    def problems(self) -> list[str]:
        """Return the problems of the options."""
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
            words["tag"] = ""  # the chart accepts only one of them
        return {"image": words}


_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Reaching(Configured):
    """The configuration and the runner of targets."""

    GROUP: ClassVar[str] = "Target"

    runner: Annotated[str | None, Opt(choices=RUNNERS, repeats=False)] = None
    """Where collector and workers run.  [default: the target's]"""


_URL = (
    ", or a URL such as sqlite:rooms.db or postgresql://anna@db.example/bench, which needs no"
    " configuration and uses the local runner."
)


class _Named(Options):
    """The name of a target."""

    GROUP: ClassVar[str] = "Target"

    target: Annotated[str, Opt("-t", repeats=True)] = Field(
        description=f"Name of a target in the configuration{_URL}"
    )


class _SeveralNamed(_Named):
    """The names of several targets."""

    target: Annotated[str, Opt("-t", metavar="TARGET,...", repeats=True)] = Field(
        description=f"Names of targets in the configuration{_URL} To compare targets, name several."
    )


class _Overriding(Options):
    """Options of the target that a command overrides."""

    GROUP: ClassVar[str] = "Target"

    extra_option: Annotated[tuple[str, ...], Opt(metavar="KEY=VALUE")] = ()
    """Override an option of the target; may be given several times."""


class _Writing(_Overriding):
    """Options of the target that a command that writes rows overrides."""

    client: Annotated[str | None, Opt(choices=tuple(each.value for each in Client))] = None
    """Client that sends the rows: this program's own encoder, or the vendor's driver, used as the
    vendor's documentation advises. Overrides the target's option client.  [default: the target's]
    """


class RunOptions(Options):
    """Options for a run of a command, and for the result of the run."""

    GROUP: ClassVar[str] = "Run and output"

    output: Annotated[WrittenFolder, Opt(stored=False)] = DEFAULT_FOLDER
    """Folder for result files; created if it does not exist."""
    timeout_s: Seconds = 0.0
    """Longest duration of one run, such as 90s or 10m; 0: no limit."""
    quiet: Annotated[bool, Opt("-q", stored=False)] = False
    """Show no progress."""
    force: Annotated[bool, Opt(consents=True)] = False
    """Start more local workers than this machine's cores and free memory allow."""
    form: Annotated[str, Field(alias="format"), Opt(choices=FORMATS, stored=False)] = FORMATS[0]
    """Format of standard output; progress goes to standard error."""
    dry_run: Annotated[bool, Opt(inner=True)] = False


class TargetRun(RunOptions):
    """Options for a run of a command on one target, and for its result."""

    GROUP: ClassVar[str] = "Run and output"

    result_tags: Annotated[
        tuple[Tag, ...],
        Field(alias="tag"),
        Opt(stored=False),
    ] = ()
    """Tag of the result, for `results list --tag`; may be given several times."""
    dry_run: Annotated[bool, Opt(stored=False)] = False
    """Print the plan (on Kubernetes, the manifests of the first run) and do nothing."""
    timings: Annotated[bool, Opt(stored=False)] = False
    """Print the time of each phase of the sweep as well."""
    verbose: Annotated[bool, Opt("-v", stored=False)] = False
    """Print all facts about the result below its table, as `show` does, instead of five lines."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The configuration, runner and cluster for targets."""

    config: Path | None
    runner: str | None
    cluster: ClusterOptions
    environment: Mapping[str, str] = field(default_factory=lambda: {**os.environ}, repr=False)
    """Environment with the variables that hold credentials; only commands of the user inherit
    it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The target that the user names, with the options of the target."""

    target: str
    reach: Reach
    extra: tuple[str, ...] = ()
    client: str | None = None
    """Value of --client, which sets the option `client` of the target."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The names in `target`, which are separated by commas."""
        return tuple(each.strip() for each in self.target.split(",") if each.strip())

    def expect(self) -> Target:
        """Return the target; ConfigError with all problems."""
        problems: list[str] = []
        found = self.resolve(problems)
        if problems or not found:
            raise ConfigError(problems)
        return found

    def resolve(self, problems: list[str]) -> Target | None:
        """Return the target; None if problems were added to `problems`."""
        found = self.find(problems)
        forget_credentials([found] if found else [])
        return found

    def find(self, problems: list[str]) -> Target | None:
        """Return the same target as `resolve`, but leave the credentials in the environment."""
        cluster = self.reach.cluster
        extra = self._parse_extra(problems)
        problems += cluster.problems()
        if len(self.targets) != 1:
            count = len(self.targets)  # part of a URL may be a credential: the message omits it
            several = "`insert` and `query` take several"
            problems.append(f"--target: expected one, got {count}; {several}")
            return None
        try:
            file, (name,) = configuration.load_for([self.target], self.reach.config)
            if self.client:
                extra["client"] = _expect_client(file.module_of(name), self.client)
            found = file.resolve(name, extra, self.reach.runner)
        except ConfigError as error:
            problems += error.problems
            return None
        if found.runner == "local" and cluster.given:
            problems.append(
                f"{', '.join(cluster.given)}: only for the kubernetes runner, but"
                f" {found.name} uses the local runner"
            )
        return found

    def _parse_extra(self, problems: list[str]) -> dict[str, Any]:
        """Return the options of KEY=VALUE words; add malformed words to `problems`."""
        options: dict[str, Any] = {}
        for number, word in enumerate(self.extra, 1):
            key, equals, value = word.partition("=")
            if equals and key:
                options[key] = value
            else:  # the word may be a credential: the message omits it
                which = f" (number {number} of {len(self.extra)})" if len(self.extra) > 1 else ""
                problems.append(
                    f"--extra-option{which}: expected KEY=VALUE, got {describe_value(word)} without"
                    f" {'a key' if equals else 'an equals sign'}"
                )
        return options


def _expect_client(cls: type[Database], client: str) -> str:
    """Return the chosen client; ConfigError if the module has only its own client."""
    if "client" not in cls.options_model.model_fields:
        reason = cls.capabilities.no_driver
        raise ConfigError(f"--client {client}: {cls.name}: {reason}; omit --client")
    return client


def resolve_several(choices: Sequence[Choice], problems: list[str]) -> list[Target]:
    """Return the targets, which may share a variable.

    The problems of the targets are added to `problems`.
    """
    found = [target for choice in choices if (target := choice.find(problems))]
    forget_credentials(found)
    return found


def forget_credentials(targets: Iterable[Target]) -> None:
    """Remove the credentials of targets from the environment of child processes."""
    for name in {name for target in targets for name in target.variables}:
        os.environ.pop(name, None)


def reach_options(command: _Function) -> _Function:
    """Add the options of a Reach; the command receives the Reach as an argument."""

    @options_of(_Reaching, "reaching")
    @options_of(ClusterOptions, "cluster")
    @functools.wraps(command)
    def gather(*, reaching: _Reaching, cluster: ClusterOptions, **given: Any) -> Any:
        return command(reach=Reach(reaching.config, reaching.runner, cluster), **given)

    return cast("_Function", gather)


def local_target_options(command: _Function) -> _Function:
    """Add the options of a Choice for the local runner; the command receives the Choice."""

    @options_of(_Named, "named")
    @options_of(_Overriding, "own")
    @options_of(Configured, "configured")
    @functools.wraps(command)
    def gather(*, named: _Named, own: _Overriding, configured: Configured, **given: Any) -> Any:
        reach = Reach(configured.config, "local", ClusterOptions())
        return command(choice=Choice(named.target, reach, own.extra_option), **given)

    return cast("_Function", gather)


def target_options(
    *, several: bool = False, writes: bool = False
) -> Callable[[_Function], _Function]:
    """Add the options of a Choice; the command receives the Choice as an argument.

    `several`: the user may name several targets; `writes`: the command writes rows to targets.
    """

    def decorate(command: _Function) -> _Function:
        @options_of(_SeveralNamed if several else _Named, "named")
        @reach_options
        @options_of(_Writing if writes else _Overriding, "own")
        @functools.wraps(command)
        def gather(*, named: _Named, reach: Reach, own: _Overriding, **given: Any) -> Any:
            client = own.client if isinstance(own, _Writing) else None
            return command(choice=Choice(named.target, reach, own.extra_option, client), **given)

        return cast("_Function", gather)

    return decorate
