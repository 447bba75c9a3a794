"""Names of tables for databases that allow fewer characters than the benchmark."""

import re
import zlib

_LONGEST = 200


def storable(name: str, allowed: str, not_first: str, *, lower: bool = False) -> str:
    """Return a name with `allowed` characters only (the inside of a regular expression's [...]).

    A checksum distinguishes names that differ only in other characters, or in case.
    """
    plain = re.sub(f"[^{allowed}]", "_", name.lower() if lower else name)
    plain = plain.lstrip(not_first)[:_LONGEST] or "table"
    return plain if plain == name else f"{plain}-{zlib.crc32(name.encode()):08x}"
