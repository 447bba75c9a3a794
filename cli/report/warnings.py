"""Warnings: what was seen, why it matters, and what to do about it. A closed list."""

from collections.abc import Iterator

from cli.host.caches import DROPPED
from cli.kinds import kind_of
from cli.results.result import Result
from simulator.data.workloads.file import File, FileParams
from simulator.errors import counted

_OTHER_WORK = 0.1
"""Part of the cores that others may use."""


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
    """Yield the most that others did beside a run, if it can have slowed the run down."""
    work = [run.other_work for run in result.runs if run.other_work]
    most = max(work, key=lambda each: each.cores, default=None)
    if most and most.cores >= _OTHER_WORK * result.machine.cores:
        who = ", ".join(f"{name} {cores:.2f}" for name, cores in most.busiest.items())
        yield (
            f"other work on this machine took up to {most.cores:.2f} of"
            f" {counted(result.machine.cores, 'core')} while a run went on ({who}), so rates may be"
            " lower and latencies higher than without it; stop it, and repeat the run"
        )


def _file_warnings(result: Result) -> Iterator[str]:
    if result.dataset.workload == File.name:
        for bad in FileParams(**result.dataset.params).bad_cells:
            yield f"--data: {bad.describe()}"
