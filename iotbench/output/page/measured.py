"""The results of a page, with repeats joined; each result has a label and a style."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from iotbench.figures.figures import join_figures
from iotbench.figures.rows import Place, Row
from iotbench.figures.summary import Summary
from iotbench.measurements import summary_of
from iotbench.output.page.style import SeriesStyle, colours_of
from iotbench.plans.published.record import Reproduction
from iotbench.plans.record import PlanRecord
from iotbench.results import result_files
from iotbench.results.kinds import NAMES
from iotbench.results.names import id_of
from iotbench.results.result import Result, RunRecord
from iotbench.results.result_files import expect_whole
from iotbench.store.gathered import find_gathered
from iotbench.store.lookup import paths_of
from simulator.protocol.verdict import Status

_SHOWN_ANYWAY = ("queries", "rows", "workers", "start_ms", "seed", "runs")
"""Options that labels omit, because pictures show them or their values always differ."""
_OF_A_REPEAT = ("rows", "start_ms", "seed", "until")
"""Options that may differ between repeats, such as the rows of an insert with a duration."""
_MOST_WORDS = 2
_LONGEST_VALUE = 20
_WORST_ENDS = ("failed", "interrupted", "running", "done")


@dataclass(frozen=True, slots=True)
class RepeatedItem:
    """The item of a plan that was measured by one or more results."""

    record: Path
    """File of the record of the plan or reproduction."""
    setting: str
    target: str
    place: int = 0
    """Index of the setting in the plan."""
    is_search: bool = False
    """True if the setting has a search, in which each searched number has its own results."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Results and reproductions with their files."""

    results: Sequence[tuple[Path, Result]]
    reproductions: Sequence[tuple[Path, Reproduction]]
    repeated: Mapping[Path, RepeatedItem] = field(default_factory=dict)
    """File of a result -> the item that the result belongs to."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """`target, setting` of a plan -> why the target was not measured with this setting."""


def find_sources(folder: Path, names: Sequence[str]) -> Sources:
    """Return the named sources; a ConfigError lists unknown, damaged or unsuitable names.

    The file of a plan or a capacity includes the results of its sweeps.
    """
    repeated: dict[Path, RepeatedItem] = {}
    sweeps: dict[Path, None] = {}
    reproduced: list[tuple[Path, Reproduction]] = []
    for path in paths_of(folder, names):
        kind = find_gathered(path)
        record = kind.read(path) if kind else None
        if isinstance(record, Reproduction):
            reproduced.append((path, record))
        elif kind:
            sweeps |= dict.fromkeys(path.parent / file for file in kind.files(record))
            repeated |= find_repeated(path, record)
        else:
            sweeps[path] = None
    return Sources([(path, result_files.read(path)) for path in sweeps], reproduced, repeated)


def find_repeated(path: Path, record: Any) -> dict[Path, RepeatedItem]:
    """Return file -> item for the results of a plan or a reproduction, in the same folder."""
    if not isinstance(record, PlanRecord | Reproduction):
        return {}
    planned = record.plan.get("settings", ()) if isinstance(record, PlanRecord) else ()
    names = [*dict.fromkeys([*(each["name"] for each in planned),
                             *(item.setting for item in record.items)])]  # fmt: skip
    searches = {curve.setting for curve in record.curves}
    return {
        path.parent / file: RepeatedItem(
            path, item.setting, item.target, names.index(item.setting), item.setting in searches
        )
        for item in record.items
        for file in item.files
    }


@dataclass(frozen=True, slots=True)
class PageResult:
    """A result on a page, which may join several repeats."""

    results: Sequence[Result]
    """One result, or the repeats in chronological order."""
    result: Result
    """The only result, or the first result with the runs of all repeats."""
    summary: Summary
    files: Sequence[Path]
    index: int
    """Index of the result on the page."""
    label: str
    style: SeriesStyle
    repeated: RepeatedItem | None
    """Item of a plan to which the results belong; None if they belong to no plan."""
    page: str = ""
    """File of the page with the details of the result, if it is another page of a site."""

    @property
    def link(self) -> str:
        """Link to the details of the result."""
        return f"{self.page}#{self.anchor}"

    @property
    def ids(self) -> str:
        """IDs of the joined results."""
        pairs = zip(self.files, self.results, strict=True)
        return ", ".join(id_of(path) or result.sweep_id for path, result in pairs)

    @property
    def is_repeated(self) -> bool:
        """True if the figures are means over repeats."""
        return len(self.results) > 1

    @property
    def anchor(self) -> str:
        """ID of the HTML element with the details of the result."""
        return f"result-{self.index}"

    @property
    def group(self) -> tuple[str, ...]:
        """Key that is equal for results in the same pictures."""
        return _find_group(self.result)

    @property
    def about(self) -> str:
        """Short description of the measurement."""
        return " ".join(word for word in (self.result.kind, *self.group[1:]) if word)

    @property
    def done(self) -> list[RunRecord]:
        """The successful runs."""
        return [run for run in self.result.runs if run.outcome.status == "done"]

    @property
    def durability(self) -> str:
        """Durability of acknowledged rows, in one or two words."""
        server = self.result.server
        words = {True: "durable", False: "not durable", None: "unknown"}
        return words[server.durable] if server else "-"


def order_results(
    found: Sequence[tuple[Path, Result]], repeated: Mapping[Path, RepeatedItem] | None = None
) -> list[PageResult]:
    """Return the results by kind and time, with duplicate files removed and repeats joined."""
    groups = _group_repeats(found, repeated or {})
    results = [join_result([result for _, result in group]) for group in groups]
    items = [(repeated or {}).get(group[0][0]) for group in groups]
    labels = _write_labels(results, [each.setting if each else "" for each in items])
    colours = colours_of(result.target for result in results)
    orders: Counter[tuple[str, ...]] = Counter()
    on_page: list[PageResult] = []
    for index, (group, result, label, item) in enumerate(
        zip(groups, results, labels, items, strict=True)
    ):
        style = SeriesStyle(colours[result.target], orders[_find_group(result)])
        orders[_find_group(result)] += 1
        paths, of_group = [path for path, _ in group], [each for _, each in group]
        summaries = []
        for path, each in group:
            with expect_whole(path):
                summaries.append(summary_of(each))
        on_page.append(
            PageResult(of_group, result, join_summary(summaries), paths, index, label, style, item)
        )
    return on_page


def _group_repeats(
    found: Sequence[tuple[Path, Result]], repeated: Mapping[Path, RepeatedItem]
) -> list[list[tuple[Path, Result]]]:
    """Return groups of results that repeat the same measurement, by kind and time."""
    unique = {path.resolve(): (path, result) for path, result in found}
    groups: dict[object, list[tuple[Path, Result]]] = defaultdict(list)
    for file, (path, result) in sorted(
        unique.items(), key=lambda each: (NAMES.index(each[1][1].kind), each[1][1].created)
    ):
        of = repeated.get(path)
        options = {k: v for k, v in result.configuration.items() if k not in _OF_A_REPEAT}
        key = (of, result.kind, result.dataset.workload, json.dumps(options, default=str))
        groups[key if of else file].append((path, result))
    return [*groups.values()]


def _find_group(result: Result) -> tuple[str, ...]:
    about = "by fill level" if result.configuration.get("steps") else ""
    about = "ramp" if any(run.outcome.ramps for run in result.runs) else about
    about = "by stage" if result.configuration.get("stages") else about
    return result.kind, result.dataset.workload, about


def _write_labels(results: Sequence[Result], settings: Sequence[str]) -> list[str]:
    """Return a label for each result: the target, and differences from similar results."""
    own: dict[tuple[str, tuple[str, ...]], dict[str, list[Result]]] = defaultdict(dict)
    for result, setting in zip(results, settings, strict=True):
        own[result.target, _find_group(result)].setdefault(setting, []).append(result)
    found = []
    for result, setting in zip(results, settings, strict=True):
        others = own[result.target, _find_group(result)]
        words = f", {setting}" if setting and len(others) > 1 else ""
        found.append(f"{result.target}{words}{_describe_differences(result, others[setting])}")
    counts = Counter((_find_group(r), label) for r, label in zip(results, found, strict=True))
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    for index, result in enumerate(results):
        key = _find_group(result), found[index]
        if counts[key] > 1:
            seen[key] += 1
            found[index] += f" #{seen[key]}"
    return found


def _describe_differences(result: Result, alike: Sequence[Result]) -> str:
    """Return the options in which a result differs from `alike` results, for the label."""
    own, others = _select_options(result), [_select_options(each) for each in alike]
    words = [
        f"{key} {value}" for key, value in own.items() if any(o.get(key) != value for o in others)
    ]
    return "".join(f", {word}" for word in words[:_MOST_WORDS])


def _select_options(result: Result) -> Mapping[str, str]:
    """Return the options of a result that its label may contain."""
    options = {"runner": result.runner, **result.configuration}
    return {
        key: str(value)
        for key, value in options.items()
        if value
        and key not in _SHOWN_ANYWAY
        and isinstance(value, str | int | float)
        and len(str(value)) < _LONGEST_VALUE
    }


def join_result(results: Sequence[Result]) -> Result:
    """Return the first result with the runs of all results."""
    first = results[0]
    if len(results) == 1:
        return first
    ends = [result.status for result in results]
    status = min(ends, key=_WORST_ENDS.index)
    return first.model_copy(
        update={
            "status": status,
            "cause": next((result.cause for result in results if result.status == status), ""),
            "runs": _renumber(run for result in results for run in result.runs),
        }
    )


def _renumber(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the runs, numbered from 1 for each worker count and level."""
    numbers: Counter[tuple[int, int]] = Counter()
    found = []
    for run in runs:
        place = run.workers, run.level
        numbers[place] += 1
        found.append(run.model_copy(update={"run": numbers[place]}))
    return found


