"""Options of databases with transactions: which statements insert rows, and when they commit."""

from pydantic import Field

from simulator.modules.contract import BATCH, SINGLE
from simulator.modules.shared.client.driver import DriverOptions
from simulator.modules.shared.sql.database import SqlOptions
from simulator.modules.shared.sql.language import PREPARED, TRANSACTION, VALUES


class TransactionOptions(SqlOptions, DriverOptions):
    """Options that choose between one statement for a batch, and one for each row."""

    use_values_lists: bool = Field(
        default=False,
        description="send a batch as one INSERT with a list of rows, not as COPY, or as LOAD DATA "
        "LOCAL INFILE, which the server must allow (local_infile)",
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
        """Return the insert mode that these options make of SINGLE or BATCH."""
        if self.prepared:
            return PREPARED
        if mode == BATCH and self.transaction:
            return TRANSACTION
        return VALUES if mode == BATCH and self.use_values_lists else self.sends_by or mode

    def find_conflicts(self, mode: str) -> list[str]:
        """Return a message for each conflict of the options, also with the mode."""
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
