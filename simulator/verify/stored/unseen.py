"""Differences of stored rows that a comparison does not see because of the database."""

from collections.abc import Iterator, Sequence

from simulator.data.schema import Table
from simulator.modules.contract import Alike, Database
from simulator.protocol.verdict import VerifyMode
from simulator.verify.stored.whole_tables import HASHES


def list_unseen(database: Database, tables: Sequence[Table], level: VerifyMode) -> Iterator[str]:
    """Yield what the hashes of the database, or its stored rows, do not show."""
    hashing = database.row_hash
    has_floats = Alike.ZEROS.concerns(tables)
    if level is VerifyMode.HASHES and hashing and hashing.unseen and has_floats:
        yield f"{HASHES}: {hashing.unseen}"
    if level is VerifyMode.FULL:
        alike = database.capabilities.alike
        yield from (f"{each}: {alike[each]}" for each in alike if each.concerns(tables))
