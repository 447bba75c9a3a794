"""The table of docs/method.md: figure, account, tolerance, and the largest deviation."""

import re

from tests import ROOT
from tests.truth.figures import FIGURES, Deviations

PAGE = ROOT / "docs" / "method.md"
_HEAD = "| Figure | Compared with the proxy's account | Tolerance | Largest deviation |\n"
_TABLE = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)+")


def rows() -> list[list[str]]:
    """Return the cells of the table as it stands in the page."""
    found = _TABLE.search(PAGE.read_text())
    assert found, f"{PAGE.name}: no table of figures"
    lines = found[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def first_cells() -> list[list[str]]:
    """Return what stands before the deviations."""
    return [[f"`{name}`", each.account, each.tolerance] for name, each in FIGURES.items()]


def write(deviations: Deviations) -> None:
    """Write the deviations that were found into the page."""
    found = [deviations.worst(name, *deviations.servers) for name in FIGURES]
    lines = [
        f"| {' | '.join([*cells, worst])} |\n"
        for cells, worst in zip(first_cells(), found, strict=True)
    ]
    text = _HEAD + "|---|---|---|---|\n" + "".join(lines)
    PAGE.write_text(_TABLE.sub(lambda _: text, PAGE.read_text()))
