"""Insert modes that send a batch as one statement with a list of rows, or as single rows."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from simulator.data.block import Block
from simulator.modules.contract import BATCH, SINGLE, Encoder
from simulator.modules.shared.client.driver import DriverOptions
from simulator.modules.shared.sql.database import IndexOptions

VALUES = "values"
"""Insert mode: a batch as one INSERT with a list of rows."""
TRANSACTION = "transaction"
"""Insert mode: single rows, committed together."""
PREPARED = "prepared"
"""Insert mode: single rows by a statement that was prepared once, committed together."""


class TransactionOptions(IndexOptions, DriverOptions):
    """Options that choose between one statement for a batch and one for each row."""

    use_values_lists: bool = Field(
        default=False,
        description="send a batch as one INSERT with a list of rows, not by COPY or LOAD DATA "
        "LOCAL INFILE (which a server must allow: local_infile)",
    )
    transaction: bool = Field(
        default=False, description="insert single rows, and commit once per batch"
    )
    prepared: bool = Field(
        default=False,
        description="insert single rows by a statement that is prepared once for each connection "
        "and table; with a --batch, commit once per batch",
    )
    commit_every_s: float = Field(
        0,
        ge=0,
        description="with transaction or prepared: also commit after this many seconds (0: never); "
        "with 1 and a large --batch, a transaction lasts a second",
    )

    def choose_mode(self, mode: str) -> str:
        """Return the insert mode in which SINGLE or BATCH is sent with these options."""
        if self.prepared:
            return PREPARED
        if self.transaction:
            return TRANSACTION
        return VALUES if self.use_values_lists else self.sends_by or mode

    def find_conflicts(self, mode: str) -> list[str]:
        """Return problems of options that exclude each other or need batches."""
        found = self.list_excluded("use_values_lists", "transaction", "prepared")
        found += [
            f"{name} and use_values_lists exclude each other; choose one"
            for name in ("transaction", "prepared")
            if self.use_values_lists and getattr(self, name)
        ]
        if self.commit_every_s and not (self.transaction or (self.prepared and mode == BATCH)):
            found.append(
                "commit_every_s needs transaction=true, or prepared=true and a batch size; try "
                "--batch 10000"
            )
        return found + [
            f"{name}=true needs a batch size; try --batch 1000"
            for name in ("transaction", "use_values_lists")
            if mode == SINGLE and getattr(self, name)
        ]


def group_rows(single_rows: Encoder) -> Encoder:
    """Return an encoder of payloads that list the encoded rows of a batch."""

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        singles = single_rows(block, 1)
        starts = range(0, len(singles), rows_per_batch)
        return [singles[start : start + rows_per_batch] for start in starts]

    return encode
