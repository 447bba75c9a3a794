"""A cube holds the facts that queries need about rows, by tags and buckets of time.

A block becomes a run: parallel arrays over the groups in the block. Runs are merged once they have
more groups than the merged run, so memory and work depend on the number of groups. The cube of a
dataset equals the merged cubes of its parts, however the dataset is divided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.data.block import Block
from simulator.data.query import Selection
from simulator.data.schema import Table, dtype_of
from simulator.verify.truth.groups import (
    Dimension,
    Groups,
    Labels,
    Numbers,
    add_up,
    count_groups,
    number_dimension,
    pick,
    tag_dimension,
)
from simulator.verify.truth.measures import Arrays, Measure
from simulator.verify.truth.rows import select

_ROWS = "rows"
_PENDING_GROUPS = 1 << 17
_RUN_GROUPS = 64
"""Memory overhead of a run, as a number of groups."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The rows that a cube folds, their grouping, and the measures of each group."""

    table: Table
    by: tuple[str, ...]
    bucket: int | None
    """Width of a time bucket in the table's time unit."""
    edges: tuple[int, ...]
    """Instants that separate groups: the starts and ends of windows of time."""
    selection: Selection
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class GroupRun:
    """Groups, sorted by key, in parallel arrays: keys, numbers of rows, arrays of each measure."""

    keys: tuple[Numbers, ...]
    rows: Numbers
    arrays: tuple[Arrays, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, groups: Numbers) -> "GroupRun":
        """Return the groups with these indexes."""
        arrays = tuple({name: item[groups] for name, item in a.items()} for a in self.arrays)
        return GroupRun(tuple(key[groups] for key in self.keys), self.rows[groups], arrays)


@dataclass(frozen=True, slots=True)
class View:
    """The groups of a shape, each once."""

    groups: tuple[list[Any], ...]
    """The values of each tag and the starts of the buckets, in parallel."""
    run: GroupRun
    measures: Mapping[str, tuple[Measure, Arrays]]
    """Subject -> measure and its arrays."""


def roll(run: GroupRun, keys: Sequence[Numbers], measures: Sequence[Measure]) -> GroupRun:
    """Merge the groups that have equal `keys`."""
    groups = Groups.of([number_dimension(key) for key in keys], len(run))
    arrays = (m.merge(a, groups) for m, a in zip(measures, run.arrays, strict=True))
    rows = add_up(run.rows, groups.members, groups.size)
    return _keep_occurring(GroupRun(groups.keys, rows, tuple(arrays)))


def _keep_occurring(run: GroupRun) -> GroupRun:
    return run if run.rows.all() else run.take(np.flatnonzero(run.rows))


def _concatenate(runs: Sequence[GroupRun]) -> GroupRun:
    keys = tuple(np.concatenate(key) for key in zip(*(run.keys for run in runs), strict=True))
    arrays = tuple(
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for parts in zip(*(run.arrays for run in runs), strict=True)
    )
    return GroupRun(keys, np.concatenate([run.rows for run in runs]), arrays)


