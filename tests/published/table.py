"""The tables of the published results: all figures, and the short table of the README."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from statistics import fmean, median

from iotbench.comparison.statistics import precision
from iotbench.config.targets.advice import SUFFIX
from iotbench.output.site.entries import LEAST_RUNS, PROMISES
from tests.published import BEGIN, END, README, TABLE
from tests.published.remarks import preallocated, remarks, when_and_where
from tests.published.row import (
    OF_BATCHES,
    SINGLE_ROWS,
    Row,
    has_two_humps,
)

_PROMISE = "An acknowledged row survives"
_CELLS = (
    "A cell shows the median of the runs, their mean with half the width of its 95 % interval, and"
    f" the number of runs in brackets. With fewer than {LEAST_RUNS} runs, it shows only the lowest"
    " and the highest run, since a mean or an interval would not be reliable. ‡: the runs have two"
    " speeds, and neither median nor mean is one of them. ≈: runs of this row overlap runs of the"
    " row above, so the order of the two rows means nothing."
)
_COMPARE = "Compare only rows that survive the same failures."
_TITLES = (
    _PROMISE, "Database", "1 worker, rows/s", "2 workers", "4 workers", "Batches of 1,000",
    "Single rows", "Bytes/row of `cpu`", "`iot`, ms", "`cpu`, ms", "Set", "Verdict",
)  # fmt: skip
_SHORT_TITLES = (
    _PROMISE, "Database", "Rows/s as installed", "Rows/s as its vendor advises", "Single rows",
    "Queries of `iot`, ms", "Bytes/row of `cpu`",
)  # fmt: skip


def with_table(text: str, table: str) -> str:
    """Return a text with its table replaced."""
    head, _, rest = text.partition(BEGIN)
    return head + BEGIN + table + END + rest.partition(END)[2]


def table(found: Sequence[Row]) -> str:
    """Return all figures as Markdown, grouped by promise, with notes below."""
    searched = any(row.record.curves for row in found)
    batches = "in the batches that a search found best for the database, " * searched
    measured = (
        f"Rates are of workload `iot`, inserted {batches}in batches of 1,000, or as single rows."
        f" {_CELLS} {when_and_where(found)} The columns of queries show the shortest and the"
        " longest mean wait of a query, and the number of repeats. Bytes/row is the mean after"
        f" compaction, and the number of inserts. Set is the largest data set. {_COMPARE}"
    )
    said = [measured, *(each.text for each in remarks(found)), *preallocated(found)]
    return _markdown(
        _TITLES, [[_promise(row), *_figures(row, tied)] for row, tied in _tied(found)], said
    )


def short_table(found: Sequence[Row]) -> str:
    """Return the highest rates as Markdown: both sets of settings of a database in one row."""
    remarked = {target for each in remarks(found) for target in each.targets}
    cells = []
    pairs = [*_pairs(found)]
    shown = [pair.get(False) or pair[True] for pair in pairs]
    for pair, (row, is_tied) in zip(pairs, _tied(shown), strict=True):
        both = {row.target, f"{row.target.removesuffix(SUFFIX)}{SUFFIX}"}
        mark = "†" if both & remarked else ""
        cells.append([
            _promise(row), f"{_tie(is_tied)}{row.product} (`{row.target}`){mark}", *(
                _known(pair[advised].fastest) if advised in pair else "-"
                for advised in (False, True)
            ),
            _known(row.rates(SINGLE_ROWS)), row.waits_of_iot(), row.bytes_per_row(),
        ])  # fmt: skip
    link = f"[the table of all figures]({TABLE.relative_to(README.parent).as_posix()}#published)"
    measured = (
        "Rates are of workload `iot`, with the batch size and the number of workers (1, 2 or 4)"
        f" that were fastest in a first run, which is not counted. {_CELLS} {when_and_where(found)}"
        " Single rows, the shortest and the longest mean wait of the five queries, and bytes/row"
        " after compaction were measured with the settings as installed. `-`: the vendor advises no"
        " other settings, or the value could not be measured. †:"
        f" {link} has a remark on this row. {_COMPARE}"
    )
    return _markdown(_SHORT_TITLES, cells, [measured, *preallocated(found)])


def _pairs(found: Sequence[Row]) -> Iterator[Mapping[bool, Row]]:
    """Yield whether advised -> row, for each database and promise."""
    pairs: dict[tuple[int, str], dict[bool, Row]] = {}
    for row in found:
        pair = pairs.setdefault((row.promise, row.target.removesuffix(SUFFIX)), {})
        pair[row.is_advised] = row
    yield from pairs.values()


def _tied(found: Sequence[Row]) -> Iterator[tuple[Row, bool]]:
    """Yield each row, and whether it is tied with the row before of the same promise."""
    for before, row in zip([None, *found], found, strict=False):
        yield row, before is not None and before.promise == row.promise and row.is_tied_with(before)


def _tie(is_tied: bool) -> str:  # noqa: FBT001
    return "≈ " * is_tied


def _promise(row: Row) -> str:
    return f"**{PROMISES[row.promise]}**"


def _figures(row: Row, is_tied: bool) -> Iterator[str]:  # noqa: FBT001
    """Yield the cells after the promise."""
    advised = ", as its vendor advises" if row.is_advised else ""
    yield f"{_tie(is_tied)}{row.product}{advised} (`{row.target}`){row.batch()}"
    for setting in (*OF_BATCHES, SINGLE_ROWS):
        yield _known(row.rates(setting))
    yield row.bytes_per_row()
    yield row.waits_of_iot()
    yield row.waits_of_cpu()
    yield row.set_size()
    yield ", ".join(dict.fromkeys(line.judged for line in row.record.lines))


def _known(rates: Sequence[float]) -> str:
    """Return the median and the mean of rates with its precision; of few rates, the extremes."""
    if not rates:
        return "-"
    if len(rates) < LEAST_RUNS:
        ends = dict.fromkeys((min(rates), max(rates)))
        return f"{' to '.join(f'{rate:,.0f}' for rate in ends)} ({len(rates)})"
    mark = "‡" if has_two_humps(rates) else ""
    within = f"mean {fmean(rates):,.0f} ±{precision(rates) or 0:.0%}"
    return f"{median(rates):,.0f}{mark}, {within} ({len(rates)})"


def _markdown(titles: Sequence[str], cells: Sequence[Sequence[str]], said: Sequence[str]) -> str:
    """Return a table without empty columns or repeated first cells, and the notes below it."""
    shown_before = ""
    lines = [titles]
    for first, *rest in cells:
        lines.append(("" if first == shown_before else first, *rest))
        shown_before = first
    measured = [any(own[place] != "-" for own in cells) for place in range(len(titles))]
    text = [f"| {' | '.join(compress(own, measured))} |" for own in lines]
    text.insert(1, "|---" * sum(measured) + "|")
    return "".join(f"{line}\n" for line in (*text, "", *said))
