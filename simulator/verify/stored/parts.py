"""Parts of a table's time, which together are all of it."""

from dataclasses import dataclass

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.query import Selection


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a table from a time until another one; None: without a limit."""

    since: int | None
    until: int | None
    first: int
    last: int
    """Its rows are expected between these times; others may be stored beyond them."""

    @property
    def selection(self) -> Selection:
        """The choice of these rows."""
        return Selection(since=self.since, until=self.until)

    def divide(self, number: int) -> list["Part"]:
        """Return parts of equal length that together are this one; fewer if it is short."""
        length = self.last - self.first
        if not length:
            return [self]
        inner = sorted({self.first + length * part // number for part in range(1, number)})
        limits, edges = [self.since, *inner, self.until], [self.first, *inner, self.last]
        return [
            Part(since, until, first, last)
            for since, until, first, last in zip(
                limits[:-1], limits[1:], edges[:-1], edges[1:], strict=True
            )
        ]


def whole_of(dataset: Dataset, reader: DatasetReader, place: int) -> Part | None:
    """Return the table at a place; None if its rows are not in the order of time."""
    ranges = [item for item in dataset.ranges if item.table == place and item]
    if not ranges or not reader.time_rises:
        return None
    first = min(reader.time_at(item, 0) for item in ranges)
    last = max(reader.time_at(item, len(item) - 1) for item in ranges)
    return Part(None, None, first, last)
