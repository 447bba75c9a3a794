"""The sides of a comparison: results of equal sweeps, with the figures of their runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from iotbench.figures.figures import FigureValue
from iotbench.figures.rows import Place
from iotbench.figures.summary import Subject
from iotbench.measurements import kind_of, subject_of, summary_of
from iotbench.measurements.warnings import warnings_of
from iotbench.results.result import Result, much_other_work
from simulator.data.workloads import workload_class
from simulator.errors import ConfigError
from simulator.protocol.verdict import Status

_VARIES = frozenset({"start_ms", "timeout_s", "workers"})
"""Options that may differ between equal sweeps, or that are a dimension of the rows."""
_ROWS_OF = {"steps": "a step", "stages": "a stage"}
"""Option -> the part of a run that a row of the result describes."""
_Measured: TypeAlias = tuple[str, Mapping[str, FigureValue]]
"""Verdict of a run, and its figures."""


@dataclass(frozen=True, slots=True)
class SideSample:
    """The measurements of the runs behind a row."""

    verdicts: tuple[str, ...]
    values: Mapping[str, tuple[tuple[float, ...], ...]]
    """Name of a figure that every run has -> values of the figure, by sweep and run."""
    began_s: tuple[float, ...]
    """Start times of the sweeps, in ascending order."""
    runs: int


@dataclass(frozen=True, slots=True)
class Side:
    """Results that repeat the same sweep."""

    results: tuple[tuple[Path, Result], ...]
    name: str = ""
    """Name of the side; empty if the side is not part of a plan."""

    @property
    def first(self) -> Result:
        """The first result, which describes all results of the side."""
        return self.results[0][1]

    @property
    def label(self) -> str:
        """Name of the side or, without a name, the IDs of its results."""
        return self.name or ", ".join(result.sweep_id for _, result in self.results)

    @property
    def subject(self) -> Subject:
        """Subject of the side's rows."""
        return subject_of(self.first)

    def warnings(self) -> list[str]:
        """Return the side's warnings; only the last of several that differ only in brackets."""
        found = [text for _, result in self.results for text in warnings_of(result)]
        return [*{text.partition(" (")[0]: text for text in reversed(found)}.values()][::-1]

    def is_disturbed(self, place: Place) -> bool:
        """Return whether other work on the machine may have slowed down the runs of a row."""
        results = (result for _, result in self.results)
        return much_other_work(*results, workers=place.workers) is not None

    def samples(self, percentiles: Sequence[str] = ()) -> dict[Place, SideSample]:
        """Return row -> the measurements of the runs behind the row.

        `percentiles`: names of further percentiles.
        """
        found: dict[Place, dict[int, list[_Measured]]] = defaultdict(lambda: defaultdict(list))
        results = sorted((result for _, result in self.results), key=lambda each: each.created)
        for number, result in enumerate(results):
            for run in result.runs:
                for row in summary_of(result.model_copy(update={"runs": [run]})).every:
                    if row.figures:
                        place = row.place if run.stages else replace(row.place, workers=run.workers)
                        found[place][number].append((row.verdict, row.figures))
        began_s = [each.created.timestamp() for each in results]
        return {place: _join_runs(sweeps, began_s, percentiles) for place, sweeps in found.items()}


def _join_runs(
    sweeps: Mapping[int, Sequence[_Measured]],
    began_s: Sequence[float],
    percentiles: Sequence[str],
) -> SideSample:
    runs = [each for sweep in sweeps.values() for each in sweep]
    names = dict.fromkeys((*runs[0][1], *percentiles))
    common = [name for name in names if all(name in figures for _, figures in runs)]
    return SideSample(
        verdicts=tuple(dict.fromkeys(verdict for verdict, _ in runs)),
        values={
            name: tuple(
                tuple(figures[name].value for _, figures in sweep) for sweep in sweeps.values()
            )
            for name in common
        },
        began_s=tuple(began_s[number] for number in sweeps),
        runs=len(runs),
    )


def expect_comparable(sides: Sequence[Side]) -> None:
    """Raise ConfigError with all reasons for which the sides cannot be compared."""
    every = [each for side in sides for each in side.results]
    problems = [*_list_repeated(every)]
    for path, result in every:
        problems += [f"{path}: {text}" for text in list_unusable(result)]
    if problems:
        raise ConfigError(problems)
    base_path, base = sides[0].results[0]
    for path, result in every[1:]:
        problems += [f"{path}: {text}" for text in other_data(base, base_path, result)]
    for side in sides:
        for path, result in side.results[1:]:
            unlike = ", ".join(name for name, *_ in differing(side.first, result))
            if unlike:
                problems.append(f"{path}: cannot be joined, since these differ: {unlike}")
    if problems:
        raise ConfigError(problems)


