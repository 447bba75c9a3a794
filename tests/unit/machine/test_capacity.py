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


def test_the_default_sweep_runs_on_a_small_machine(machine):
    machine(cores=1, free_gib=2)

    assert too_many(16, 1000) == []


def test_too_many_workers_for_the_cores_are_refused_with_the_figure_and_the_remedy(machine):
    machine(cores=4, free_gib=1000)

    assert too_many(32, 0) == []
    assert too_many(33, 0) == [
        (
            "--workers: 33 workers are too many for the 4 cores of this machine; use 32 or fewer,"
            " --runner kubernetes, or --force to insist"
        )
    ]


def test_too_many_workers_for_the_memory_are_refused_with_the_figure_and_the_remedy(machine):
    machine(cores=64, free_gib=4)

    assert too_many(40, 0) == []
    assert too_many(41, 0) == [
        (
            "--workers: 41 workers need about 4.1 GiB of memory, and 4.0 GiB are free; use 40 or"
            " fewer, a smaller --batch, --runner kubernetes, or --force to insist"
        )
    ]


def test_large_batches_count(machine):
    machine(cores=64, free_gib=4)

    (problem,) = too_many(16, 1_000_000)

    assert "use 6 or fewer, a smaller --batch" in problem


def test_without_any_free_memory_not_even_one_worker_starts(machine):
    machine(cores=64, free_gib=0.1)

    (problem,) = too_many(1, 0)

    assert "free some memory" in problem


def test_a_hundred_thousand_workers_are_too_many_for_cores_and_memory(machine):
    machine(cores=2, free_gib=24)

    assert len(too_many(100_000, 0)) == 2


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
