"""Aggregates that a database maintains for its tables and uses to answer queries."""

from typing import Any, ClassVar

from pydantic import Field, field_validator

from simulator.data.query import Query, Statement
from simulator.modules.contract.options import Options

_DAY_S = 86_400


def intervals(how: str) -> Any:
    """Return the option of the intervals; `how` the database keeps the aggregates, as a verb."""
    return Field(
        "",
        pattern=r"^(\d{1,5}(,\d{1,5})*)?$",
        description=f"{how}, over these intervals in seconds, such as 60,3600, and let queries read"
        " them; each divides a day of 86,400 s",
    )


class AggregateOptions(Options):
    """Options of a module that can keep aggregates."""

    columns: ClassVar[tuple[str, ...]] = ("aggregate_intervals_s",)
    aggregate_intervals_s: str = intervals("keep aggregates of each table")

    @field_validator("aggregate_intervals_s")
    @classmethod
    def _divide_a_day(cls, value: str) -> str:
        """Refuse intervals that databases do not count from the start of 1970."""
        wrong = [text for text in _list(value) if not int(text) or _DAY_S % int(text)]
        if wrong:
            raise ValueError(f"expected divisors of {_DAY_S:,} s, got {', '.join(wrong)}")
        return value

    @property
    def intervals_s(self) -> list[int]:
        """The intervals, in order."""
        return sorted({*map(int, _list(self.aggregate_intervals_s))})


def _list(text: str) -> list[str]:
    return text.split(",") if text else []


class Aggregating:
    """A database that may keep aggregates of its tables: by their tags and intervals of time."""

    options: Options

    @property
    def interval_s(self) -> int:
        """The shortest interval of the aggregates, in seconds; 0: it keeps none."""
        options = self.options
        return min(options.intervals_s, default=0) if isinstance(options, AggregateOptions) else 0

    def from_aggregates(self, query: Query) -> Statement | None:
        """Return the statement that answers a query from the aggregates; None: they do not."""
        return None
