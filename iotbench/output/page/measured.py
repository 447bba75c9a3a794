"""Results as a page shows them: repeats joined, each with a label and a style."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iotbench.figures.summary import Summary
from iotbench.measurements import summary_of
from iotbench.output.page.sources import RepeatedItem
from iotbench.output.page.style import SeriesStyle, colours_of
from iotbench.output.terminal.repeats import join_result, join_summary
from iotbench.results.kinds import NAMES
from iotbench.results.names import id_of
from iotbench.results.result import Result, RunRecord
from iotbench.results.result_files import expect_whole

_SHOWN_ANYWAY = ("queries", "rows", "workers", "start_ms", "seed", "runs")
"""Options that pictures and tables show, or that are never compared."""
_OF_A_REPEAT = ("rows", "start_ms", "seed")
"""Options that may differ between repeats: an insert with a duration ends with other rows."""
_MOST_WORDS = 2
_LONGEST_VALUE = 20


@dataclass(frozen=True, slots=True)
class PageResult:
    """A result on a page, or the repeats of one, joined."""

    results: Sequence[Result]
    """One result, or the repeats in order of time."""
    result: Result
    """The only result, or the first one with the runs of all."""
    summary: Summary
    files: Sequence[Path]
    index: int
    """Index of the result on the page."""
    label: str
    style: SeriesStyle
    repeated: RepeatedItem | None
    """Item of a plan, if these are its repeats."""

    @property
    def ids(self) -> str:
        """Return the ids of all its results."""
        pairs = zip(self.files, self.results, strict=True)
        return ", ".join(id_of(path) or result.sweep_id for path, result in pairs)

    @property
    def is_repeated(self) -> bool:
        """True if its figures are means over repeats."""
        return len(self.results) > 1

    @property
    def anchor(self) -> str:
        """Return the id of the element with everything about it."""
        return f"result-{self.index}"

    @property
    def group(self) -> tuple[str, ...]:
        """Return the key of results that share pictures."""
        return _group(self.result)

    @property
    def about(self) -> str:
        """Return a short description of the measurement."""
        return " ".join(word for word in (self.result.kind, *self.group[1:]) if word)

    @property
    def done(self) -> list[RunRecord]:
        """Return the successful runs."""
        return [run for run in self.result.runs if run.outcome.status == "done"]

    @property
    def durability(self) -> str:
        """Return the durability of an acknowledged row, in a word."""
        servers = [run.outcome.server for run in self.result.runs if run.outcome.server]
        if not servers:
            return "-"
        return {True: "durable", False: "not durable", None: "unknown"}[servers[-1].durable]


def order_results(
    found: Sequence[tuple[Path, Result]], repeated: Mapping[Path, RepeatedItem] | None = None
) -> list[PageResult]:
    """Return results in the order of their kind and time, each file once, repeats as one."""
    groups = _repeats(found, repeated or {})
    results = [join_result([result for _, result in group]) for group in groups]
    items = [(repeated or {}).get(group[0][0]) for group in groups]
    labels = _labels(results, [each.setting if each else "" for each in items])
    colours = colours_of(result.target for result in results)
    orders: Counter[tuple[str, ...]] = Counter()
    on_page: list[PageResult] = []
    for index, (group, result, label, item) in enumerate(
        zip(groups, results, labels, items, strict=True)
    ):
        style = SeriesStyle(colours[result.target], orders[_group(result)])
        orders[_group(result)] += 1
        paths, of_group = [path for path, _ in group], [each for _, each in group]
        summaries = []
        for path, each in group:
            with expect_whole(path):
                summaries.append(summary_of(each))
        on_page.append(
            PageResult(of_group, result, join_summary(summaries), paths, index, label, style, item)
        )
    return on_page


def _repeats(
    found: Sequence[tuple[Path, Result]], repeated: Mapping[Path, RepeatedItem]
) -> list[list[tuple[Path, Result]]]:
    """Return the results that are repeats of each other, in the order of their kind and time."""
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


def _group(result: Result) -> tuple[str, ...]:
    about = "by fill level" if result.configuration.get("steps") else ""
    about = "ramp" if any(run.outcome.ramps for run in result.runs) else about
    about = "by stage" if result.configuration.get("stages") else about
    return result.kind, result.dataset.workload, about


def _labels(results: Sequence[Result], settings: Sequence[str]) -> list[str]:
    """Return a label for each result: its target, and what distinguishes it from others.

    That is the setting, if a plan has several, and options within it.
    """
    own: dict[tuple[str, tuple[str, ...]], dict[str, list[Result]]] = defaultdict(dict)
    for result, setting in zip(results, settings, strict=True):
        own[result.target, _group(result)].setdefault(setting, []).append(result)
    found = []
    for result, setting in zip(results, settings, strict=True):
        others = own[result.target, _group(result)]
        words = f", {setting}" if setting and len(others) > 1 else ""
        found.append(f"{result.target}{words}{_differences(result, others[setting])}")
    counts = Counter((_group(r), label) for r, label in zip(results, found, strict=True))
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    for index, result in enumerate(results):
        key = _group(result), found[index]
        if counts[key] > 1:
            seen[key] += 1
            found[index] += f" #{seen[key]}"
    return found


def _differences(result: Result, alike: Sequence[Result]) -> str:
    """Return the options in which a result differs from others."""
    own, others = _options(result), [_options(each) for each in alike]
    words = [
        f"{key} {value}" for key, value in own.items() if any(o.get(key) != value for o in others)
    ]
    return "".join(f", {word}" for word in words[:_MOST_WORDS])


def _options(result: Result) -> Mapping[str, str]:
    """Return the options of a result that its label may have."""
    options = {"runner": result.runner, **result.configuration}
    return {
        key: str(value)
        for key, value in options.items()
        if value
        and key not in _SHOWN_ANYWAY
        and isinstance(value, str | int | float)
        and len(str(value)) < _LONGEST_VALUE
    }
