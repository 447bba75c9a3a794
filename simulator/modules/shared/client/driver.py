"""Rows sent by the vendor's own driver, as its documentation advises.

The program's own encoders write the bytes that a server reads; an application gives Python objects
to a driver. With `client=driver` a module does the same, so that `compare` shows the driver's cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import Field

from simulator.data.block import Block
from simulator.modules.contract import Encoder, Options, records


class Client(StrEnum):
    """The sender of rows: this program, or the driver in the insert mode of this name."""

    OWN = "own"
    DRIVER = records.DRIVER
    DRIVER_COPY = records.DRIVER_COPY


class DriverOptions(Options):
    """Options of a module that can send rows through the vendor's driver."""

    client: Client = Field(
        Client.OWN,
        description="how rows are sent: own, encoded by this program; driver, as Python objects by "
        "the vendor's driver; driver-copy, by the driver's COPY, if it has one",
    )

    @property
    def sends_by(self) -> str:
        return "" if self.client is Client.OWN else self.client.value

    def list_excluded(self, *names: str) -> list[str]:
        """Return a message for each given option that the driver would ignore."""
        fields = type(self).model_fields
        return [
            f"client={self.client} and {name} exclude each other; choose one"
            for name in names
            if self.sends_by and getattr(self, name) != fields[name].default
        ]


@dataclass(frozen=True, slots=True)
class DriverBatch:
    """A batch of rows for a driver."""

    into: Any
    """Destination of the rows: a statement, a collection, ..."""
    rows: Sequence[Any]


def batches(into: Any, rows_of: Callable[[Block, int], Sequence[Sequence[Any]]]) -> Encoder:
    """Return the encoder of batches of the rows that `rows_of` returns."""
    return lambda block, rows_per_batch: [
        DriverBatch(into, rows) for rows in rows_of(block, rows_per_batch)
    ]


def map_rows(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Return each row as a dict without NULLs."""
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in rows
    ]
