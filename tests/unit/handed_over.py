"""The table in docs/databases/README.md of what drivers hand over to full verification."""

import re
from functools import cache
from pathlib import Path

from simulator.data.schema import Type

WITH_ZONE, SHORTENED = " with a zone", " by its fewest digits"
_TABLE = re.compile(r"^\| Module \| (int16.*) \|\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)


@cache
def read_handed_over() -> dict[str, dict[Type, set[str]]]:
    """The Python types by module and type of a column."""
    text = (Path(__file__).parents[2] / "docs/databases/README.md").read_text()
    (found,) = _TABLE.findall(text)
    kinds = [[Type(each) for each in cell.split(", ")] for cell in found[0].split(" | ")]
    read: dict[str, dict[Type, set[str]]] = {}
    for row in found[1].splitlines():
        modules, *cells = row.strip("| ").split(" | ")
        handed = {
            kind: {each.replace("`", "") for each in cell.split(" or ")}
            for of_cell, cell in zip(kinds, cells, strict=True)
            for kind in of_cell
        }
        for module in re.findall(r"\[(\w+)\]", modules):
            assert module not in read, f"{module} is in two rows"
            read[module] = handed
    return read
