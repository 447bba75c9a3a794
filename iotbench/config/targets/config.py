"""The targets in config.yaml; a check reports all problems at once."""

import functools
import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from iotbench.config.input.records import read_yaml
from iotbench.config.input.validation import describe_value, format_key
from iotbench.config.targets.given import GivenOptions, SecretRef
from iotbench.config.targets.urls import VARIABLE, entry_of, form_of, is_url, name_of
from iotbench.machine.program import find_shipped
from simulator.errors import ConfigError, nearest
from simulator.modules import MODULES, database_class
from simulator.modules.contract import REFUSED_LOGIN, Database, Options
from simulator.redaction import HIDDEN

FILE = "config.yaml"
RUNNERS = ("local", "kubernetes")
_RESERVED = ("module", "runner", "queries", "database_pods", "node_size", "restart_with")
_TOP_LEVEL = ("namespace", "targets")
_LONGEST_NAME = 100
NAME_PATTERN = rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{_LONGEST_NAME - 1}}}"
_NAME = re.compile(NAME_PATTERN)
_NODE_SIZE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,_/-]{0,39}")


@dataclass(frozen=True, slots=True)
class Target:
    """A resolved target: its module and its validated options."""

    name: str
    module: str
    runner: str
    options: Options
    tuned: Mapping[str, str]
    """Query name -> text of the query that the target uses instead of the usual text."""
    namespace: str = "default"
    """Namespace of the benchmark's pods."""
    secret_refs: Mapping[str, SecretRef] = field(default_factory=dict)
    """Option -> Secret from which pods read the option; the command line does not read the
    Secret."""
    credential_files: Mapping[str, Path] = field(default_factory=dict)
    """Option -> file that contains the option's value; local processes read the file again."""
    database_pods: Mapping[str, str] = field(default_factory=dict)
    """Labels of the database's pods; the benchmark's pods avoid the nodes of these pods."""
    variables: Collection[str] = ()
    """Names of the environment variables from which credentials were read."""
    url: str = ""
    """URL of the target; empty if the target is an entry of the configuration."""
    restart_with: str = ""
    """Command that restarts the database after a fault, if --restart-with is not given."""

    @property
    def word(self) -> str:
        """The value of --target for this target."""
        return self.url or self.name

    def secrets(self) -> dict[str, str]:
        """Return option -> credential in clear text, if the command line knows the credential."""
        known = self.options.secrets()
        return {name: value for name, value in known.items() if name not in self.secret_refs}

    def explain(self, cause: str) -> str:
        """Return the cause of a failure; for a refused login of a URL with its variables."""
        if not (self.url and REFUSED_LOGIN.search(cause)):
            return cause
        form = form_of(self.url)
        places = [*sorted(self.variables), *form.variables.values(), *form.model.driver_finds]
        known = " or ".join(dict.fromkeys(places))
        return f"{cause}; the credentials of this URL, unless typed, come from {known}"

    def open(self) -> Database:
        """Return the target's database, without I/O."""
        return database_class(self.module)(self.options)


