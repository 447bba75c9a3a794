"""Warnings: what was seen, why it matters, and what to do about it. A closed list."""

from collections.abc import Iterator

from iotbench.machine.disk import DROPPED
from iotbench.measurements import kind_of
from iotbench.results.result import Result, much_other_work
from simulator.data.workloads.file import File, FileParams
from simulator.errors import counted


def warnings_of(result: Result) -> list[str]:
    """Return the warnings for a sweep."""
    found = [*_file_warnings(result), *_pause_warnings(result), *_other_work_warnings(result)]
    if result.caches not in ("", DROPPED):
        found.append(
            f"--drop-caches: the system's file caches were not dropped ({result.caches}), so a run"
            " may find what earlier ones left there; run as root on the server's machine"
        )
    return list(dict.fromkeys([*found, *kind_of(result).warnings(result)]))


def _pause_warnings(result: Result) -> Iterator[str]:
    """Yield the longest pause of each worker count."""
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


def _other_work_warnings(result: Result) -> Iterator[str]:
    if work := much_other_work(result):
        yield (
            f"other work took a tenth of this machine's {counted(result.machine.cores, 'core')} or"
            f" more while a run went on ({work}), so rates may be lower and latencies higher than"
            " without it; stop it, and repeat the run"
        )


def _file_warnings(result: Result) -> Iterator[str]:
    if result.dataset.workload == File.name:
        for bad in FileParams(**result.dataset.params).bad_cells:
            yield f"--data: {bad.describe()}"
