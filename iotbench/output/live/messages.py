"""Messages to the live page about a sweep: one JSON object for each event that it shows."""

from typing import Any

from iotbench.output.terminal.course import SweepMoment
from iotbench.output.terminal.progress import ending
from iotbench.results.result import Result
from simulator.protocol.events import AskedSample, Outcome, PhaseEvent, ProgressEvent, SampleEvent


def heading_of(result: Result, runs: int) -> dict[str, Any]:
    """Return the page's description of a sweep before it begins."""
    return {
        "kind": "sweep",
        "what": result.kind,
        "target": result.target,
        "module": result.module,
        "runner": result.runner,
        "id": result.sweep_id,
        "runs": runs,
    }


def message_of(moment: SweepMoment) -> dict[str, Any] | None:
    """Return what the page is sent of a moment; None if it does not show the event."""
    common = {
        "run": moment.number,
        "workers": moment.workers,
        "phase": moment.phase,
        "left_s": moment.left_s if moment.sweep_left_s is None else moment.sweep_left_s,
    }
    match moment.event:
        case PhaseEvent(detail=detail):
            return {"kind": "phase", **common, "detail": detail}
        case ProgressEvent(rows=rows, of=of):
            return {"kind": "progress", **common, "done": rows, "of": of}
        case SampleEvent() as sample:
            return {
                "kind": "sample",
                **common,
                "detail": moment.place,
                "at_s": sample.at_s,
                "unit": "queries/s" if sample.query else "rows/s",
                "per_s": sample.queries_per_s if sample.query else sample.rows_per_s,
                "p50_ms": sample.p50_ms,
                "p99_ms": sample.p99_ms,
                "errors": sample.errors,
                "uncertain_rows": sample.uncertain_rows,
                "count": sample.runs if sample.query else sample.rows,
                **({} if sample.active is None else {"active": sample.active}),
                **({} if sample.asked is None else _describe_asked(sample.asked)),
            }
        case Outcome() as outcome:
            text = ending(moment.planned, outcome)
            verdict = outcome.verdict.status.value if outcome.verdict else ""
            return {
                "kind": "ended",
                **common,
                "status": outcome.status,
                "verdict": verdict,
                "text": text,
            }
    return None


def _describe_asked(asked: AskedSample) -> dict[str, Any]:
    """Return the part of a mixed run's sample about its queries."""
    return {
        "asked_per_s": asked.queries_per_s,
        "asked_p50_ms": asked.p50_ms,
        "asked_p99_ms": asked.p99_ms,
        "asked_count": asked.runs,
    }
