"""Local workers are bounded by the machine's cores and free memory."""

import pytest

from iotbench.machine import machine as module
from iotbench.machine.machine import free_memory_bytes, too_many

GIB = 2**30


@pytest.fixture
def machine(monkeypatch):
    def of(cores, free_gib):
        monkeypatch.setattr(module, "usable_cores", lambda: cores)
        monkeypatch.setattr(module, "free_memory_bytes", lambda: int(free_gib * GIB))

    return of


CORES = (
    "--workers: 33 workers are too many for the 4 cores of this machine; use 32 or fewer,"
    " --runner kubernetes, or --force to insist"
)
MEMORY = (
    "--workers: 41 workers need about 4.1 GiB of memory, and 4.0 GiB are free; use 40 or"
    " fewer, a smaller --batch, --runner kubernetes, or --force to insist"
)


@pytest.mark.parametrize(
    ("given", "wanted", "problems"),
    [
        ((1, 2), (16, 1000), []),
        ((4, 1000), (32, 0), []),
        ((4, 1000), (33, 0), [CORES]),
        ((64, 4), (40, 0), []),
        ((64, 4), (41, 0), [MEMORY]),
    ],
)
def test_too_many_workers_are_refused_with_figure_and_remedy(machine, given, wanted, problems):
    """Cores and free GiB are given; workers and rows of a batch are wanted."""
    machine(*given)

    assert too_many(*wanted) == problems


@pytest.mark.parametrize(
    ("given", "wanted", "words"),
    [
        ((64, 4), (16, 1_000_000), ["use 6 or fewer, a smaller --batch"]),
        ((64, 0.1), (1, 0), ["free some memory"]),
        ((2, 24), (100_000, 0), ["for the 2 cores", "of memory"]),
    ],
)
def test_every_cause_is_named(machine, given, wanted, words):
    machine(*given)

    assert all(each in found for each, found in zip(words, too_many(*wanted), strict=True))


def test_a_containers_limit_bounds_the_free_memory(tmp_path, monkeypatch):
    limit, usage = tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(module, "_CGROUPS", [(limit, usage)])
    unlimited = free_memory_bytes()
    limit.write_text("max\n")
    usage.write_text("5\n")

    assert free_memory_bytes() == pytest.approx(unlimited, rel=0.2)

    limit.write_text("1005\n")
    assert free_memory_bytes() == 1000

    usage.write_text("2000\n")
    assert free_memory_bytes() == 0
