"""Result files that gather many sweeps, written by `reproduce`, `run` and `capacity`."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from iotbench.comparison.sides import Side
from iotbench.figures.verdicts import least_of
from iotbench.machine.streams import say
from iotbench.plans.capacity import Capacity
from iotbench.plans.capacity import format_record as capacity_text
from iotbench.plans.items import worst
from iotbench.plans.published.record import OWN, Reproduction
from iotbench.plans.published.tables import format_record as reproduction_text
from iotbench.plans.record import FAILED, PlanRecord
from iotbench.plans.tables import format_record as plan_text
from iotbench.results import packed, result_files
from iotbench.results.kinds import NAMES
from iotbench.results.names import id_of
from iotbench.results.result import Result
from iotbench.store.lookup import path_of
from simulator.errors import ConfigError
from simulator.protocol.verdict import VerifyMode

_KIND = re.compile(rb'\s*\{\s*"kind":\s*"([a-z]+)"')
"""Pattern of the first bytes of the file of a plan or a capacity."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Entry of a plan, reproduction or search in a list of results."""

    created: datetime | None
    targets: Collection[str]
    what: str
    verdict: str
    verify: VerifyMode | None = None
    """Extent of the comparison of stored rows."""


@dataclass(frozen=True, slots=True)
class GatheredSweep:
    """A sweep of a gathering result."""

    file: str
    """Name of the sweep's result file in the same folder; empty if no result file exists."""
    setting: str = ""
    repeat: int | None = None
    cause: str = ""
    """Reason why the sweep has no result."""
    part_of: str = ""
    """ID of the result that gathers the sweep."""

    @property
    def origin(self) -> dict[str, str | int]:
        """The fields in ORIGIN with their values; empty for a sweep that was measured alone."""
        return {name: value for name in ORIGIN if (value := getattr(self, name))}


ORIGIN = ("part_of", "setting", "repeat")
"""Names of the fields of a sweep that exports show."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Reads and shows the result files of one command."""

    command: str
    record: type[BaseModel]
    text: Callable[[Any, str, int], str]
    """Returns the text that the command prints, from the record, the file name and the width."""
    outline: Callable[[Any], Outline]
    parts: Callable[[Any], Sequence[GatheredSweep]]
    """Returns the sweeps of a record."""

    def files(self, record: Any) -> list[str]:
        """Return the names of the result files of a record's sweeps, in the same folder."""
        return [part.file for part in self.parts(record) if part.file]

    def read(self, path: Path) -> Any:
        """Read a file; ConfigError if it is damaged."""
        return result_files.parse(path, packed.read(path), self.record)


def _outline_items(record: Reproduction | PlanRecord) -> Outline:
    if isinstance(record, PlanRecord):
        what = f"plan {record.name}"
    else:
        what = f"{record.document}, size {record.size}"
    done = record.status == "done" and record.items
    verdict = worst(item.verdict for item in record.items) if done else record.status
    targets = dict.fromkeys(item.target for item in record.items)
    verify = least_of(item.verify for item in record.items)
    return Outline(record.last, targets, what, verdict, verify)


def _outline_capacity(record: Capacity) -> Outline:
    found = record.holds_per_s
    rate = "no rate keeps" if found is None else f"{found:,.0f} {record.of.unit} keep"
    what = f"{rate} {' and '.join(record.objective)}"
    return Outline(record.created, (record.target,), what, record.verdict)


def _list_sweeps(record: Reproduction | PlanRecord) -> list[GatheredSweep]:
    return [
        GatheredSweep(file, item.setting, item.repeat, f"{item.id}: {item.cause}")
        for item in record.items
        for file in item.files or ("",)
    ]


GATHERED: Mapping[str, Gathered] = {
    "reproduce": Gathered(
        "reproduce", Reproduction, reproduction_text, _outline_items, _list_sweeps
    ),
    "plan": Gathered("run", PlanRecord, plan_text, _outline_items, _list_sweeps),
    "capacity": Gathered(
        "capacity",
        Capacity,
        capacity_text,
        _outline_capacity,
        lambda record: [GatheredSweep(file) for file in record.files],
    ),
}
"""Beginning of a file name -> kind of the file."""


def find_gathered(path: Path) -> Gathered | None:
    """Return the kind of a file by its content; None for a sweep's result, or a foreign file."""
    content = packed.read(path)
    if named := _KIND.match(content):
        return GATHERED.get(named[1].decode())
    return GATHERED["reproduce"] if OWN.match(content) else None


def parts_of(path: Path) -> list[GatheredSweep]:
    """Return the sweeps that a file gathers; the file of a single sweep gives this sweep."""
    kind = find_gathered(path)
    if not kind:
        return [GatheredSweep(path.name)]
    name = id_of(path) or path.stem
    return [replace(part, part_of=name) for part in kind.parts(kind.read(path))]


def read_parts(
    paths: Iterable[Path],
) -> tuple[list[tuple[str, Result]], dict[str, GatheredSweep]]:
    """Return the results in these files with their IDs, and ID -> sweep of a gathering result.

    A warning is printed for each sweep without a result. A ConfigError lists the files that cannot
    be read, or have no result at all.
    """
    found: dict[Path, tuple[str, Result]] = {}
    parts: dict[str, GatheredSweep] = {}
    problems = []
    for path in paths:
        each = parts_of(path)
        if not any(part.file for part in each):
            problems.append(f"{path}: none of its parts has a result")
            continue
        for part in each:
            if not part.file:
                say(f"warning: {path}: has no result of {part.cause}", err=True)
                continue
            file = path.parent / part.file
            try:
                result = result_files.read(file)
            except ConfigError as error:
                problems += error.problems
                continue
            name = id_of(file) or result.sweep_id
            found[file.resolve()] = name, result
            if part.part_of:
                parts[name] = part
    if problems:
        raise ConfigError(problems)
    return [*found.values()], parts


def find_sides(folder: Path, name: str, kind: str | None) -> list[Side]:
    """Return a side for each setting on each target; ConfigError if there are fewer than two.

    Without a kind, the results are inserts or, if these have no two sides, of the next kind.
    """
    path = path_of(folder, name)
    gathered = find_gathered(path)
    record = gathered.read(path) if gathered else None
    if not isinstance(record, PlanRecord):
        raise ConfigError(
            f"{path}: expected OTHER to compare it with, or the file of a plan instead of it"
        )
    searches = {curve.setting for curve in record.curves}
    files: dict[tuple[str, str], list[Path]] = {}
    for line in record.lines:
        files[line.setting, line.target] = []
    for item in record.items:
        if item.verdict != FAILED and item.setting not in searches:
            files[item.setting, item.target] += [path.parent / each for each in item.files]
    sides: dict[str, list[Side]] = {}
    for (setting, target), paths in files.items():
        results = [(each, result_files.read(each)) for each in paths]
        for own in dict.fromkeys(result.kind for _, result in results):
            some = tuple(pair for pair in results if pair[1].kind == own)
            sides.setdefault(own, []).append(Side(some, f"{setting} on {target}"))
    known = [each for each in NAMES if len(sides.get(each, ())) > 1]
    wanted = kind or next(iter(known), NAMES[0])
    if wanted not in known:
        remedy = f"; use {' or '.join(f'--of {each}' for each in known)}" if known else ""
        raise ConfigError(
            f"{path}: expected a setting on two targets, or two settings, with results of {wanted};"
            f" got {len(sides.get(wanted, ()))}{remedy}"
        )
    return sides[wanted]
