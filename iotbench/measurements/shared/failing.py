"""Descriptions of faults: the effect of each, and the outcome of every row."""

from collections.abc import Iterator

from iotbench.results.faults import Outage, accounts_of
from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.verdict import Accounts


def fault_facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield a line for each fault, and one for the rows of each run: name and text."""
    for run in result.runs:
        at = f"{counted(run.workers, 'worker')}, run {run.run}: " if len(result.runs) > 1 else ""
        for each in run.outages:
            yield each.fault, f"{at}{_outage(each)}"
        if accounts := accounts_of(run.outcome):
            yield "rows after faults", f"{at}{_accounts(accounts)}"
        if again := sum(worker.queries_again for worker in run.outcome.workers):
            yield "queries at faults", f"{at}{counted(again, 'attempt')} failed and made again"


def _outage(outage: Outage) -> str:
    back = (
        f"back at 95 % of {outage.rows_per_s_before:,.0f} rows/s after {outage.recovery_s:.1f} s"
        if outage.recovery_s is not None
        else f"not back at 95 % of {outage.rows_per_s_before:,.0f} rows/s"
    )
    parts = [
        f"from {outage.began_s:.1f} s to {outage.undone_s:.1f} s",
        f"{outage.silent_s:.2f} s without an acknowledgement",
        f"the first one {outage.first_after_s:.2f} s after its end",
        back,
    ]
    until = (
        f"until latency was back, after {outage.settled_s:.1f} s,"
        if outage.settled_s is not None
        else "from then on"
    )
    if outage.p99_inside_ms is not None and outage.p99_outside_ms is not None:
        parts.append(
            f"p99 {_format(outage.p99_inside_ms)} ms {until} and"
            f" {_format(outage.p99_outside_ms)} ms otherwise"
        )
    return "; ".join(parts)


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _accounts(found: Accounts) -> str:
    announced = " (as the server announces)" if found.announced else " (against its promise)"
    parts = [
        (
            f"{found.kept + found.lost:,} acknowledged, of which {found.lost:,} lost"
            f"{announced if found.lost else ''}"
        ),
        f"{found.present + found.absent:,} of unknown outcome, of which {found.present:,} stored",
        f"{found.doubled:,} stored twice",
        f"{found.foreign:,} never sent",
    ]
    return "; ".join([*parts, *[f"{found.torn:,} stored in part"] * bool(found.torn)])
