"""The capacity of a target as text: the curve, and the conclusion."""

from collections.abc import Iterator
from statistics import fmean

from rich.table import Table

from iotbench.figures.figures import spread_of
from iotbench.figures.numbers import significant
from iotbench.machine.tables import draw, new_table
from iotbench.plans.capacity.record import Capacity, Of, RateRecord
from iotbench.plans.capacity.search import Bound

_FEW_SENDS = 100
_REMEDIES = {
    Bound.DATABASE: "the database: what was due waited for it, and the schedule was not kept;"
    " more --workers may carry more, if they waited for answers",
    Bound.CLIENT: "the client: the workers were busy drawing and encoding; use more --workers, or"
    " more machines",
    Bound.OBJECTIVE: "the objective: the schedule was kept, and answers took longer than that",
}


def format_record(record: Capacity, path: str, width: int) -> str:
    """Return a record as text that fits a width."""
    curve: list[Table | str] = [_curve(record), ""] if record.rates else []
    return draw([*curve, *_lines(record, path)], width)


def _curve(record: Capacity) -> Table:
    table = new_table()
    unit = record.of.unit
    titles = (f"Rate\n{unit}", f"Reached\n{unit}", "p50\nms", "p99\nms", "Client", "Held")
    for title in titles:
        table.add_column(title, justify="right", vertical="bottom", no_wrap=True)
    table.add_column("Reached first", vertical="bottom")
    for rate in sorted(record.rates, key=lambda rate: rate.rate_per_s):
        table.add_row(*_cells(rate))
    return table


def _cells(rate: RateRecord) -> tuple[str, ...]:
    return (
        f"{rate.rate_per_s:,.0f}",
        f"{fmean(rate.per_s):,.0f}",
        significant(fmean(rate.p50_ms)),
        significant(fmean(rate.p99_ms)),
        f"{fmean(rate.client_share):.1%}",
        f"{rate.held} of {rate.repeats}",
        rate.reached.value if rate.reached else "-",
    )


def _lines(record: Capacity, path: str) -> Iterator[str]:
    if record.status != "done":
        yield f"capacity {record.status}: {record.cause}"
    elif record.holds_per_s is None:
        yield f"no rate was found at which {record.target} keeps {_objective(record)}"
    else:
        yield (
            f"capacity of {record.target}: {record.holds_per_s:,.0f} {record.of.unit} keep"
            f" {_objective(record)}"
        )
        yield from _bound(record)
    if record.knee_per_s is not None:
        yield (
            f"knee: up to {record.knee_per_s:,.0f} {record.of.unit}, p99 is at most twice that of"
            " the lowest rate"
        )
    if record.unscheduled_per_s:
        rates = record.unscheduled_per_s
        spread = spread_of(rates)
        known = "one run" if spread is None else f"spread {spread:.1%} of {len(rates)} runs"
        yield f"without a schedule: {fmean(rates):,.0f} {record.of.unit} ({known})"
    few = min((rate.sends for rate in record.rates), default=_FEW_SENDS)
    if few < _FEW_SENDS:
        what = "batches" if record.of is Of.INSERTS else "answers"
        yield (
            f"note: the shortest repeat has {few} {what}, so its slowest one stands for p99;"
            " use a longer --duration, or smaller batches"
        )
    if record.verdict:
        yield f"verdict: {record.verdict}, the worst of {_runs(record)} runs"
    yield f"result file: {path}"


def _objective(record: Capacity) -> str:
    return " and ".join(record.objective)


def _bound(record: Capacity) -> Iterator[str]:
    if record.fails_per_s is None or record.bound is None:
        yield "no rate above it was too high; the true capacity lies higher"
    else:
        failing = f"{record.fails_per_s:,.0f} {record.of.unit} do not hold"
        yield f"{failing}; bound by {_REMEDIES[record.bound]}"


def _runs(record: Capacity) -> int:
    return len(record.unscheduled_per_s) + sum(rate.repeats for rate in record.rates)
