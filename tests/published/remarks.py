"""Notes on the published rows: date and machine, and uncertain figures."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from iotbench.comparison.statistics import precision
from iotbench.output.site.entries import LEAST_RUNS
from iotbench.results.result import much_other_work
from tests.published import LEFT_OUT, NOTES
from tests.published.records import is_current, is_search_over
from tests.published.row import OF_BATCHES, PREALLOCATED, SINGLE_ROWS, Row

_LARGE_ROWS = 500_000


class Remark(NamedTuple):
    """A note on some rows."""

    targets: Sequence[str]
    text: str


def when_and_where(found: Sequence[Row]) -> str:
    """Return a sentence about the days and the machine of the measurement."""
    moments = (each for row in found for each in (row.record.first, row.record.last) if each)
    days = sorted({moment.date() for moment in moments})
    days_text = f"from {days[0]} to {days[-1]}" if len(days) > 1 else f"on {days[0]}"
    return (
        f"Everything was measured {days_text} on a machine ({_most_common(found)}) that ran both"
        " workers and database."
    )


def preallocated(found: Sequence[Row]) -> Iterator[str]:
    """Yield the meaning of the asterisk at a number of bytes, for each module that has one."""
    for module in sorted({row.inserts[0].module for row in found} & {*PREALLOCATED}):
        yield f"\\* {module}: {PREALLOCATED[module]}."


def remarks(found: Sequence[Row]) -> Iterator[Remark]:
    """Yield the notes on some of the rows."""
    yield from _of_other_hardware(found)
    yield from _of_an_earlier_plan(found)
    yield from _of_runs(found)
    yield from _of_servers_elsewhere(found)
    for row in found:
        day, note = NOTES.get(row.target, (None, ""))
        if row.record.last and row.record.last.date() == day:
            yield Remark([row.target], f"`{row.target}`: {note}.")
    for name, why in LEFT_OUT.items():
        yield Remark([name], f"Not measured: `{name}`: {why}.")


def _of_other_hardware(found: Sequence[Row]) -> Iterator[Remark]:
    """Yield a note on the rows of each other machine."""
    hardware = _most_common(found)
    for own in sorted({row.hardware for row in found} - {hardware}):
        others = [row.target for row in found if row.hardware == own]
        yield Remark(
            others,
            f"Measured on other hardware ({own}), so do not compare these rows with others:"
            f" {_names(others)}.",
        )


def _most_common(found: Sequence[Row]) -> str:
    """Return the hardware that most rows were measured on."""
    return Counter(row.hardware for row in found).most_common(1)[0][0]


def _of_an_earlier_plan(found: Sequence[Row]) -> Iterator[Remark]:
    earlier = [row for row in found if not is_current(row.record)]
    if earlier:
        when = max(row.record.last for row in earlier if row.record.last)
        targets = [row.target for row in earlier]
        names = "all rows" if len(earlier) == len(found) else _names(targets)
        yield Remark(
            targets,
            f"Measured with an earlier plan, until {when:%Y-%m-%d}, and so with fewer runs; `make"
            f" published` measures these rows again: {names}.",
        )


def _of_runs(found: Sequence[Row]) -> Iterator[Remark]:
    """Yield notes on rows that a search, the spread of runs, or other work leaves in doubt."""
    smallest = min((size for row in found if (size := row.rows_of_sizes)), default=0)
    if 0 < smallest < _LARGE_ROWS:
        yield Remark(
            [],
            f"Bytes/row is of sets of {smallest:,} rows, so it may include space that a database"
            " allocates for every table.",
        )
    if ended := _targets(found, lambda row: not is_search_over(row.record)):
        yield Remark(
            ended,
            "The search for the best batch of these rows ended at the first size that was not"
            f" clearly faster, so a larger size may be faster: {_names(ended)}. `make published`"
            " continues the search.",
        )
    if uneven := _targets(found, _is_uneven):
        yield Remark(
            uneven,
            f"A rate with {LEAST_RUNS} runs or more is not known to within 10 %: {_names(uneven)}.",
        )
    if disturbed := _targets(found, lambda row: much_other_work(*row.inserts) is not None):
        yield Remark(
            disturbed,
            "Other work used at least a tenth of the cores during some runs of these rows, so"
            f" their rates may be too low: {_names(disturbed)}.",
        )


def _is_uneven(row: Row) -> bool:
    rates = (row.rates(name) for name in (*OF_BATCHES, SINGLE_ROWS))
    found = [precision(each) for each in rates if len(each) >= LEAST_RUNS]
    return any(within is None or within > 0.1 for within in found)


def _of_servers_elsewhere(found: Sequence[Row]) -> Iterator[Remark]:
    for row in found:
        if row.machine_of_server:
            note = row.note and f": {row.note}"
            yield Remark(
                [row.target],
                f"`{row.target}`: the tests did not start its server, which ran on"
                f" {row.machine_of_server}{note}.",
            )


def _targets(found: Sequence[Row], is_meant: Callable[[Row], bool]) -> list[str]:
    return [row.target for row in found if is_meant(row)]


def _names(targets: Sequence[str]) -> str:
    return ", ".join(f"`{target}`" for target in targets)
