"""The records of measured and of published targets."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from iotbench.machine.machine import this_machine
from iotbench.plans.plan import read_plan
from iotbench.plans.published.record import Reproduction
from iotbench.plans.record import Curve, PlanRecord
from iotbench.plans.settings import Search
from iotbench.results import packed
from iotbench.results.result_files import read
from simulator import __version__
from tests.published import ARCHIVE, DOCUMENTS, MEASURED, PLANS, ROWS


def published(plan: str = ROWS) -> Mapping[str, tuple[Path, PlanRecord]]:
    """Return target -> file and record of what is published of a plan, by default its row."""
    found = {}
    for path in sorted(packed.find_files(ARCHIVE, f"plan-{plan}-*.json")):
        record = _record(path)
        for target in dict.fromkeys(line.target for line in record.lines):
            found[target] = (path, record)
    return found


def _record(path: Path) -> PlanRecord:
    return _parsed(path, packed.file_of(path).stat().st_mtime_ns)


@cache
def _parsed(path: Path, _changed_ns: int) -> PlanRecord:
    return PlanRecord.model_validate_json(packed.read(path))


def measured(target: str, plan: str = ROWS) -> tuple[Path, PlanRecord] | None:
    """Return the last record of a target by a plan and program on this hardware; None: none."""
    paths = (MEASURED / target).glob(f"plan-{plan}-*.json")
    for path in sorted(paths, key=lambda each: each.stat().st_mtime, reverse=True):
        record = _record(path)
        if is_current(record) and _is_of_this_hardware(path, record):
            return path, record
    known = published(plan).get(target)
    return known if known and is_current(known[1]) and _is_of_this_hardware(*known) else None


def find_reproductions() -> Iterator[Path]:
    """Yield the newest complete record of each document, measured here or published."""
    for name in DOCUMENTS:
        files = f"reproduce-{name}-demo-*.json"
        paths = [*packed.find_files(ARCHIVE, files), *folder_of(name).glob(files)]
        records = [(Reproduction.model_validate_json(packed.read(path)), path) for path in paths]
        done = [(record.last, path) for record, path in records if record.status == "done"]
        yield from [path for _, path in sorted(done, key=lambda each: str(each[0]))[-1:]]


def folder_of(document: str) -> Path:
    """Return the folder of what is measured of a document."""
    return MEASURED / f"document-{document}"


def remove(path: Path) -> None:
    """Remove a record that was measured here, and its results."""
    for item in _record(path).items:
        for file in item.files:
            (path.parent / file).unlink(missing_ok=True)
    path.unlink()


def hardware_of(path: Path, record: PlanRecord) -> set[str]:
    """Return the hardware of a record; for earlier versions, of one of its results."""
    if record.hardware:
        return {*record.hardware}
    there = {*packed.find_files(path.parent, "*.json")}
    files = (path.parent / file for item in record.items for file in item.files)
    return {read(file).machine.hardware for file in islice(filter(there.__contains__, files), 1)}


def is_search_over(record: PlanRecord) -> bool:
    """Return whether the searches of a record have ended by the present rule."""
    return all(_next_number(record, curve) is None for curve in record.curves)


def _next_number(record: PlanRecord, curve: Curve) -> int | None:
    """Return the next number of a search; None if it is over, or the database refused a number."""
    if any(name.startswith(f"{curve.target}, {curve.setting} with ") for name in record.refused):
        return None
    most = {
        each["name"]: each.get("batches") or each.get("shards") for each in record.plan["settings"]
    }
    search = Search(curve.sought, most[curve.setting])
    return search.next_number({point.number: point.values for point in curve.points})


def _is_of_this_hardware(path: Path, record: PlanRecord) -> bool:
    return hardware_of(path, record) == {this_machine().hardware}


def is_current(record: PlanRecord) -> bool:
    """Return whether this version of plan and program measured it."""
    plan = {key: value for key, value in record.plan.items() if key != "targets"}
    return record.program_version == __version__ and _same(plan, *_today(record.name))


@cache
def _today(name: str) -> tuple[Any, Any]:
    """Return a present plan, and the present plan without defaults."""
    plan = read_plan(PLANS[name])
    dumped = partial(plan.model_dump, mode="json", by_alias=True, exclude={"targets"})
    return dumped(), dumped(exclude_defaults=True)


def _same(before: Any, now: Any, chosen: Any) -> bool:
    """Return whether two plans are equal; a new option may have its default."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        new = now.keys() - before.keys()
        return (
            before.keys() <= now.keys()
            and new.isdisjoint(chosen or ())
            and all(_same(before[key], now[key], (chosen or {}).get(key)) for key in before)
        )
    if isinstance(before, list) and isinstance(now, list) and isinstance(chosen, list):
        return len(before) == len(now) and all(map(_same, before, now, chosen))
    return bool(before == now)
