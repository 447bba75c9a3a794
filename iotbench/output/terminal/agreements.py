"""Shows the result of `validate`: a table, JSON or CSV, with answers side by side."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from iotbench.machine.cleaning import csv_text
from iotbench.machine.streams import width_of
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.output.terminal.notes import format_cells, mismatches_of
from iotbench.results.agreement import Agreement
from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.events import ShownAnswer

_EQUAL = "equal to the truth"
_LISTED = 5
"""Maximum number of different answers printed for a user-defined query."""
_SHOWN_ROWS = 20


def format_validated(
    results: Sequence[Result], found: Sequence[Agreement], files: Sequence[Path | None], form: str
) -> str:
    """Return a comparison of answers in one of the formats of results."""
    records = [_make_record(each, results) for each in found]
    if form == "json":
        return json.dumps(_make_content(results, records, files), indent=1) + "\n"
    if form == "csv":
        return csv_text(records)
    return "".join(f"{line}\n" for line in _list_lines(results, found, files))


def _list_shown(result: Result) -> Iterator[tuple[str, ShownAnswer]]:
    """Yield (name of query, answer) for the answers that a result shows."""
    for query in result.queries:
        yield from ((query.name, answer) for answer in query.shown)


def _find_verdict(result: Result, query: str) -> str:
    verdicts = [each.verdict for each in result.queries if each.name == query]
    return verdicts[-1].status.value if verdicts else "not asked"


def _make_record(each: Agreement, results: Sequence[Result]) -> dict[str, Any]:
    return {
        "query": each.query,
        "answers": each.answers,
        "equal": each.equal,
        "rounded": each.rounded,
        "different": len(each.different),
        **{f"verdict_{result.target}": _find_verdict(result, each.query) for result in results},
        "not_compared": each.problem,
    }


def _make_content(
    results: Sequence[Result], records: Sequence[dict[str, Any]], files: Sequence[Path | None]
) -> dict[str, Any]:
    return {
        "kind": "validate",
        "targets": [result.target for result in results],
        "status": next((r.status for r in results if r.status != "done"), "done"),
        "causes": {r.target: r.cause for r in results if r.cause},
        "queries": records,
        "mismatches": {r.target: mismatches_of(r) for r in results},
        "answers": [
            {"target": result.target, "query": query, **shown.model_dump(mode="json")}
            for result in results
            for query, shown in _list_shown(result)
        ],
        "files": [str(path) if path else None for path in files],
    }


def _list_lines(
    results: Sequence[Result], found: Sequence[Agreement], files: Sequence[Path | None]
) -> Iterator[str]:
    table = TextTable()
    table.add_column("Query", CellKind.NAME)
    for title, drop in {"Answers": 2, "Equal": 3, "Rounded": 1, "Differ": 0}.items():
        table.add_column(title, drop=drop)
    for result in results:
        table.add_column(result.target, CellKind.NAME)
    for each in found:
        counts = (each.answers, each.equal, each.rounded, len(each.different))
        shown = ["-"] * 4 if each.problem else [f"{count:,}" for count in counts]
        table.add_row(
            each.query, *shown, *(_find_verdict(result, each.query) for result in results)
        )
    yield from _draw(table)
    yield ""
    for each in found:
        if each.problem:
            yield f"not compared: {each.query}: {each.problem}"
    for result in results:
        if result.status != "done":
            yield f"{result.target} {result.status}: {result.cause}"
        yield from (f"{result.target}: {text}" for text in mismatches_of(result))
    yield from _list_answers(results, found)
    for result, path in zip(results, files, strict=True):
        if path:
            yield f"result file of {result.target}: {path}"


def _draw(table: TextTable) -> Iterator[str]:
    yield from draw([table], width_of(sys.stdout)).splitlines()


def _list_different(
    result: Result, agreed: Sequence[Agreement]
) -> Iterator[tuple[str, ShownAnswer]]:
    """Yield (name of query, answer) for the first answers that differ between targets.

    Only user-defined queries are included.
    """
    wanted = {each.query: each.different[:_LISTED] for each in agreed if each.own}
    for query in result.queries:
        for each in query.digests:
            if each.rows is not None and each.instance in wanted.get(query.name, ()):
                yield query.name, ShownAnswer(
                    instance=each.instance, statement=query.statement, columns=query.columns,
                    rows=each.rows[:_SHOWN_ROWS], all_rows=len(each.rows), ok=None,
                )  # fmt: skip


def _list_answers(results: Sequence[Result], agreed: Sequence[Agreement]) -> Iterator[str]:
    """Yield lines that show answers side by side, with the truth if an answer is wrong."""
    found: dict[tuple[str, int], dict[str, ShownAnswer]] = {}
    for result in results:
        for query, answer in (*_list_shown(result), *_list_different(result, agreed)):
            by_target = found.setdefault((query, answer.instance), {})
            by_target.setdefault(result.target, answer)
    for (query, instance), by_target in found.items():
        yield from _draw_answers(f"{query}, answer {instance}", by_target, results)


def _draw_answers(
    title: str, by_target: dict[str, ShownAnswer], results: Sequence[Result]
) -> Iterator[str]:
    first = next(iter(by_target.values()))
    truth = next((each.truth for each in by_target.values() if each.truth is not None), None)
    skipped = min(each.skipped for each in by_target.values())
    after = f", after {counted(skipped, 'equal row')}" if skipped else ""
    yield f"{title}{after}: {' | '.join(first.columns)}"
    columns: dict[str, list[str]] = {}
    if truth is not None:
        columns["truth"] = [format_cells(row) for row in truth]
    for result in results:
        answer = by_target.get(result.target)
        equal = [_EQUAL] if first.ok is not None else ["no answer"]
        columns[result.target] = [format_cells(row) for row in answer.rows] if answer else equal
    table = TextTable(*columns)
    for cells in zip_longest(*columns.values(), fillvalue=""):
        table.add_row(*cells)
    yield from (f"  {line}" for line in _draw(table))
    more = max(each.all_rows - each.skipped - len(each.rows) for each in by_target.values())
    if more:
        yield f"  and {counted(more, 'more row')}"
    yield ""
