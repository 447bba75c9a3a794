"""The head of a page: a card for each result, and the table of all of them."""

from collections.abc import Mapping, Sequence

from cli.page.content import VERDICT, Card, Table, number, words
from cli.page.details import verdict_of
from cli.page.measured import Measured, basis_of, figure_text
from cli.report.numbers import written
from cli.summary.build import on_disk_of
from cli.summary.figures import Figure, Row
from simulator.errors import counted
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import Status

MOST_CARDS = 8
_FAILED = ("failed", "interrupted", "running")
_CONSEQUENCES = (
    (
        Status.MISMATCH.value,
        "mismatch: stored data or answers are wrong; do not publish these figures",
    ),
    ("failed", "failed: not every sweep ended; see the results below"),
    ("interrupted", "interrupted: not every sweep ended; see the results below"),
    ("running", "running: not every sweep ended; see the results below"),
    (Status.INCOMPLETE.value, "incomplete: rows of unknown outcome are missing"),
    (Status.UNKNOWN.value, "unknown: not everything could be verified"),
    (Status.UNCHECKED.value, "not checked: the answers to own queries have no known truth"),
    (Status.OFF.value, "not verified: verification was switched off"),
    (Status.VERIFIED.value, "verified: every row and every answer is right"),
)
_HEADLINES: Mapping[str, str] = {
    "workers": "rows_per_s_avg",
    "level": "rows_per_s",
    "stage": "rows_per_s",
    "query": "queries_per_s",
    "load": "rows_per_s",
}
_WAITS: Mapping[str, tuple[str, str]] = {
    "workers": ("latency_p50_ms", "latency_p99_ms"),
    "level": ("latency_p50_ms", "latency_p99_ms"),
    "stage": ("latency_p50_ms", "latency_p99_ms"),
    "query": ("wait_ms_p50", "wait_ms_p99"),
    "load": ("p50_ms", "p99_ms"),
}


def worst_of(verdicts: Sequence[str]) -> str:
    """Return the worst verdict with what follows from it."""
    return next((text for word, text in _CONSEQUENCES if word in verdicts), "unknown")


def headline_of(each: Measured) -> tuple[Row, Figure] | None:
    """Return the row that a result is known by, and its figure.

    The fastest worker count, the last level, or the most queries per second; None without any.
    """
    name = _HEADLINES.get(each.summary.subject, "")
    rows = [row for row in each.summary.totals if name in row.figures]
    rows = rows or [row for row in each.summary.rows if name in row.figures]
    if not rows:
        return None
    if each.summary.subject == "level":
        return rows[-1], rows[-1].figures[name]
    best = max(rows, key=lambda row: row.figures[name].value)
    return best, best.figures[name]


def cards_of(found: Sequence[Measured]) -> list[Card]:
    """Return the cards of a few results; of many the table is enough."""
    return [_card(each) for each in found] if len(found) <= MOST_CARDS else []


def _card(each: Measured) -> Card:
    headline = headline_of(each)
    name = f"{each.about}: {each.label}"
    if not headline:
        checks = len(each.summary.rows)
        is_check = each.result.kind is Kind.VERIFY
        value, unit = (
            (f"{checks:,}", "checks" if checks != 1 else "check") if is_check else ("-", "")
        )
        return Card(name, each.anchor, value, unit, "", verdict_of(each), each.style.colour)
    row, figure = headline
    of = "execution" if each.summary.subject == "query" else "run"
    basis = f"{_place(each, row)}; {basis_of(figure, of=of)}"
    value = written(figure.value, figure.unit)
    return Card(
        name, each.anchor, value, figure.unit.value, basis, verdict_of(each), each.style.colour
    )


def _place(each: Measured, row: Row) -> str:
    if each.summary.subject == "level":
        return f"{row.name:,} rows before"
    if each.summary.subject == "stage":
        return f"stage {row.name}, {counted(row.workers, 'worker')}"
    if each.summary.subject in ("query", "load"):
        return f"{row.name}, {counted(row.workers, 'worker')}"
    return counted(int(row.name), "worker")


def overview_of(found: Sequence[Measured]) -> Table:
    """Return one line for each result, with its headline and what it stands on."""
    columns = [
        words("Result"), words("What"), number("Started (UTC)"), words("At"), number("Rate"),
        words("Unit"), number("n"), number("Spread"), number("p50 ms"), number("p99 ms"),
        number("Client"), number("Bytes/row"), words("Durability"), VERDICT,
    ]  # fmt: skip
    return Table(columns, [_line(each) for each in found])


def _line(each: Measured) -> list[str]:
    result, headline, on_disk = each.result, headline_of(each), on_disk_of(each.result)
    begun = f"{result.created:%F %H:%M}"
    size = f"{on_disk.bytes_per_row:.1f}" if on_disk else "-"
    if not headline:
        return [each.label, each.about, begun, *["-"] * 8, size, each.durability, verdict_of(each)]
    row, figure = headline
    waits = _WAITS[each.summary.subject]
    return [
        each.label,
        each.about,
        begun,
        _place(each, row),
        written(figure.value, figure.unit),
        figure.unit.value,
        f"{figure.n:,}",
        "-" if figure.spread is None else f"{figure.spread:.1%}",
        *(figure_text(row, name) for name in waits),
        figure_text(row, "client_share"),
        size,
        each.durability,
        verdict_of(each),
    ]
