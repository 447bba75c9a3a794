"""The README's table and picture of the published results."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, groupby
from statistics import fmean

from cli.compare.statistics import precision
from cli.experiment.record import PlanLine, PlanRecord
from cli.page import charts
from cli.page.charts import Axis, Bar
from cli.page.style import Style
from cli.report.numbers import significant
from cli.results.other_work import much_other_work
from cli.results.result import Result
from cli.results.result_files import read
from cli.targets.advice import SUFFIX
from simulator.modules.evidence import Reached, evidence
from simulator.protocol.events import ServerFacts
from tests.published import BEGIN, END, FOLDER, LEFT_OUT, NOTES
from tests.published.elsewhere import ANOTHER_MACHINE, THIS_MACHINE
from tests.published.records import is_current, is_search_over, published

RATE = "rows_per_s"
PROMISES = (
    "a loss of power",
    "a crash of the server",
    "neither, or not known",
)
"""What an acknowledged row survives: rows of different promises are not compared."""
PREALLOCATED = {"questdb": "files grow by 16 MiB for each column"}
"""Module -> why its bytes a row are more than the rows need."""
_OF_BATCHES = ("workers-1", "workers-2", "workers-4", "batches-of-1000")
_EARLIER = {"batches": "batches-of-1000"}
"""Settings of earlier plans -> their present names."""
_QUERIES = ("iot-queries", "batches-of-1000")
"""Where the queries of `iot` were asked: in earlier plans after the batches."""
_TITLES = (
    "An acknowledged row survives", "Database", "1 worker, rows/s", "2 workers", "4 workers",
    "Batches of 1,000", "Single rows", "Bytes/row", "`iot`, ms", "`cpu`, ms", "Set", "Verdict",
)  # fmt: skip
_COLOURS = {
    "ink": "#16191d", "muted": "#5a626c", "line": "#d9dde3", "paper": "#fff",
    "s0": "#0072b2", "s1": "#00846b", "s2": "#a87900",
}  # fmt: skip
"""Of the picture, which stands alone: one for each promise."""


@dataclass(frozen=True)
class Row:
    """What is published of a target."""

    record: PlanRecord

    @cached_property
    def lines(self) -> Mapping[str, PlanLine]:
        """Setting -> what its repeats measured."""
        named = {_EARLIER.get(line.setting, line.setting): line for line in self.record.lines}
        return {name: line for name, line in named.items() if line.repeats}

    @cached_property
    def inserts(self) -> Sequence[Result]:
        """The results of its inserts."""
        files = (FOLDER / file for item in self.record.items for file in item.files)
        return [each for each in map(read, files) if each.kind == "insert"]

    @property
    def target(self) -> str:
        """The name of its target."""
        return self.record.lines[0].target

    @cached_property
    def server(self) -> ServerFacts | None:
        """What the server reported."""
        return next((run.outcome.server for each in self.inserts for run in each.runs
                     if run.outcome.server), None)  # fmt: skip

    @property
    def product(self) -> str:
        """The product as its server reports it, and its edition: FerretDB is not MongoDB."""
        version = re.sub(r"( \(.*\))+$", "", self.server.version) if self.server else "unknown"
        licence = self.server.settings.get("timescaledb.license", "") if self.server else ""
        version += {"apache": ", Apache edition", "timescale": ", Community"}.get(licence, "")
        settings = ", as its vendor advises" if self.target.endswith(SUFFIX) else ""
        return f"{version}{settings} (`{self.target}`)"

    @cached_property
    def hardware(self) -> str:
        """Processor, cores and memory of the machine; of several, if it was measured on several."""
        return " and ".join(sorted({each.machine.hardware for each in self.inserts}))

    @property
    def machine_of_server(self) -> str:
        """Where a server ran that the tests did not start; empty: they started it."""
        tags = {tag for each in self.inserts for tag in each.tags}
        if ANOTHER_MACHINE in tags:
            return "another machine than the workers"
        return "the machine of the workers" if THIS_MACHINE in tags else ""

    @property
    def note(self) -> str:
        """What the evidence says of a server of this version that was reached by its address."""
        version = self.server.version if self.server else ""
        records = evidence(self.inserts[0].module).real
        alike = (each for each in records if each.server == version)
        return next((each.note for each in alike if each.reached is Reached.ADDRESS), "")

    @property
    def promise(self) -> int:
        """What an acknowledged row survives: the place in PROMISES."""
        if self.server and self.server.durable:
            return 0
        survived_kill = evidence(self.inserts[0].module).kill == "all kept"
        return 1 if self.server and self.server.durable is False and survived_kill else 2

    @property
    def best(self) -> float:
        """The highest mean rate of batches, which rows are sorted by."""
        rates = (self.rates(name) for name in _OF_BATCHES)
        return max((fmean(each) for each in rates if each), default=0.0)

    def rates(self, setting: str) -> Sequence[float]:
        """Return the rates of the repeats of a setting."""
        line = self.lines.get(setting)
        return line.measures.get(RATE, ()) if line else ()

    def batch(self) -> str:
        """Return the size of a batch that the search found best."""
        return next((f", batches of {each.best:,}" for each in self.record.curves), "")

    def waits(self, *settings: str) -> str:
        """Return the least and the greatest mean wait of the queries of a setting."""
        line = next((self.lines[name] for name in settings if name in self.lines), None)
        found = line.measures.items() if line else ()
        waits = [fmean(values) for name, values in found if name.startswith("avg_ms ")]
        return f"{significant(min(waits))} to {significant(max(waits))}" if waits else "-"

    def bytes_per_row(self) -> str:
        """Return the size of a row after compaction, of full doubles where they were measured."""
        line = self.lines.get("cpu-queries") or self.lines.get("batches-of-1000")
        values = line.measures.get("bytes_per_row", ()) if line else ()
        if not values:
            return "-"
        mark = "*" if self.inserts[0].module in PREALLOCATED else ""
        return f"{significant(fmean(values))}{mark}"

    def set_size(self) -> str:
        """Return how large the largest set was, and how often it holds the server's cache."""
        sizes = [run.outcome.size_bytes or 0 for each in self.inserts for run in each.runs]
        if not max(sizes, default=0):
            return "-"
        cache = self.server.buffer_bytes if self.server else None
        often = f", {max(sizes) / cache:.1f} x its cache" if cache else ""
        return f"{max(sizes) / 1e6:,.0f} MB{often}"

    def cells(self) -> Iterator[str]:
        """Yield the cells after the promise."""
        yield self.product + self.batch()
        for setting in (*_OF_BATCHES, "single-rows"):
            yield _known(self.rates(setting))
        yield self.bytes_per_row()
        yield self.waits(*_QUERIES)
        yield self.waits("cpu-queries")
        yield self.set_size()
        yield ", ".join(dict.fromkeys(line.verdict for line in self.record.lines))


