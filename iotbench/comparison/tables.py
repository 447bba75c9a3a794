"""Comparisons as text: a table, Markdown, or JSON."""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from iotbench.comparison.comparison import (
    CONFIDENCE,
    ComparedFigure,
    ComparedRow,
    Comparison,
    Judgement,
)
from iotbench.comparison.sides import Side
from iotbench.comparison.statistics import noise_of
from iotbench.figures.figures import percent_of
from iotbench.figures.numbers import format_value
from iotbench.machine.cleaning import escape_markdown, markdown_table
from iotbench.machine.streams import PLAIN_WIDTH
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.results.latency import fewest_samples
from simulator.errors import counted
from simulator.protocol.verdict import Status

FORMATS = ("table", "json", "markdown")


_AVERAGE = (
    "Base and Other are geometric means of the runs, and the change is their ratio; tables of a"
    " single result have arithmetic means"
)


def format_record(comparisons: Sequence[Comparison], form: str, width: int) -> str:
    """Return comparisons with the same base in one of FORMATS."""
    if form == "json":
        return json.dumps(content_of(comparisons), indent=1) + "\n"
    shown = _format_markdown if form == "markdown" else _format_table
    return "\n".join(shown(each, width) for each in comparisons)


def _format_cells(comparison: Comparison, row: ComparedRow) -> Iterator[list[str]]:
    """Yield the cells of each line of a row; the first line has the name of the row."""
    by_workers = _has_workers(comparison)
    place = [row.place.name, *[str(row.place.workers)] * by_workers]
    for number, line in enumerate(row.lines):
        yield [
            *(place if not number else [""] * len(place)),
            line.figure.title,
            format_value(line.base, line.figure.unit),
            format_value(line.other, line.figure.unit),
            f"{line.difference.change:+.1%}" if line.difference else "-",
            line.interval,
            line.judgement.value if line.judgement else "",
        ]


def _has_workers(comparison: Comparison) -> bool:
    counts = {row.place.workers for row in comparison.rows}
    return comparison.subject.name in ("query", "stage") and len(counts) > 1


def _list_headings(comparison: Comparison) -> list[tuple[str, CellKind, int]]:
    """Return the titles of the columns, what they hold, and the order in which they are dropped."""
    subject = comparison.subject
    return [
        (subject.title, CellKind.NAME if subject.is_named else CellKind.FIGURE, 0),
        *[("Workers", CellKind.FIGURE, 0)] * _has_workers(comparison),
        ("Figure", CellKind.NAME, 0),
        ("Base", CellKind.FIGURE, 2),
        ("Other", CellKind.FIGURE, 2),
        ("Change", CellKind.FIGURE, 0),
        ("Interval", CellKind.FIGURE, 1),
        ("Judgement", CellKind.TEXT, 0),
    ]


def _format_table(comparison: Comparison, width: int) -> str:
    table = TextTable()
    for title, holds, drop in _list_headings(comparison):
        # From this width on, all columns fit if names of figures are wrapped.
        table.add_column(title, holds, drop=drop if width < PLAIN_WIDTH else 0)
    for row in comparison.rows:
        for cells in _format_cells(comparison, row):
            table.add_row(*cells)
        table.add_section()
    return draw([*_describe_sides(comparison), table, "", *_list_notes(comparison)], width)


def _format_markdown(comparison: Comparison, _width: int) -> str:
    headings = _list_headings(comparison)
    rows = (cells for row in comparison.rows for cells in _format_cells(comparison, row))
    numbers = {title for title, holds, _ in headings if holds is CellKind.FIGURE}
    lines = ["  \n".join(map(escape_markdown, _describe_sides(comparison))), ""]
    lines += markdown_table([title for title, *_ in headings], rows, numbers)
    lines += ["", *(f"- {escape_markdown(line)}" for line in _list_notes(comparison))]
    return "".join(f"{line}\n" for line in lines)


def _describe_sides(comparison: Comparison) -> Iterator[str]:
    for name, side in (("base", comparison.base), ("other", comparison.other)):
        first = side.first
        yield f"{name}: {side.label}: {first.kind} on {first.target}, {first.created:%F %T} UTC"


def _list_notes(comparison: Comparison) -> Iterator[str]:
    for name, side in (("base", comparison.base), ("other", comparison.other)):
        for path, result in side.results:
            if result.status != "done":
                is_short = f"{result.status}; only its finished runs are compared"
                yield f"warning: {name}: {path}: {is_short}"
        yield from (f"warning: {name}: {text}" for text in side.warnings())
    for row in comparison.rows:
        for name, verdicts in zip(("base", "other"), row.verdicts, strict=True):
            if verdicts != (Status.VERIFIED.value,):
                yield f"verdict: {name}, {row.place}: {', '.join(verdicts)}"
    yield from _describe_runs(comparison)
    for name, place in comparison.only:
        yield f"only in {name}: {place}"
    yield from _list_missing_percentiles(comparison)
    for what, base, other in comparison.differing:
        yield f"differs: {what}: {base} -> {other}"
    if not comparison.differing:
        yield "configuration, versions, durability and machine are equal"
    yield from comparison.plans.lines
    yield from _warn_of_speed(comparison)
    yield _count_judgements(comparison)
    yield from _explain(comparison)


