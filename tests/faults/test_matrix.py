"""The first cells of the fault matrix, each a test. FAULTS_SEED chooses another matrix.

They run a few at a time from the first test on; each test waits for its own.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import islice

import pytest

from tests.faults import matrix
from tests.faults.__main__ import details, line_of
from tests.faults.cells import Cell
from tests.faults.matrix import Judged

SEED = 1
CELLS = 24
OFTEN = 17
"""Each fault of each victim comes once among so many; the cells after them are rare."""
AT_ONCE = 3


def first_cells() -> list[Cell]:
    """Return the cells of this suite."""
    return list(islice(matrix.chosen(int(os.environ.get("FAULTS_SEED", SEED))), CELLS))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cell" in metafunc.fixturenames:
        cells = [
            pytest.param(cell, id=str(cell), marks=[] if place < OFTEN else [pytest.mark.rare])
            for place, cell in enumerate(first_cells())
        ]
        metafunc.parametrize("cell", cells)


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest) -> Iterator[dict[int, Future[Judged]]]:
    """Every selected cell, running."""
    items = [item for item in request.session.items if item.path == request.path]
    params = [item.callspec.params for item in items if isinstance(item, pytest.Function)]
    wanted = [cell for each in params if isinstance(cell := each.get("cell"), Cell)]
    with matrix.running(wanted, AT_ONCE) as pool:
        yield pool.futures


def test_a_fault_is_survived_or_reported(cell: Cell, judged: dict[int, Future[Judged]]) -> None:
    found = judged[cell.number].result()
    if found.missed:
        pytest.skip(f"no fault in six tries: {found.missed}")

    assert found.right, f"{line_of(found)}\n{details(found)}"


@pytest.mark.parametrize("name", ["influxdb", "network", "postgres"])
def test_everything_can_be_tried_here(name: str) -> None:
    if why := matrix.skipped().get(name):
        pytest.skip(f"no cells of {name}: {why}")
