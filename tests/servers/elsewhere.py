"""Servers that run elsewhere: `--address TARGET=URL`, or `--addresses FILE`.

An address replaces how a target is reached: its options are those of the module, as in config.yaml.
The tests neither start nor stop such a server, unless FILE has the commands for it. They use
databases of their own on it, which they drop (spaces.py), and touch nothing else.
"""

import contextlib
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from iotbench.config.input.records import read_yaml
from iotbench.config.targets.config import Config
from iotbench.config.targets.urls import options_of, variables_of
from simulator.data.schema import Table
from simulator.errors import ConfigError, nearest
from simulator.modules import database_class
from simulator.modules.contract import Database, Options
from tests.contract.harness import Names, hosts_of
from tests.servers.base import Server
from tests.servers.spaces import space_of

_OWN = ("kill", "start", "note")
_COMMAND_S = 120
_POLL_S = 0.5


@dataclass(frozen=True)
class Address:
    """How to reach a target's server."""

    target: str
    module: str
    options: Options
    kill: str = ""
    """Shell command that kills the server as a crash would."""
    start: str = ""
    """Shell command that starts it again and returns."""
    note: str = ""
    """What a reader of the evidence must know about the server."""

    def given(self) -> dict[str, Any]:
        """Return the options that were given, with credentials in clear text."""
        given = {name: getattr(self.options, name) for name in self.options.model_fields_set}
        return given | {n: v for n, v in self.options.secrets().items() if n in given}

    @property
    def hosts(self) -> set[str]:
        """The hosts as they stand in the options."""
        return hosts_of(self.options)


def addresses(
    words: Sequence[str],
    file: Path | None,
    modules: Mapping[str, str],
    environment: Collection[str],
) -> dict[str, Address]:
    """Return the address of each target; ConfigError with every problem.

    `modules` has the targets and their modules, `environment` the names of its variables. A word
    without a URL picks a target of the file: the file's others are left out.
    """
    entries: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    picked = {word for word in words if "=" not in word} if file else set()
    if file:
        content = read_yaml(file)
        listed = content.get("targets") if isinstance(content, dict) else None
        if not isinstance(listed, dict) or not all(isinstance(e, dict) for e in listed.values()):
            problems.append(f"{file}: expected `targets:` with a mapping of options for each")
        else:
            entries |= {str(name): dict(entry) for name, entry in listed.items()
                        if not picked or str(name) in picked}  # fmt: skip
    for word in words:
        if word in picked:
            continue
        target, _, url = word.partition("=")
        if target in modules and "://" in url:
            model = database_class(modules[target]).options_model
            with _collected(problems):
                entries[target] = options_of(url, f"--address {target}", target, model)
        elif target in modules:
            problems.append(f"--address {target}: expected {target}=SCHEME://[USER@]HOST[:PORT]")
        else:
            entries[target] = {}
    problems += [
        f"--address {target}: expected {target}=URL, or a target of {file}"
        for target in sorted(picked - {*entries})
    ]
    found = {}
    for target, entry in entries.items():
        if target not in modules:
            problems.append(f"no such target: {target} ({nearest(target, modules)})")
            continue
        with _collected(problems):
            found[target] = _address(target, modules[target], entry, file, environment)
    if problems:
        raise ConfigError(problems)
    return found


@contextlib.contextmanager
def _collected(problems: list[str]) -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        problems += error.problems


def _address(
    target: str, module: str, entry: dict[str, Any], file: Path | None, environment: Collection[str]
) -> Address:
    own = {name: str(entry.pop(name)) for name in _OWN if name in entry}
    if bool(own.get("kill")) != bool(own.get("start")):
        raise ConfigError(f"{file}: targets.{target}: kill and start need each other")
    database = database_class(module)
    if database.capabilities.embedded:
        raise ConfigError(f"{target}: module {module} has no server that could run elsewhere")
    if entry.setdefault("module", module) != module:
        raise ConfigError(f"{target}: expected module: {module}, got {entry['module']}")
    entry |= variables_of(target, database.options_model, entry, environment)
    config = Config(file or Path("--address"), "default", {target: entry})
    options = config.resolve(target, {}, "local").options
    return Address(target, module, options, **own)


class Elsewhere(Server):
    """A server at an address; a subclass for each, made by `server_at`."""

    version = "elsewhere"
    ready_s = 120
    address: ClassVar[Address]
    tables: ClassVar[Callable[[], Sequence[Table]]]

    def __init__(self) -> None:
        self._killed = False
        self._space = space_of(self.address.module)
        self._names = Names(self.tables)

    @classmethod
    def build(cls, folder: Path) -> None:
        raise NotImplementedError

    @classmethod
    def install(cls) -> None:
        """Do nothing."""

    @classmethod
    def installed(cls) -> Path:
        """Return a text that shows where it is."""
        return Path("elsewhere")

    def programs(self) -> Iterator[Any]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Leave it running."""

    @property
    def running(self) -> bool:
        return not self._killed

    def cannot(self, what: str) -> str:
        """Return why the tests cannot do something to the server; empty if they can."""
        given = self.address.kill if what == "kill" else ""
        remedy = "; --addresses FILE may have commands for it" if what == "kill" else ""
        text = f"{self.address.target} runs elsewhere: tests cannot {what} it{remedy}"
        return "" if given else text

    def kill(self, *names: str) -> None:
        """Kill it by the command of the file."""
        self._run(self.address.kill)
        self._killed = True

    def start(self) -> None:
        """Start it again, if a test has killed it; return once it answers."""
        if not self._killed:
            return
        self._run(self.address.start)
        deadline = time.monotonic() + self.ready_s
        while True:
            try:
                self.open().describe()
                break
            except Exception:  # while it starts, each database answers in its own way
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_S)
        self._killed = False

    def _run(self, command: str) -> None:
        if not command:
            raise RuntimeError(self.cannot("kill"))
        subprocess.run(command, shell=True, check=True, timeout=_COMMAND_S,
                       stdin=subprocess.DEVNULL, start_new_session=True)  # fmt: skip

    # --- databases

    def open(self, **more: Any) -> Database:
        """Return the module's database at the address."""
        module = database_class(self.address.module)
        return module(module.options_model(**{**self.address.given(), **more}))

    def options(self, database: str) -> dict[str, Any]:
        """Return the module's options that reach a database of `self.database`."""
        return self._space.options(self.address.given(), database)

    def create_database(self, name: str) -> None:
        self._space.create(self.open(), name)
        if not self._space.drops_all:
            self._names.take(self.open(**self.options(name)))

    def clear(self, name: str) -> None:
        """Drop what is left of a database whose name nobody else has; nothing where none are."""
        if self._space.drops_all:
            self._space.drop(self.open(), name)
        elif self._space.is_apart:
            self._names.clear(self.open(**self.options(name)))

    def drop_database(self, name: str) -> None:
        if not self._space.drops_all:
            self._names.drop(self.open(**self.options(name)))
        self._space.drop(self.open(), name)


def server_at(
    address: Address, tables: Callable[[], Sequence[Table]], targets: Sequence[str] = ()
) -> type[Elsewhere]:
    """Return the server at an address.

    `tables` are those that tests make there, `targets` those of config.yaml that it serves.
    """
    own = {
        "name": f"{address.target}_elsewhere",
        "address": address,
        "tables": staticmethod(tables),
        "targets": tuple(targets),
    }
    return type("ElsewhereOf" + address.target.title().replace("_", ""), (Elsewhere,), own)
