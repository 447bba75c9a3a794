"""Pictures of the course of runs: rates and phases, and resources."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from iotbench.figures.numbers import significant
from iotbench.figures.resources import client_in, machine_in, server_in
from iotbench.figures.verdicts import describe_run
from iotbench.machine.resources import AFTER, BEFORE, Resources, Used
from iotbench.measurements import kind_of
from iotbench.output.page.charts import Axis, ChartPoint, ChartSeries
from iotbench.output.page.content import PageTable, Picture, Section
from iotbench.output.page.measured import PageResult
from iotbench.output.page.overview import MOST_CARDS
from iotbench.output.page.style import SeriesStyle
from iotbench.output.page.timeline import PhaseSpan, TimelineMark, draw_course
from iotbench.output.terminal.course import marks_of
from iotbench.results.result import RunRecord
from simulator.errors import counted
from simulator.protocol.events import Occurrence
from simulator.protocol.messages import WARMUP, WATCH
from simulator.protocol.spec import Work

_LEAST_S = 3
"""Minimum number of rates in the picture of a run."""
_MOST_LINES = 5
_TIMED_PHASES = (Work.INSERT, Work.MIXED, Work.CHANGE)
_SHOWN_PHASES = ("prefill", WARMUP, *_TIMED_PHASES, "visible", "compact")
_BAND = "In a long run, a line shows means of several seconds, and a band their range."
_REST = {BEFORE: "at rest", AFTER: "at rest", "init": "start", WATCH: "start", "barrier": "start"}
"""Phase -> name of the phase in pictures."""
_SHORTEST_S = 0.25
"""Minimum duration of a run's last interval in a picture."""


def courses_of(found: Sequence[PageResult]) -> Iterator[Section]:
    """Yield a section with rates over time, and a section with resources over time."""
    most = _MOST_LINES if len(found) <= MOST_CARDS else 1
    rates = [_draw_rates(each, most) for each in found if kind_of(each.result).writes]
    if pictures := [picture for picture in rates if picture]:
        which = "for each number of workers" if most > 1 else "with the most workers"
        note = (
            f"Rows acknowledged in each second of the run with the median rate {which}, if it"
            " lasted at least 3 s, and of the last failed run, with their phases below."
            f" {_BAND}"
            " Marks show failures, and the server's own work up to a second after its start."
            " Work that the server does not count can also cause dips."
        )
        yield Section("course", "Rate over time", [note], pictures)
    used = [_draw_resources(each) for each in found]
    if pictures := [picture for picture in used if picture]:
        yield Section("resources", "Resources over time", [_BAND], pictures)


def _draw_rates(each: PageResult, most: int) -> Picture | None:
    runs = [run for run in _select_typical(each, most) if len(compute_rates(run)) >= _LEAST_S]
    if not runs:
        return None
    labels = [_format_place(each, run) for run in runs]
    styles = [SeriesStyle(order, order) for order in range(len(runs))]
    series = [
        ChartSeries(label, style, compute_rates(run))
        for label, style, run in zip(labels, styles, runs, strict=True)
    ]
    marks = [
        TimelineMark(found.at_s, found.what, style, found.is_failure)
        for style, run in zip(styles, runs, strict=True)
        for found in marks_of(run)
    ]
    title = f"{each.label}: rate over time"
    phases = {label: _find_spans(run) for label, run in zip(labels, runs, strict=True)}
    svg = draw_course(title, Axis("rows/s"), series, phases, marks)
    table = _list_marks(labels, runs)
    return Picture(
        title, svg, _list_phases(labels, runs), _describe_unlisted(runs), table if marks else None
    )


def _describe_unlisted(runs: Sequence[RunRecord]) -> str:
    """Return a note about failures without a mark."""
    unlisted = sum(worker.more_failures for run in runs for worker in run.outcome.workers)
    return f"{counted(unlisted, 'more failure')} came later and have no marks." if unlisted else ""