@dataclass(frozen=True, slots=True)
class Config:
    """The content of config.yaml; a target is resolved when it is used."""

    path: Path
    namespace: str
    targets: Mapping[str, Mapping[str, Any]]
    urls: Mapping[str, str] = field(default_factory=dict)
    """Name -> URL, for each target that is a URL."""

    def where(self, name: str, key: str = "") -> str:
        """Return the place of a target, or of one of the target's options, for messages."""
        if name in self.urls:
            form = form_of(self.urls[name])
            shown = f"{key} ({form.variables[key]})" if key in form.variables else key
            return f"--target {form.text}" + f": {shown}" * bool(key)
        return f"{self.path}: targets.{name}" + f".{key}" * bool(key)

    def entry(self, name: str) -> Mapping[str, Any]:
        """Return a target's entry in the file; ConfigError if the file has no such target."""
        if name not in self.targets:
            hint = nearest(name, self.targets)
            shown = repr(name) if _NAME.fullmatch(name) else describe_value(name)
            raise ConfigError(f"target {shown} is not in {self.path} ({hint}{_suggest_url(name)})")
        return self.targets[name]

    def of_module(self, name: str) -> str:
        """Return the name of a target, or of the first target of the module with that name."""
        modules = ((each, str(entry["module"])) for each, entry in self.targets.items())
        own = (target for target, module in modules if module == name)
        return name if name in self.targets else next(own, name)

    def module_of(self, name: str) -> type[Database]:
        """Return a target's module; ConfigError if there is no module with the name."""
        module = str(self.entry(name)["module"])
        where = self.where(name)
        if (
            module not in MODULES and ":" not in module
        ):  # the message omits it: it may be a credential
            raise ConfigError(
                f"{self.where(name, 'module')}: unknown module ({nearest(module, MODULES)})"
            )
        try:
            return database_class(module)
        except ConfigError as error:
            raise ConfigError([f"{where}: {problem}" for problem in error.problems]) from error

    def find_broken(self) -> Mapping[str, str]:
        """Return target -> reason why its module cannot be used."""
        found = {}
        for name in self.targets:
            try:
                self.module_of(name)
            except ConfigError as error:
                found[name] = str(error)
        return found

    def runner_of(self, name: str) -> str:
        """Return the runner of a target; --runner overrides it."""
        return str(self.entry(name).get("runner") or "kubernetes")

    def resolve(
        self, name: str, extra_options: Mapping[str, Any], runner: str | None = None
    ) -> Target:
        """Return a target with the options of --extra-option; ConfigError with all problems."""
        cls, entry = self.module_of(name), self.entry(name)
        chosen = runner or self.runner_of(name)
        own = {str(k): value for k, value in entry.items() if k not in _RESERVED}
        place_of = functools.partial(self.where, name)
        given = GivenOptions(cls, own, extra_options, place_of, self.path.parent)
        options = given.read(in_pods=chosen == "kubernetes")
        if chosen == "kubernetes" and cls.capabilities.embedded:
            given.problems.append(
                f"{self.where(name)}: module {cls.name} stores its data in a file on one machine,"
                " which pods do not share: use --runner local"
            )
        if given.problems or options is None:
            raise ConfigError(given.problems)
        tuned = {str(key): str(value) for key, value in (entry.get("queries") or {}).items()}
        pods = {str(key): str(value) for key, value in (entry.get("database_pods") or {}).items()}
        return Target(
            name=name,
            module=str(entry["module"]),
            runner=chosen,
            namespace=self.namespace,
            options=options,
            tuned=tuned,
            secret_refs=given.from_secrets,
            credential_files=given.files,
            database_pods=pods,
            variables=given.variables,
            url=self.urls.get(name, ""),
            restart_with=str(entry.get("restart_with") or ""),
        )


def _suggest_url(name: str) -> str:
    """Return a hint with the URL of a module; empty if the module does not exist or has no URL."""
    forms = database_class(name).urls if name in MODULES else ()
    return f"; or a server of this module: {forms[0]}" if forms else ""


def as_kept(key: str, value: Any, options: Options) -> str:
    """Return a target's option as KEY=VALUE for a result, without credentials.

    A credential is stored only if the value is a reference to a variable.
    """
    word = f"{key}={value}"
    if key in options.credentials():
        return word if VARIABLE.fullmatch(str(value)) else f"{key}={HIDDEN}"
    return options.redact_command(word)