def join_summary(summaries: Sequence[Summary]) -> Summary:
    """Return a summary with one row for each place: means over the summaries with this place."""
    if len(summaries) == 1:
        return summaries[0]
    rows = _join_rows([summary.rows for summary in summaries])
    totals = _join_rows([summary.totals for summary in summaries])
    return replace(summaries[0], rows=rows, totals=totals)


def _join_rows(repeats: Iterable[Sequence[Row]]) -> tuple[Row, ...]:
    """Join the rows of each place; rows of a ramp keep the lowest number of workers."""
    places: dict[tuple[Place, int], list[Row]] = defaultdict(list)
    for rows in repeats:
        seen: Counter[Place] = Counter()
        for row in rows:
            place = (
                row.place if row.place.dimensions.keys() == {"workers"} else row.place.any_workers
            )
            places[place, seen[place]].append(row)
            seen[place] += 1
    return tuple(map(_join_row, places.values()))


def _join_row(rows: Sequence[Row]) -> Row:
    worst = min(rows, key=_find_rank)
    return replace(
        worst,
        place=min((row.place for row in rows), key=lambda place: place.workers or 0),
        runs=sum(row.runs for row in rows),
        figures=join_figures([row.figures for row in rows]),
    )


def _find_rank(row: Row) -> int:
    """Return the rank of a row's verdict, 0 for the worst.

    A text without a status counts as unknown.
    """
    found = [rank for rank, status in enumerate(Status) if row.verdict.startswith(status)]
    return found[0] if found else [*Status].index(Status.UNKNOWN)