def _known(rates: Sequence[float]) -> str:
    """Return a mean rate, how well it is known, and of how many runs it is."""
    if not rates:
        return "-"
    within = precision(rates)
    shown = f" ±{within:.0%}" if within is not None else ""
    return f"{fmean(rates):,.0f}{shown} ({len(rates)})"


def rows() -> list[Row]:
    """Return what is published, by promise, and within each the fastest first."""
    records = (record for _, record in published().values())
    found = [Row(record) for record in records if any(line.repeats for line in record.lines)]
    return sorted(found, key=lambda row: (row.promise, -row.best))


def table(found: Sequence[Row] | None = None) -> str:
    """Return what is published as Markdown, grouped by promise."""
    found = rows() if found is None else found
    cells = []
    for promise, group in groupby(found, lambda row: row.promise):
        for number, row in enumerate(group):
            first = "" if number else f"**{PROMISES[promise]}**"
            cells.append([first, *row.cells()])
    measured = [any(own[place] != "-" for own in cells) for place in range(len(_TITLES))]
    shown = [[*compress(own, measured)] for own in (_TITLES, *cells)]
    lines = [f"| {' | '.join(own)} |" for own in shown]
    lines.insert(1, "|---" * sum(measured) + "|")
    return "\n".join([*lines, "", *_said_of(found), ""])


def picture(found: Sequence[Row] | None = None) -> str:
    """Return the highest mean rates of all targets as an SVG file, in the table's order."""
    found = rows() if found is None else found
    names = [_label(row) for row in found]
    bars = []
    for name, row in zip(names, found, strict=True):
        rates = max((row.rates(each) for each in _OF_BATCHES if row.rates(each)), key=fmean)
        label = name if names.count(name) == 1 else f"{name} ({row.target.partition('_')[2]})"
        bars.append(Bar(label, Style(row.promise), (fmean(rates),), min(rates), max(rates)))
    svg = charts.bars("Rows per second", Axis("rows/s"), bars)
    variables = "".join(f"--{name}: {colour};" for name, colour in _COLOURS.items())
    opening, _, rest = svg.partition(">")
    return f"{opening}><style>svg {{{variables} font: 10px sans-serif}}</style>{rest}\n"


