"""Finds data that fits into memory, so that a comparison may not have used the disks. Pure."""

from collections.abc import Iterator, Sequence

from iotbench.measurements import kind_of
from iotbench.plans.engine import MeasuredItem
from iotbench.plans.items import Item
from iotbench.results.result import Result


def in_memory(measured: Sequence[tuple[Item, MeasuredItem]]) -> dict[str, str]:
    """Return target -> its largest data and the memory that holds all of it."""
    largest: dict[str, tuple[int, int, str]] = {}
    for item, found in measured:
        for _, result in found.results:
            for size, memory, whose in _sizes(result):
                largest[item.target.name] = max(
                    (size, memory, whose), largest.get(item.target.name, (0, 0, ""))
                )
    return {
        target: f"{_format(size)} of {_format(memory)} {whose}"
        for target, (size, memory, whose) in largest.items()
        if size < memory
    }


def caches(measured: Sequence[tuple[Item, MeasuredItem]]) -> dict[str, int]:
    """Return what became of the system's file caches before an insert -> number of items."""
    found: dict[str, int] = {}
    for _, each in measured:
        for _, result in each.results[:1]:
            if result.caches:
                found[result.caches] = found.get(result.caches, 0) + 1
    return found


def _sizes(result: Result) -> Iterator[tuple[int, int, str]]:
    """Yield the size of the tables after each insert, and the memory that might hold them."""
    for run in () if kind_of(result).asks else result.runs:
        size, server = run.outcome.size_bytes, run.outcome.server
        if size is None or server is None:
            continue
        if server.buffer_bytes is not None:
            yield size, server.buffer_bytes, "of the server's buffers"
        elif result.runner == "local":
            yield size, result.machine.memory_bytes, "of this machine's memory"


def _format(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.1f} MiB"