def _list_missing_percentiles(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        for figure in comparison.percentiles:
            if figure not in [line.figure for line in row.lines]:
                least = fewest_samples(percent_of(figure.name) or Fraction())
                few = f"a run has fewer than {least:,} samples"
                yield f"not compared: {figure.name} of {row.place}: {few}"


def _describe_runs(comparison: Comparison) -> Iterator[str]:
    for number, name in enumerate(("base", "other")):
        counts = dict.fromkeys((row.runs[number], row.sweeps[number]) for row in comparison.rows)
        each = ", ".join(
            f"{counted(runs, 'run')} in {counted(sweeps, 'sweep')}" for runs, sweeps in counts
        )
        yield f"runs of {name}: {each} of each row"
    if any(line.difference for row in comparison.rows for line in row.lines):
        yield _AVERAGE
    if any(row.in_turns for row in comparison.rows):
        pairs = max(row.sweeps[0] for row in comparison.rows if row.in_turns)
        yield f"measured in turns: the interval is computed from {pairs} pairs of sweeps"
    calibrations = dict.fromkeys(each for row in comparison.rows for each in row.calibrations)
    yield from map(str, calibrations)


def _warn_of_speed(comparison: Comparison) -> Iterator[str]:
    if comparison.is_of_other_speed:
        yield (
            f"warning: for a row, the client used {comparison.client_factor:.2f} times as much CPU"
            " time as in the base: the machine ran at another speed, or an option that differs"
            " costs the client more, so the judgement is not about the database alone; repeat both"
            " sides in turns"
        )


def _count_judgements(comparison: Comparison) -> str:
    found = ((comparison.count(judgement), judgement) for judgement in Judgement)
    counts = ", ".join(f"{count} {judgement.value}" for count, judgement in found if count)
    headline = comparison.rows[0].lines[0].figure.name
    return f"judgement of {comparison.other.label} by {headline}: {counts}"


def _explain(comparison: Comparison) -> Iterator[str]:
    several = len(comparison.rows) > 1
    together = f" (of the first figure for all {len(comparison.rows)} rows together)"
    yield (
        f"interval: {CONFIDENCE:.0%}{together * several}; noise: the interval includes 0, or the"
        f" change is below {comparison.noise:.1%}"
    )
    if comparison.count(Judgement.NOT_IN_TURNS):
        yield (
            "not in turns: the change exceeds the noise of the runs, but equal sweeps differ by"
            " more than their runs do; measure both sides in turns with a plan (`run`) and compare"
            " its file, or measure the scatter of equal sweeps on this machine with `calibrate`"
        )
    if comparison.count(Judgement.DISTURBED):
        yield (
            "disturbed: the change exceeds the noise, but other work on the machine can explain it;"
            " stop that work, and repeat both sides in turns"
        )
    if comparison.count(Judgement.ONE_RUN):
        yield (
            "one run: no interval and no judgement; repeat it, and join the results of a side with"
            " commas, such as last~3,last~1 last~2,last"
        )


def content_of(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return comparisons as plain data."""
    return {
        "kind": "compare",
        "base": _describe_side(comparisons[0].base),
        "subject": comparisons[0].subject.name,
        "noise": comparisons[0].noise,
        "confidence": CONFIDENCE,
        "comparisons": [_describe_comparison(each) for each in comparisons],
    }


def _describe_comparison(comparison: Comparison) -> dict[str, Any]:
    judgements = {each.value: comparison.count(each) for each in Judgement}
    plans = comparison.plans
    return {
        "other": _describe_side(comparison.other),
        "judgements": {name: count for name, count in judgements.items() if count},
        "client_factor": comparison.client_factor,
        "rows": [
            {
                **row.place.dimensions,
                "runs": dict(zip(("base", "other"), row.runs, strict=True)),
                "sweeps": dict(zip(("base", "other"), row.sweeps, strict=True)),
                "in_turns": row.in_turns,
                "calibrations": [noise_of(each.scatter) for each in row.calibrations],
                "verdicts": dict(zip(("base", "other"), row.verdicts, strict=True)),
                "figures": {line.figure.name: _describe_line(line) for line in row.lines},
            }
            for row in comparison.rows
        ],
        "only": [{"side": side, **place.dimensions} for side, place in comparison.only],
        "differing": {
            what: {"base": base, "other": other} for what, base, other in comparison.differing
        },
        "plans": {
            "equal": [*plans.equal],
            "changed": {
                each.query: {"base": each.base, "other": each.other} for each in plans.changed
            },
            "unknown": [*plans.unknown],
        },
    }


def _describe_side(side: Side) -> dict[str, Any]:
    first = side.first
    return {
        "ids": [result.sweep_id for _, result in side.results],
        "files": [str(path) for path, _ in side.results],
        "warnings": side.warnings(),
        "kind": first.kind,
        "target": first.target,
    }


def _describe_line(line: ComparedFigure) -> dict[str, Any]:
    found = line.difference
    return {
        "unit": line.figure.unit.value,
        "base": line.base,
        "other": line.other,
        "change": found.change if found else None,
        "low": found.low if found else None,
        "high": found.high if found else None,
        "judgement": line.judgement.value if line.judgement else None,
    }
