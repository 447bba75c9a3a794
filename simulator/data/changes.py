"""Changes of a dataset after its insert: corrections, updates of tags, deletions.

A correction draws the fields of rows with another seed; tags, times and keys stay. An update
changes the value of a tag in some series. A deletion by time leaves the ranges of newer rows. The
result is again a dataset, so changes do not concern the code that compares rows or answers with a
dataset.
"""

from collections.abc import Iterable
from enum import StrEnum

from simulator.data.dataset import Correction, Dataset, Retag
from simulator.data.ranges import RowRange, merge
from simulator.data.reader import BLOCK_ROWS, DatasetReader
from simulator.data.schema import TimeUnit


class Deleting(StrEnum):
    """Methods of deleting rows by their time (`change --delete-by`)."""

    STATEMENT = "statement"
    """A statement that deletes the rows before a time."""
    RETENTION = "retention"
    """The database's retention, which drops whole chunks or partitions."""


def correct(dataset: Dataset, ranges: Iterable[RowRange]) -> Dataset:
    """Return the dataset after a correction of these rows, perhaps not the first one."""
    number = len(dataset.corrections) + 1
    new = Correction(number=number, ranges=merge(ranges))
    return dataset.model_copy(update={"corrections": (*dataset.corrections, new)})


def since(dataset: Dataset, begin_ms: int) -> Dataset:
    """Return a dataset with rising times without the rows before a time in ms since 1970."""
    reader, kept = DatasetReader(dataset), list[RowRange]()
    for item in dataset.ranges:
        begin = in_unit(begin_ms, reader.tables[item.table].time_unit)
        (first,) = reader.places_at(item, [begin]).tolist()
        kept += item.part(first, len(item))
    return dataset.with_ranges(kept)


def in_unit(time_ms: int, unit: TimeUnit) -> int:
    """Return the first whole unit since 1970 that is not before a time in ms."""
    return -(-time_ms * unit.per_second // 1000)


def update_tags(dataset: Dataset, retags: Iterable[Retag]) -> Dataset:
    """Return the dataset after these updates of tags."""
    return dataset.model_copy(update={"retags": (*dataset.retags, *retags)})


def retags_of(dataset: Dataset, share: float) -> list[Retag]:
    """Return updates of a tag for this share of the series; none if no table has a suitable tag.

    The tag is the first one outside the key. The new value is a value of another series, so that
    the table can hold it.
    """
    reader, found = DatasetReader(dataset), list[Retag]()
    for place, table in enumerate(reader.tables):
        names = [tag.name for tag in table.tags if tag.name in table.key]
        others = [tag.name for tag in table.tags if tag.name not in table.key]
        ranges = [item for item in dataset.ranges if item.table == place]
        if len(names) != 1 or not others or not ranges:
            continue
        rows = min(len(ranges[0]), max(reader.series(place), BLOCK_ROWS))
        data = reader.draw_rows(table, ranges[0].numbers(0, rows)).data
        column, by = data[others[0]], data[names[0]]
        if column.valid is not None or by.valid is not None:
            continue
        pairs = dict(zip(by.values().tolist(), column.values().tolist(), strict=True))
        known = sorted({*pairs.values()})
        if len(known) < 2:
            continue
        after = dict(zip(known, (*known[1:], known[0]), strict=True))
        chosen = sorted(pairs)[: max(round(len(pairs) * share), 1)]
        values = {name.decode(): after[pairs[name]].decode() for name in chosen}
        found.append(Retag(table=place, tag=others[0], by=names[0], values=values))
    return found


def portion(ranges: Iterable[RowRange], share: float) -> list[RowRange]:
    """Return about this share of the rows, evenly spread."""
    every = max(round(1 / share), 1)
    found = []
    for item in ranges:
        if item.every:  # a range has only one stride
            found += item.part(0, len(item) // every)
        elif len(item) > every > 1:
            found.append(item.model_copy(update={"take": 1, "every": every}))
        else:
            found.append(item.first(-(-len(item) // every)))
    return [item for item in found if len(item)]