def _list_repeated(results: Sequence[tuple[Path, Result]]) -> Iterator[str]:
    known: dict[tuple[str, datetime], Path] = {}
    for path, result in results:
        sweep = result.sweep_id, result.created
        if first := known.get(sweep):
            same = "is named twice" if first == path else f"is a copy of {first}"
            yield f"{path}: {same}; name results of different sweeps"
        known[sweep] = path


def list_unusable(result: Result) -> Iterator[str]:
    """Yield the reasons for which the figures of a result cannot be compared."""
    if not subject_of(result).figures:
        yield f"is a result of `{result.kind}`, which has no figures; name other results"
        return
    verdicts = [run.outcome.verdict for run in result.runs]
    if any(verdict and verdict.status is Status.MISMATCH for verdict in verdicts):
        yield "has the verdict mismatch: its data or answers are wrong, so its figures mean nothing"
    if not any(run.outcome.status == "done" for run in result.runs):
        yield f"has no finished run ({result.cause or result.status})"


def other_data(base: Result, path: Path, other: Result) -> Iterator[str]:
    """Yield a sentence for each difference between the data of two results."""
    if base.kind != other.kind:
        yield f"is a result of {other.kind}, and {path} of {base.kind}; compare results of one kind"
        return
    before, after = _describe_data(base), _describe_data(other)
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield (
                f"{name} is {after.get(name, 'not set')}, and {before.get(name, 'not set')} in"
                f" {path}; compare results of the same rows"
            )


def _describe_data(result: Result) -> dict[str, Any]:
    """Return the facts that determine the rows of a dataset, except for the start time."""
    dataset = result.dataset
    defaults = {
        name: field.get_default(call_default_factory=True, validated_data={})
        for name, field in workload_class(dataset.workload).params_model.model_fields.items()
        if not field.is_required()
    }
    parted = next((name for name in _ROWS_OF if result.configuration.get(name)), "")
    rows = {"the number of rows": dataset.rows} if kind_of(result).asks else {}
    return {
        "a row": _ROWS_OF.get(parted, "a worker count"),
        "the workload": f"{dataset.workload}, version {dataset.workload_version}",
        **{f"parameter {name}": value for name, value in {**defaults, **dataset.params}.items()},
        "the seed": dataset.seed,
        "the primary key": dataset.primary_key.value,
        **rows,
    }


def is_same_work(base: Result, other: Result) -> bool:
    """Return whether both sweeps used the same program, runner and configuration.

    If so, the client does the same work for each row.
    """
    before, after = (
        (each.program_version, each.module, each.runner, _select_options(each))
        for each in (base, other)
    )
    return before == after


def is_repeat(base: Result, other: Result) -> bool:
    """Return whether both sweeps wrote or read equal rows in the same way on the same target.

    Versions, machine and cluster may differ.
    """
    is_alike = _describe_settings(base) == _describe_settings(other)
    return is_alike and not any(other_data(base, Path(), other))


def differing(base: Result, other: Result) -> list[tuple[str, str, str]]:
    """Return (name, value, other value) of each difference in configuration, versions, machine."""
    before, after = _describe_circumstances(base), _describe_circumstances(other)
    return [
        (name, before.get(name, "-"), after.get(name, "-"))
        for name in {**before, **after}
        if before.get(name, "-") != after.get(name, "-")
    ]


def _select_options(result: Result) -> dict[str, Any]:
    return {key: value for key, value in result.configuration.items() if key not in _VARIES}


def _describe_settings(result: Result) -> dict[str, str]:
    return {
        "target": result.target,
        "module": result.module,
        "runner": result.runner,
        **{key: _format(value) for key, value in _select_options(result).items()},
        **{f"option {key}": _format(value) for key, value in result.target_options.items()},
    }


def _describe_circumstances(result: Result) -> dict[str, str]:
    server, machine = result.server, result.machine
    return {
        **_describe_settings(result),
        "program": result.program_version,
        "server": server.version if server else "unknown",
        "durability": server.durability if server else "unknown",
        "machine": machine.hardware,
        "system": f"{machine.system}, Python {machine.python}",
        **{f"cluster {key}": value for key, value in result.ran_on.items()},
    }


def _format(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
