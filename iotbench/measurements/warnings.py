"""All warnings about a result; each states an observation, its consequence, and a remedy."""

import re
from collections.abc import Iterator, Sequence

from iotbench.machine.disk import DROPPED
from iotbench.measurements import kind_of
from iotbench.results.result import Result, much_other_work
from simulator.data.workloads.file import File, FileParams
from simulator.errors import counted

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_ONE = re.compile(r"1 worker( share)?s?\b")


def merge_warnings(warnings: Sequence[str]) -> list[str]:
    """Return warnings; texts about several worker counts are merged if only numbers differ."""
    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(warnings):
        is_of_workers = re.match(r"[\d,]+ worker", text)
        several = _ONE.sub(r"1 workers\1", text, count=1)
        groups.setdefault(_NUMBER.sub("#", several) if is_of_workers else text, []).append(text)
    return [_merge_group(group) for group in groups.values()]


def _merge_group(group: Sequence[str]) -> str:
    if len(group) == 1:
        return group[0]
    counts, *others = zip(*map(_NUMBER.findall, group), strict=True)
    *first, last = dict.fromkeys(counts)
    joined = f"{', '.join(first)} and {last}" if first else last
    numbers = iter([joined, *map(_format_range, others)])
    return _NUMBER.sub(lambda _: next(numbers), group[-1])


def _format_range(numbers: Sequence[str]) -> str:
    ordered = sorted({*numbers}, key=lambda each: float(each.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def warnings_of(result: Result) -> list[str]:
    """Return the warnings for a sweep, the most serious ones first."""
    found = []
    if result.dataset.workload == File.name:
        params = FileParams(**result.dataset.params)
        found += [f"--data: {bad.describe()}" for bad in params.bad_cells]
    found += result.cluster_warnings
    found += _pause_warnings(result)
    if work := much_other_work(result):
        found.append(
            f"other work took a tenth of this machine's {counted(result.machine.cores, 'core')} or"
            f" more during a run ({work}), so rates may be lower and latencies higher than"
            " without it; stop it, and repeat the run"
        )
    if unmarked := [run.outcome.no_mark for run in result.runs if run.outcome.no_mark]:
        found.append(
            f"no mark in the database names the owner of the rows ({unmarked[-1]}), so only"
            " their number is compared with the result file; let the user read and write the table"
            " iotbench_marks"
        )
    if result.caches not in ("", DROPPED):
        found.append(
            f"--drop-caches: the system's file caches were not dropped ({result.caches}), so a run"
            " may find what earlier ones left there; run as root on the server's machine"
        )
    return list(dict.fromkeys([*found, *kind_of(result).warnings(result)]))


def _pause_warnings(result: Result) -> Iterator[str]:
    """Yield a warning with the longest pause of each worker count."""
    longest: dict[int, tuple[float, str]] = {}
    for run in result.runs:
        pauses = [(each.paused_s, f"worker {each.index}") for each in run.outcome.workers]
        pause = max([(run.outcome.paused_s, "the collector"), *pauses])
        longest[run.workers] = max(pause, longest.get(run.workers, pause))
    for workers, (pause_s, who) in longest.items():
        if pause_s:
            yield (
                f"{counted(workers, 'worker')}: {who} stood still for {pause_s:.0f} s while the"
                " clock ran (the machine was suspended or overloaded, or the process was stopped),"
                " and rates and latencies may include this pause; repeat the run"
            )