def _label(row: Row) -> str:
    """Return the product and its version, and whether its settings are the advised ones."""
    product = re.sub(r" on .*|, .*| \(.*", "", row.product)
    return f"{product}, advised" if row.target.endswith(SUFFIX) else product


def with_table(readme: str) -> str:
    """Return the README with the table of what is published."""
    head, _, rest = readme.partition(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]


def _said_of(found: Sequence[Row]) -> Iterator[str]:
    """Yield on what, when and how the figures were measured."""
    records = [row.record for row in found]
    hardware = _most_common(found)
    days = sorted({moment.date() for record in records for moment in (record.first, record.last)
                   if moment})  # fmt: skip
    when = f"{days[0]} to {days[-1]}" if len(days) > 1 else str(days[0])
    searched = any(row.record.curves for row in found)
    batches = "in the batches that a search found best for the database, " * searched
    yield (
        "Means of several runs, with half of their 95 % interval, and in brackets their number;"
        f" measured on {when} on a machine with {hardware}, which ran workers and database"
        f" together. Rows of `iot` {batches}in batches of 1,000, or one by one; mean waits of the"
        " queries, least and greatest; bytes after compaction; the largest set that was written."
        " Compare rows of the same promise only."
    )
    yield from _exceptions(found)


def _most_common(found: Sequence[Row]) -> str:
    """Return the hardware that most rows were measured on."""
    return Counter(row.hardware for row in found).most_common(1)[0][0]


def _exceptions(found: Sequence[Row]) -> Iterator[str]:
    """Yield what does not hold for all rows."""
    yield from _of_other_hardware(found)
    earlier = [f"`{row.target}`" for row in found if not is_current(row.record)]
    if earlier:
        when = max(row.record.last for row in found
                   if row.record.last and not is_current(row.record))  # fmt: skip
        names = "all rows" if len(earlier) == len(found) else ", ".join(earlier)
        yield (
            f"Measured by an earlier plan, until {when:%Y-%m-%d}, in shorter runs, and left until"
            f" `make published` measures them again: {names}."
        )
    yield from _of_runs(found)
    for row in found:
        if row.machine_of_server:
            note = row.note and f": {row.note}"
            yield (
                f"`{row.target}`: its server was not started by the tests; it ran on"
                f" {row.machine_of_server}{note}."
            )
    for row in found:
        day, note = NOTES.get(row.target, (None, ""))
        if row.record.last and row.record.last.date() == day:
            yield f"`{row.target}`: {note}."
    for module in sorted({row.inserts[0].module for row in found} & {*PREALLOCATED}):
        yield f"\\* {module}: {PREALLOCATED[module]}."
    for name, why in LEFT_OUT.items():
        yield f"Left out: `{name}`, as {why}."


def _of_runs(found: Sequence[Row]) -> Iterator[str]:
    """Yield which rows a search, the spread of their runs, or other work leaves in doubt."""
    if ended := _names(found, lambda row: not is_search_over(row.record)):
        yield (
            "The search for the best batch of these rows ended at the first size that was not"
            f" clearly faster, so a larger one may be: {ended}. `make published` goes on with it."
        )
    if uneven := _names(found, _is_uneven):
        names = "no row" if all(map(_is_uneven, found)) else f"all but {uneven}"
        yield f"Known to within 10 % in all columns of rates, after the runs made: {names}."
    if disturbed := _names(found, lambda row: much_other_work(*row.inserts) is not None):
        yield (
            "Other work took a tenth of the cores or more beside runs of these rows, which may be"
            f" lower than without it: {disturbed}."
        )


def _names(found: Sequence[Row], is_meant: Callable[[Row], bool]) -> str:
    return ", ".join(f"`{row.target}`" for row in found if is_meant(row))


def _of_other_hardware(found: Sequence[Row]) -> Iterator[str]:
    """Yield which rows are not to be compared with most others."""
    hardware = _most_common(found)
    others = [row for row in found if row.hardware != hardware]
    for own in sorted({row.hardware for row in others}):
        names = ", ".join(f"`{row.target}`" for row in others if row.hardware == own)
        yield f"Measured on other hardware ({own}), so not to be compared with other rows: {names}."


def _is_uneven(row: Row) -> bool:
    rates = (row.rates(name) for name in (*_OF_BATCHES, "single-rows"))
    found = [precision(each) for each in rates if each]
    return any(within is None or within > 0.1 for within in found)