def _select_typical(each: PageResult, most: int) -> list[RunRecord]:
    """Return the run with the median rate for each worker count or level, at most `most` runs.

    The last failed run, if any, is added.
    """
    groups: dict[int, list[RunRecord]] = defaultdict(list)
    for run in each.done:
        if run.metrics:
            groups[run.level if each.summary.subject.name == "level" else run.workers].append(run)
    found = [
        sorted(runs, key=lambda run: run.metrics.rows_per_s if run.metrics else 0)[len(runs) // 2]
        for runs in groups.values()
    ]
    failed = [run for run in each.result.runs if run.outcome.status != "done"][-1:]
    if most == 1:
        found = found[-1:]
    elif len(found) > most:
        step = (len(found) - 1) / (most - 1)
        found = [found[round(number * step)] for number in range(most)]
    return found + failed


def _format_place(each: PageResult, run: RunRecord) -> str:
    ended = "" if run.outcome.status == "done" else f", {run.outcome.status}"
    if each.summary.subject.name == "level":
        return f"level {run.level:,}{ended}"
    return f"{counted(run.workers, 'worker')}{ended}"


def compute_rates(run: RunRecord) -> list[ChartPoint]:
    """Return the rate in each interval of whole seconds; the last interval may be shorter."""
    totals: dict[int, int] = defaultdict(int)
    each_s = max((worker.rows_each_s for worker in run.outcome.workers), default=1)
    for worker in run.outcome.workers:
        for place, rows in enumerate(worker.rows_by_second):
            totals[place * worker.rows_each_s // each_s * each_s] += rows
    ends = [w.ended_s for w in run.outcome.workers if w.ended_s]
    window_s = max(ends) - run.outcome.released_s if ends and run.outcome.released_s else math.inf
    points = []
    for second, rows in sorted(totals.items()):
        length_s = min(each_s, window_s - second)
        if length_s >= _SHORTEST_S:
            points.append(ChartPoint(second + length_s / 2, rows / length_s))
    return points


def _find_spans(run: RunRecord) -> list[PhaseSpan]:
    """Return the phases with work of the database; a prefill ends at the common start."""
    phases = {name: s for name, s in run.outcome.phases_s.items() if name in _SHOWN_PHASES}
    timed_s = phases.get(WARMUP, 0.0) + sum(phases.get(work, 0.0) for work in _TIMED_PHASES)
    prefill_s = phases.pop("prefill", 0.0)
    spans = [PhaseSpan("prefill", -prefill_s, 0.0)] if 0 < prefill_s < timed_s else []
    at_s = 0.0
    for name, length_s in phases.items():
        spans.append(PhaseSpan(name, at_s, at_s + length_s))
        at_s += length_s
    return spans


def _list_phases(labels: Sequence[str], runs: Sequence[RunRecord]) -> PageTable:
    names = [*dict.fromkeys(name for run in runs for name in run.outcome.phases_s)]
    rows = []
    for label, run in zip(labels, runs, strict=True):
        warmup_s = run.outcome.phases_s.get(WARMUP, 0.0)
        rates = [p.y for p in compute_rates(run) if p.x > warmup_s] or [0.0]
        lengths_s = {name: run.outcome.phases_s.get(name) for name in names}
        rows.append({
            "Run with": label,
            "Run": f"{run.run}",
            "Lowest rows/s": f"{min(rates):,.0f}",
            "Mean rows/s": f"{sum(rates) / len(rates):,.0f}",
            "Highest rows/s": f"{max(rates):,.0f}",
            "n (seconds)": f"{len(rates)}",
            **{f"{n} s": "-" if s is None else significant(s) for n, s in lengths_s.items()},
            "Verdict": describe_run(run),
        })  # fmt: skip
    return PageTable(rows)


def _list_marks(labels: Sequence[str], runs: Sequence[RunRecord]) -> PageTable:
    """Return a row for each kind of mark in each run, with count and times."""
    rows = []
    for label, run in zip(labels, runs, strict=True):
        kinds: dict[str, list[Occurrence]] = defaultdict(list)
        for found in marks_of(run):
            kinds[found.what].append(found)
        rows += [
            {
                "Run with": label,
                "Run": f"{run.run}",
                "Mark": what,
                "Count": f"{sum(found.count for found in some):,}",
                "At s": ", ".join(map(_format_moment, some)),
            }
            for what, some in kinds.items()
        ]
    return PageTable(rows, "Marks")


def _format_moment(found: Occurrence) -> str:
    """Return the time of an occurrence, with the count if it is above 1."""
    return f"{found.at_s:.1f}" + (f" ({found.count:,} times)" if found.count > 1 else "")


def _draw_resources(each: PageResult) -> Picture | None:
    runs = [run for run in each.done if run.resources and len(run.resources.samples) > 1]
    if not runs:
        return None
    run = runs[-1]
    assert run.resources
    samples = run.resources.samples
    first_s = samples[0].ended_s - samples[0].duration_s
    lines = {
        "machine": [(s, s.machine_cores) for s in samples if s.machine_cores is not None],
        "client": [(s, s.client.cores) for s in samples if s.client],
        "server": [(s, s.server.cores) for s in samples if s.server],
    }
    series = [
        ChartSeries(
            name,
            SeriesStyle(order, order),
            [ChartPoint(s.ended_s - s.duration_s / 2 - first_s, cores) for s, cores in of],
        )
        for order, (name, of) in enumerate(lines.items())
        if of
    ]
    spans = [
        PhaseSpan(
            _REST.get(s.phase, s.phase), s.ended_s - s.duration_s - first_s, s.ended_s - first_s
        )
        for s in samples
    ]
    title = f"{each.label}: cores in use, {counted(run.workers, 'worker')}"
    phases = {"phase": _join(spans)}
    svg = draw_course(title, Axis("cores"), series, phases)
    note = f"One run, {describe_run(run)}. Server: {run.resources.server}."
    return Picture(title, svg, _list_resources(run.resources), note)


def _join(spans: Sequence[PhaseSpan]) -> list[PhaseSpan]:
    """Return the spans, with adjacent spans of the same phase joined."""
    found: list[PhaseSpan] = []
    for span in spans:
        if found and found[-1].name == span.name:
            found[-1] = PhaseSpan(span.name, found[-1].start_s, span.end_s)
        else:
            found.append(span)
    return found


def _list_resources(found: Resources) -> PageTable:
    """Return a row for each phase, with duration and resources."""
    lengths_s: dict[str, list[float]] = defaultdict(list)
    for sample in found.samples:
        lengths_s[sample.phase].append(sample.duration_s)
    return PageTable([
        {
            "Phase": phase,
            "n": f"{len(each_s)}",
            "Seconds": f"{sum(each_s):.1f}",
            "Machine cores": f"{machine.cores:.2f}" if machine else "-",
            "Load": "-" if machine is None or machine.load is None else f"{machine.load:.1f}",
            **_describe_used("Client", client_in(found, phase)),
            **_describe_used("Server", server_in(found, phase)),
        }
        for phase, each_s in lengths_s.items()
        for machine in [machine_in(found, phase)]
    ])  # fmt: skip


def _describe_used(name: str, used: Used | None) -> dict[str, str]:
    return {
        f"{name} cores": f"{used.cores:.2f}" if used else "-",
        f"{name} MiB": f"{used.memory_bytes / 2**20:,.0f}" if used else "-",
    }