def load(given: Path | None = None) -> Config:
    """Read a configuration file; ConfigError with all problems.

    The default is config.yaml in the current folder or, if the file does not exist, the file that
    comes with the program.
    """
    here = Path(FILE)
    path = given or (here if here.exists() else find_shipped(FILE))
    content = read_yaml(path)
    if content is None:
        raise ConfigError(f"{path}: is empty; it must have `targets:`")
    if not isinstance(content, dict):
        raise ConfigError(
            f"{path}: expected a mapping with `targets:`, got {describe_value(content)}"
        )
    problems = [
        f"{path}: {format_key(key)}: unknown key ({nearest(str(key), _TOP_LEVEL)})"
        for key in content
        if key not in _TOP_LEVEL
    ]
    namespace = content.get("namespace", "default")
    if not isinstance(namespace, str):
        problems.append(f"{path}: namespace: expected text, got {describe_value(namespace)}")
    targets = content.get("targets")
    if not isinstance(targets, dict) or not targets:
        problems.append(
            f"{path}: targets: expected a mapping of targets, got {describe_value(targets)}"
        )
        targets = {}
    for number, (name, entry) in enumerate(targets.items(), 1):
        if name is None or isinstance(name, bool):
            problems.append(
                f"{path}: targets: YAML reads the name of one target as {str(name).lower()}, which"
                ' is not text; write it in quotes, as in "null":'
            )
            continue
        if _NAME.fullmatch(str(name)):
            problems += _check_entry(f"{path}: targets.{name}", entry)
        else:
            problems.append(
                f"{path}: targets: the name of target {number} has {describe_value(name)};"
                f" expected up to {_LONGEST_NAME} letters, digits, '-', '_' and '.', since result"
                " files are named after it"
            )
    if problems:
        raise ConfigError(problems)
    return Config(path, namespace, {str(name): entry for name, entry in targets.items()})


def load_for(names: Sequence[str], given: Path | None = None) -> tuple[Config, list[str]]:
    """Return the configuration for targets that may be URLs, and the names of the targets.

    A file is read only if it is given, or if a target is not a URL.
    """
    urls = {name_of(each): each for each in names if is_url(each)}
    needs_file = given or not names or not all(map(is_url, names))
    read = load(given) if needs_file else Config(Path(FILE), "default", {})
    entries = {name: entry_of(url) for name, url in urls.items()}
    found = [name_of(each) if is_url(each) else each for each in names]
    return Config(read.path, read.namespace, {**read.targets, **entries}, urls), found


def _check_entry(where: str, entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return [f"{where}: expected a mapping with `module:`, got {describe_value(entry)}"]
    problems = []
    module = entry.get("module")
    if not isinstance(module, str):
        problems.append(f"{where}.module: expected a module's name, got {describe_value(module)}")
    runner = entry.get("runner", "local")
    if runner not in RUNNERS:
        problems.append(
            f"{where}.runner: expected local or kubernetes, got {describe_value(runner)}"
        )
    queries = entry.get("queries") or {}
    if not isinstance(queries, dict) or not all(isinstance(v, str) for v in queries.values()):
        problems.append(f"{where}.queries: expected query names with their text")
    pods = entry.get("database_pods") or {}
    if not isinstance(pods, dict) or not all(isinstance(v, str) for v in pods.values()):
        problems.append(f"{where}.database_pods: expected labels with their values")
    restart = entry.get("restart_with", "")
    if not isinstance(restart, str):
        problems.append(
            f"{where}.restart_with: expected a command, such as systemctl restart postgresql, got"
            f" {describe_value(restart)}"
        )
    size = entry.get("node_size", "any")
    is_word = isinstance(size, str | int) and not isinstance(size, bool)
    if not is_word or not _NODE_SIZE.fullmatch(str(size)):
        problems.append(
            f"{where}.node_size: expected up to 40 letters and digits, such as CR4 or 16 CPUs, got"
            f" {describe_value(size)}"
        )
    return problems


_PARTS = (
    "connection_string", "database", "host", "hosts", "keyspace", "org", "path", "port", "prefix",
    "uri", "url",
)  # fmt: skip
_CREDENTIALS = re.compile(r"(?<=://)[^/@]*@|\b(?:user|password|passwd)\s*=\s*(?:'[^']*'|\S+)")


def address_key(options: Options) -> str:
    """Return a short digest of the address, equal for all users; empty if there is no address."""
    values = {name: _normalise(name, getattr(options, name, None)) for name in _PARTS}
    given = [f"{name}={value}" for name, value in values.items() if value]
    return hashlib.sha256("\n".join(given).encode()).hexdigest()[:16] if given else ""


def _normalise(name: str, value: Any) -> str:
    if value is None:
        return ""
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if name == "path":
        return os.path.realpath(text)
    return " ".join(_CREDENTIALS.sub("", text).rstrip("/").split())
