"""The details of a result: rows, runs, configuration and server."""

from collections.abc import Iterator, Mapping
from typing import Any

from iotbench.figures.numbers import significant
from iotbench.figures.verdicts import describe_result, describe_run
from iotbench.output.page.content import Detail, PageTable
from iotbench.output.page.measured import PageResult
from iotbench.output.terminal.notes import (
    alerts_of,
    answers_of,
    facts_of,
    format_counts,
    format_plans,
    ramps_of,
)
from iotbench.output.terminal.tables import columns_of
from iotbench.results.result import RunRecord


def detail_of(each: PageResult) -> Detail:
    """Return the details of a result."""
    result = each.result
    dataset = result.dataset.model_dump(mode="json", exclude={"ranges"})
    options = {
        "Configuration": _format_values(result.configuration),
        "Target options": _format_values(result.target_options),
        "Dataset": _format_values(dataset),
        "Server settings": _format_values(result.server.settings if result.server else {}),
        "Statements": _format_values({query.name: query.statement for query in result.queries}),
    }
    return Detail(
        id=each.anchor,
        title=f"{each.label}: {each.about}",
        verdict=describe_result(each.result),
        alerts=_list_alerts(each),
        facts=[*_list_facts(each)],
        plans={name: format_plans(plans) for name, plans in result.query_plans.items()},
        tables=[table for table in (_list_rows(each), _list_runs(each)) if table.rows],
        options={title: values for title, values in options.items() if values},
    )


def _list_alerts(each: PageResult) -> list[tuple[str, str]]:
    """Return the alerts of all repeats; an alert that only some repeats have names the repeat."""
    repeats = [[*alerts_of(result)] for result in each.results]
    found: dict[tuple[str, str], None] = {}
    for place, alerts in enumerate(repeats, 1):
        for kind, text in alerts:
            in_all = all((kind, text) in others for others in repeats)
            found[kind, text if in_all else f"repeat {place}: {text}"] = None
    return [*found]


def _list_facts(each: PageResult) -> Iterator[tuple[str, str]]:
    result = each.result
    if each.is_repeated:
        yield "repeats", f"{len(each.results)}; figures of rows are means over them"
    yield "id", each.ids
    yield "file", ", ".join(path.name for path in each.files)
    started = ", ".join(f"{one.created:%F %T}" for one in each.results)
    yield "started", f"{started} UTC, by version {result.program_version}"
    yield "module", f"{result.module}, runner {result.runner}"
    yield from facts_of(result)
    yield from (("answer", line) for line in dict.fromkeys(answers_of(result)) if line)
    for line in ramps_of(result):
        name, _, text = line.partition(": ")
        yield name, text


def _list_rows(each: PageResult) -> PageTable:
    """Return the table that the terminal shows, with all columns."""
    first, *others = (c for c in columns_of(each.summary.subject) if c.title != "Verdict")
    rows = []
    for row in each.summary.every:
        known = [first, *others] if row.figures or row.expected else [first]
        values = ((c, c.value(row) if c in known else None) for c in (first, *others))
        rows.append({
            **{c.title.replace("\n", " "): "-" if v is None else c.write(v) for c, v in values},
            "Runs": f"{row.runs}",
            "Verdict": row.judged,
        })  # fmt: skip
    return PageTable(rows, "All rows")


def _list_runs(each: PageResult) -> PageTable:
    return PageTable([_describe(run) for run in each.result.runs if run.metrics], "Runs")


def _describe(run: RunRecord) -> dict[str, str]:
    found = run.metrics
    assert found
    stored, size = found.rows_per_s_stored, found.bytes_per_row
    return {
        "Workers": f"{run.workers}",
        "Run": f"{run.run}",
        "Rows before": f"{run.level:,}",
        "Rows": f"{found.rows:,}",
        "Uncertain": f"{found.uncertain_rows:,}",
        "Rows/s": f"{found.rows_per_s:,.0f}",
        "Stored/s": "-" if stored is None else f"{stored:,.0f}",
        "p50 ms": significant(found.latency.p50_ms),
        "p99 ms": "-" if found.latency.p99_ms is None else significant(found.latency.p99_ms),
        "Max ms": significant(found.latency.max_ms),
        "Batches": f"{found.latency.sends:,}",
        "Repeated": f"{found.retried:,}",
        "Overlap": "-" if found.overlap is None else f"{found.overlap:.1%}",
        "Slowest/fastest": "-" if found.evenness is None else f"{found.evenness:.1%}",
        "Client": f"{found.client_share:.1%}",
        "CPU": f"{found.cpu_share:.1%}",
        "MiB at most": f"{found.memory_peak_bytes / 2**20:,.0f}",
        "Bytes/row": "-" if size is None else f"{size:.1f}",
        "Server's own work": format_counts(run.outcome.background) or "-",
        "Verdict": describe_run(run),
    }


def _format_values(options: Mapping[str, Any]) -> dict[str, str]:
    """Return option values as text, with commas between the items of a list."""
    return {
        key: ", ".join(map(str, v)) if isinstance(v, list | tuple) else "" if v is None else str(v)
        for key, v in options.items()
    }
