"""Costs of a fault: the time without an acknowledgement, and the fate of the rows."""

from collections.abc import Iterator, Sequence

from iotbench.figures.numbers import significant
from iotbench.measurements.shared.faults import Fault
from iotbench.output.page.measured import PageResult
from iotbench.output.site.entries import Entry
from iotbench.output.site.question import Cell, Line, Question, Topic, draw_values, make_cell
from iotbench.results.faults import Outage, accounts_of
from simulator.errors import counted

_TITLES = {
    Fault.KILL: "What does a killed server cost?",
    Fault.PAUSE: "What does a server cost that stands still?",
    Fault.RESTART: "What does a restart of the server cost?",
    Fault.CRASH: "What does a crash of a node cost?",
    Fault.FILL: "What does a full disk cost?",
    Fault.CUT: "What does a cut network cost?",
    Fault.SLOW: "What does a slow network cost?",
    Fault.WORKER: "What does a killed client cost?",
}
TOPICS = [
    Topic(
        _TITLES[fault],
        f"{fault}.html",
        "fault",
        f"Inserts with the fault {fault}",
        "Away: until the database ran again. Back: from the fault until rate and median latency"
        " were as before it. Uncertain: sent with an unknown outcome, and never sent again. Numbers"
        " of rows are sums over the repeats.",
        "{:,.1f} s".format,
    )
    for fault in Fault
]
_SILENT = "Without acknowledgement, s"


def ask(entries: Sequence[Entry]) -> Iterator[Question | None]:
    """Yield the cost of each fault in the results of databases."""
    for topic, fault in zip(TOPICS, Fault, strict=True):
        found = [
            (entry, each, outages)
            for entry in entries
            for each in entry.results
            if (outages := [o for run in each.done for o in run.outages if o.fault == fault])
        ]
        yield topic.answer(
            [_describe(*each) for each in found],
            lambda lines: draw_values("Time without an acknowledgement", "s", lines, _SILENT),
            lambda lines, ends: f"Without an acknowledgement: {ends}{_describe_losses(lines)}",
        )


def _describe(entry: Entry, each: PageResult, outages: Sequence[Outage]) -> Line:
    accounts = [found for run in each.done if (found := accounts_of(run.outcome))]

    def count(*names: str) -> str:
        return ", ".join(f"{sum(getattr(one, name) for one in accounts):,}" for name in names)

    def cell(values: Sequence[float | None]) -> Cell:
        known = [value for value in values if value is not None]
        missing = len(values) - len(known)
        text, _ = make_cell(known, "", significant)
        words = [text] * bool(known) + [f"not in {counted(missing, 'run')}"] * bool(missing)
        return ", ".join(words), each.link

    acknowledged = sum(one.kept + one.lost for one in accounts)
    cells: dict[str, Cell] = {
        "Away, s": cell([one.undone_s - one.began_s for one in outages]),
        _SILENT: cell([one.silent_s for one in outages]),
        "Back, s": cell([one.settled_s for one in outages]),
        "p99 until then, ms": cell([one.p99_inside_ms for one in outages]),
        "p99 otherwise, ms": cell([one.p99_outside_ms for one in outages]),
    }
    if accounts:
        cells |= {
            "Acknowledged": (f"{acknowledged:,}", each.link),
            "Lost": (count("lost"), each.link),
            "Uncertain: stored, not": (count("present", "absent"), each.link),
            "Stored in part, twice, never sent": (count("torn", "doubled", "foreign"), each.link),
        }
    again = sum(run.metrics.retried for run in each.done if run.metrics)
    cells["Batches retried"] = f"{again:,}", each.link
    return Line(entry, [each], cells, [one.silent_s for one in outages])


def _describe_losses(lines: Sequence[Line]) -> str:
    """Return which databases lost acknowledged rows; empty if no run accounts for its rows."""
    lost: dict[str, int] = {}
    for line in lines:
        for run in (run for each in line.results for run in each.done):
            if accounts := accounts_of(run.outcome):
                lost[line.name] = lost.get(line.name, 0) + accounts.lost
    if not lost:
        return ""
    losers = [f"{name}: {counted(rows, 'row')}" for name, rows in lost.items() if rows]
    if losers:
        return f"; acknowledged rows were lost by {', '.join(losers)}"
    is_all = all(line.name in lost for line in lines)
    return f"; no acknowledged row was lost{'' if is_all else ' where rows were counted'}"