class Cube:
    """Folds rows into groups."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.labels = {tag: Labels() for tag in shape.by}
        self._edges = np.array(shape.edges, np.int64)
        self._merged: GroupRun | None = None
        self._pending: list[GroupRun] = []
        self._pending_groups = 0

    @property
    def table(self) -> Table:
        """The table of the rows."""
        return self.shape.table

    def add(self, block: Block) -> None:
        """Fold the rows of a block."""
        chosen = select(self.shape.selection, block)
        rows = len(block) if chosen is None else len(chosen)
        if not rows:
            return
        groups = Groups.of(self._dimensions(block, chosen), rows)
        counts = count_groups(groups.members, groups.size)
        arrays = (m.fold(block, chosen, groups, counts) for m in self.shape.measures)
        self._append(_keep_occurring(GroupRun(groups.keys, counts, tuple(arrays))))

    def _dimensions(self, block: Block, chosen: Numbers | None) -> list[Dimension]:
        shape = self.shape
        found = [tag_dimension(block, tag, chosen, self.labels[tag]) for tag in shape.by]
        if shape.bucket is not None or shape.edges:
            times = pick(block.data[block.table.time.name].values(), chosen)
            if shape.bucket is not None:
                found.append(number_dimension(times // shape.bucket))
            if shape.edges:
                found.append(number_dimension(self._count_edges(times)))
        return found

    def _count_edges(self, times: Numbers) -> Numbers:
        """Return the number of edges before each instant; a block spans few edges."""
        first, last = np.searchsorted(self._edges, (times.min(), times.max()), "right").tolist()
        if first == last:
            return np.full(len(times), first)
        spans: Numbers = np.searchsorted(self._edges[first:last], times, "right") + first
        return spans

    def _append(self, run: GroupRun) -> None:
        self._pending.append(run)
        self._pending_groups += len(run) + _RUN_GROUPS
        merged = 0 if self._merged is None else len(self._merged)
        if self._pending_groups > max(_PENDING_GROUPS, merged):
            self.run()

    def run(self) -> GroupRun | None:
        """Return all groups, each once; None if there is no row."""
        if self._pending:
            whole = _concatenate(self._take_all())
            self._merged = roll(whole, whole.keys, self.shape.measures)
        return self._merged

    def _take_all(self) -> list[GroupRun]:
        """Return all runs and release them, so that no memory is held twice."""
        runs = [*([] if self._merged is None else [self._merged]), *self._pending]
        self._merged, self._pending, self._pending_groups = None, [], 0
        return runs

    def parts(self) -> Arrays:
        """Return the fold as named arrays, for `append` of an equal cube."""
        run = self.run()
        if run is None:
            return {}
        arrays = {_ROWS: run.rows}
        arrays |= {f"key {place}": key for place, key in enumerate(run.keys)}
        for tag, labels in self.labels.items():
            dtype = dtype_of(self.table.column(tag).type)
            arrays[f"tag {tag}"] = np.array(labels.values[1:], dtype)  # the first is NULL
        for measure, measured in zip(self.shape.measures, run.arrays, strict=True):
            arrays |= {_name(measure, name): array for name, array in measured.items()}
        return arrays

    def form(self) -> dict[str, str]:
        """Return the names of the arrays of `parts`, and the kind of NumPy type of each."""
        shape = self.shape
        keys = len(shape.by) + (shape.bucket is not None) + bool(shape.edges)
        form = {_ROWS: "i"} | {f"key {place}": "i" for place in range(keys)}
        form |= {f"tag {tag}": dtype_of(self.table.column(tag).type).kind for tag in shape.by}
        for measure in shape.measures:
            form |= {_name(measure, n): kind for n, kind in measure.form(self.table).items()}
        return form

    def check(self, parts: Arrays) -> None:
        """Raise ValueError unless each group has an item in every array."""
        tags = [f"tag {tag}" for tag in self.shape.by]
        if len({len(array) for name, array in parts.items() if name not in tags}) > 1:
            raise ValueError("the arrays of a cube have different lengths")
        for place, tag in enumerate(tags if parts else ()):
            key = parts[f"key {place}"]
            if len(key) and not 0 <= key.min() <= key.max() <= len(parts[tag]):
                raise ValueError(f"a group has no value of {tag}")

    def append(self, parts: Arrays) -> None:
        """Merge the parts of an equal cube of other rows."""
        if not parts:
            return
        keys = [parts[name] for name in parts if name.startswith("key ")]
        for place, (tag, labels) in enumerate(self.labels.items()):
            numbers = labels.numbers([None, *parts[f"tag {tag}"].tolist()])
            keys[place] = numbers[keys[place]]
        arrays = (
            {
                name.removeprefix(_name(measure, "")): array
                for name, array in parts.items()
                if name.startswith(_name(measure, ""))
            }
            for measure in self.shape.measures
        )
        self._append(GroupRun(tuple(keys), parts[_ROWS], tuple(arrays)))

    def view(self, shape: Shape) -> View | None:
        """Return the groups of a shape that this cube answers; None if there is no row."""
        run = self.run()
        if run is None:
            return None
        run = self._narrow(run, shape.selection)
        keys = [run.keys[self.shape.by.index(tag)] for tag in shape.by]
        if shape.bucket is not None and self.shape.bucket is not None:
            buckets = run.keys[len(self.shape.by)]
            keys.append(buckets // (shape.bucket // self.shape.bucket))
        if not len(run):
            return None
        run = roll(run, keys, self.shape.measures)
        groups = []
        for tag, key in zip(shape.by, run.keys, strict=False):
            labels = self.labels[tag].values
            groups.append([labels[number] for number in key.tolist()])
        if shape.bucket is not None:
            groups.append((run.keys[-1] * shape.bucket).tolist())
        measured = zip(self.shape.measures, run.arrays, strict=True)
        return View(tuple(groups), run, {m.subject: (m, arrays) for m, arrays in measured})

    def _narrow(self, run: GroupRun, selection: Selection) -> GroupRun:
        ours = self.shape.selection
        for one in selection.one_of:
            if one not in ours.one_of:
                place = self.shape.by.index(one.column)
                wanted = self.labels[one.column].find_numbers(
                    value.encode() for value in one.values
                )
                run = run.take(_find_wanted(run.keys[place], wanted, ordered=place == 0))
        if selection.since is not None and selection.since != ours.since:
            first = np.searchsorted(self._edges, selection.since, "right")
            run = run.take(np.flatnonzero(run.keys[-1] >= first))
        if selection.until is not None and selection.until != ours.until:
            end = np.searchsorted(self._edges, selection.until, "right")
            run = run.take(np.flatnonzero(run.keys[-1] < end))
        return run


def _name(measure: Measure, name: str) -> str:
    return f"measure {measure.subject!r} {name}"


def _find_wanted(key: Numbers, wanted: Numbers, *, ordered: bool) -> Numbers:
    """Return the places of the wanted numbers in a key; an `ordered` key is bisected."""
    if not ordered:
        return np.flatnonzero(np.isin(key, wanted))
    starts, ends = (np.searchsorted(key, wanted, side) for side in ("left", "right"))
    found = [np.arange(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    return np.concatenate([np.empty(0, np.int64), *found])
