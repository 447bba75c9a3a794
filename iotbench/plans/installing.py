"""Commands that install and remove the database of a target, from a plan or from dbinstall/."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from iotbench.config.targets.config import Target
from iotbench.machine.program import find_shipped
from iotbench.plans.items import Pair
from iotbench.plans.plan import Plan, PlanTarget
from simulator.errors import ConfigError, nearest

_FOLDER = "dbinstall"
_PROGRAMS = ("helm", "kubectl", "openssl")
"""Programs that a README's commands may call unattended."""
_ATTENDED = re.compile(r"--accept-| & ")
"""Pattern of commands that accept a licence or leave a process running."""
_OF_SHELL = re.compile(r"[;&|<>$`()]")
"""Characters that make a command more than one program with arguments."""
_OF_DELETION = (
    "--wait",
    "--timeout",
    "--cascade",
    "--force",
    "--grace-period",
    "--now",
    "--ignore-",
)
"""Options of `kubectl delete` and `helm uninstall` that do not name an object."""
_COMMAND = re.compile(r"^ {4}(.*)$")
_REMOVE = re.compile(r"^.*\bRemove\b")


@dataclass(frozen=True, slots=True)
class Installation:
    """Commands that install the database of a target, and remove it with all data."""

    target: str
    install: tuple[str, ...]
    remove: tuple[str, ...]
    folder: Path
    """Working folder of the commands."""

    @property
    def looks(self) -> tuple[str, ...]:
        """Commands that list the objects of a removal, where such commands are known."""
        return tuple(filter(None, map(_build_look, self.remove)))

    def redact(self, targets: Iterable[Target]) -> "Installation":
        """Return a copy for display, without the credentials of the targets."""

        def without(command: str) -> str:
            for target in targets:
                command = target.options.redact_command(command)
            return command

        install, remove = (tuple(map(without, each)) for each in (self.install, self.remove))
        return replace(self, install=install, remove=remove)


def _build_look(command: str) -> str:
    """Return a command that lists the objects of a removal; empty if unknown."""
    if _OF_SHELL.search(command):
        return ""
    words = [word for word in shlex.split(command) if not word.startswith(_OF_DELETION)]
    if words[:2] == ["kubectl", "delete"]:
        return shlex.join(["kubectl", "get", *words[2:], "--ignore-not-found", "--output=name"])
    if words[:2] == ["helm", "uninstall"] and len(words) > 2:
        named = ["--all", "--short", f"--filter=^{words[2]}$"]
        return shlex.join(["helm", "list", *named, *words[3:]])
    return ""


def installations_of(plan: Plan) -> dict[str, Installation]:
    """Return target -> its installation; ConfigError names all problems of all installations."""
    found: dict[str, Installation] = {}
    problems: list[str] = []
    for each in plan.targets:
        try:
            if each.install is not None or each.remove is not None:
                found[each.name] = _build_installation(each)
        except ConfigError as error:
            problems += [f"targets.{each.name}.{text}" for text in error.problems]
    if problems:
        raise ConfigError(problems)
    return found


def _build_installation(target: PlanTarget) -> Installation:
    if isinstance(target.install, str):
        if target.remove is not None:
            raise ConfigError("remove: the README of dbinstall names the commands; leave it out")
        return _read_readme(target.name, target.install)
    if target.install is None:
        raise ConfigError("remove: needs `install:`, whose result it removes")
    if target.remove is None:
        raise ConfigError(
            "remove: is missing: name the commands that remove what `install` makes; [] if nothing"
        )
    return Installation(target.name, target.install, target.remove, Path())


def _read_readme(target: str, name: str) -> Installation:
    """Return the commands of a README; `name` is FOLDER or FOLDER/SECTION."""
    folder, _, section = name.partition("/")
    known = sorted(path.parent.name for path in find_shipped(_FOLDER).glob("*/README.md"))
    if folder not in known:
        raise ConfigError(
            f"install: {folder!r} is not a folder of {_FOLDER}/ ({nearest(folder, known)});"
            " your own commands are a list"
        )
    path = find_shipped(_FOLDER) / folder
    sections = dict(_split_sections((path / "README.md").read_text(encoding="utf-8")))
    if not section and len(sections) == 1:
        section = next(iter(sections))
    if section not in sections:
        names = ", ".join(f"{folder}/{each}" for each in sections)
        raise ConfigError(f"install: {name!r}: expected one of {names}")
    install, remove = sections[section]
    for command in (*install, *remove):
        if command.split()[0] not in _PROGRAMS or _ATTENDED.search(command):
            raise ConfigError(
                f"install: {name}: `{command}` cannot run unattended; list the commands that you"
                f" want, from {_FOLDER}/{folder}/README.md"
            )
    return Installation(target, tuple(install), tuple(remove), path)


def _split_sections(text: str) -> Iterator[tuple[str, tuple[list[str], list[str]]]]:
    """Yield the title and the commands of each section that both installs and removes."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, content = part.partition("\n")
        found: tuple[list[str], list[str]] = ([], [])
        removes = continues = False
        for line in content.splitlines():
            removes = removes or bool(_REMOVE.match(line) and line.endswith(":"))
            if match := _COMMAND.match(line):
                word = re.sub(r"\s+# .*$", "", match[1].strip()).removesuffix("\\").strip()
                commands = found[removes]
                if continues and commands:
                    commands[-1] += f" {word}"
                else:
                    commands.append(word)
                continues = match[1].endswith("\\")
        if all(found):
            yield title, found


def groups_of(pairs: Sequence[Pair], installed: Mapping[str, Installation]) -> list[list[Pair]]:
    """Return pairs in groups that are measured one after the other, in the order of targets.

    Each installed target has a group with all its repeats, so that no two installed databases run
    at once. Consecutive targets without installation are measured in turns.
    """
    groups = groupby(pairs, lambda pair: pair.target.name if pair.target.name in installed else "")
    return [list(group) for _, group in groups]


def format_shown(found: Iterable[Installation]) -> str:
    """Return the commands of installations as text."""
    lines = []
    for each in found:
        where = f" in {each.folder}" if each.folder != Path() else ""
        lines += [f"target {each.target} is installed before its first item{where}:"]
        lines += [f"  {command}" for command in each.install]
        lines += ["and removed after its last one:"] if each.remove else []
        lines += [f"  {command}" for command in each.remove]
    return "".join(f"{line}\n" for line in lines)
