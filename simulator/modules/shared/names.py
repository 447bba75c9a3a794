"""Names of tables for databases that allow fewer characters than the benchmark."""

import re
import zlib
from collections.abc import Sequence

from simulator.data.schema import Table, names_of
from simulator.errors import UnstorableError

_LONGEST = 200


def storable(name: str, allowed: str, not_first: str, *, lower: bool = False) -> str:
    """Return a name with `allowed` characters only, written as in a regular expression's [...].

    A checksum distinguishes names that differ only in replaced characters or in case.
    """
    plain = re.sub(f"[^{allowed}]", "_", name.lower() if lower else name)
    plain = plain.lstrip(not_first)[:_LONGEST] or "table"
    return plain if plain == name else f"{plain}-{zlib.crc32(name.encode()):08x}"


def check_names(
    product: str, tables: Sequence[Table], in_tables: re.Pattern[str], in_columns: re.Pattern[str]
) -> None:
    """Raise UnstorableError for names of tables and columns in which their pattern occurs."""
    named = [("table", name, in_tables) for name in names_of(tables)]
    named += [("column", c.name, in_columns) for table in tables for c in table.columns]
    wrong = [
        f"{kind} {name!r} (because of {found[0]!r})"
        for kind, name, forbidden in dict.fromkeys(named)
        if (found := forbidden.search(name))
    ]
    if wrong:
        raise UnstorableError(f"{product} does not allow these names: {', '.join(wrong)}")
