"""Long runs in few numbers: a day of eight workers, with the resources of every two seconds."""

import pytest

from iotbench.machine.resources import Resources, Sample, Used
from iotbench.output.page.courses import compute_rates
from iotbench.results.metrics import rates_by_second
from iotbench.results.thinning import MOST, thin_report, thin_resources
from tests.unit.output.terminal.made import outcome, result, run, worker

DAY_S = 86_400
WARMUP_S = 30


def sample(number, *, phase="insert", client=True):
    return Sample(
        phase=phase,
        ended_s=2.0 * (number + 1),
        duration_s=2.0,
        machine_cores=1.0 + number % 2,
        machine_load=0.123456789,
        machine_memory_bytes=10**9 + number,
        client=Used(cores=0.987654321, memory_bytes=10**8 + number) if client else None,
        server=None,
    )


def day_of(workers):
    """Reports of a day in which each worker writes 1,000 rows/s, and 500 while it warms up."""
    seconds = (500,) * WARMUP_S + (1000,) * (DAY_S - WARMUP_S)
    return [
        worker(index, sum(seconds), ended=10.0 + DAY_S, rows_by_second=seconds,
               waits_by_second=((5, 3, 1),))
        for index in range(workers)
    ]  # fmt: skip


def test_the_result_of_a_day_is_small():
    found = outcome(*map(thin_report, day_of(8)), phases_s={"warmup": float(WARMUP_S)})
    resources = Resources(server="x", samples=[sample(n) for n in range(DAY_S // 2)])
    kept = run(found).model_copy(update={"resources": thin_resources(resources)})

    assert len(result([kept]).model_dump_json(indent=1)) < 5_000_000
    assert len(compute_rates(kept)) <= MOST


def test_the_rates_of_a_day_stay_what_they_were():
    whole = outcome(*day_of(2), phases_s={"warmup": float(WARMUP_S)})
    thin = outcome(*map(thin_report, day_of(2)), phases_s={"warmup": float(WARMUP_S)})
    before, after = rates_by_second(whole), rates_by_second(thin)

    assert len(after) == len(before) == DAY_S - WARMUP_S
    assert after[100:] == before[100:]
    assert [sum(w.rows_by_second) for w in thin.workers] == [w.rows for w in whole.workers]
    assert {each.rows_each_s for each in thin.workers} == {DAY_S // MOST}
    assert {point.y for point in compute_rates(run(thin))[2:]} == {2000.0}
    assert not any(each.waits_by_second for each in thin.workers)


def test_an_hour_is_kept_as_it_is():
    (report,) = day_of(1)
    hour = report.model_copy(update={"rows_by_second": report.rows_by_second[:MOST]})

    assert thin_report(hour).rows_by_second == hour.rows_by_second
    few = Resources(server="x", samples=[sample(n) for n in range(10)])
    assert thin_resources(few) is few


def test_samples_of_a_phase_are_joined_and_phases_stay_apart():
    samples = [sample(n, phase="insert" if n < MOST else "verify") for n in range(2 * MOST)]
    samples[0] = sample(0, client=False)
    found = thin_resources(Resources(server="x", samples=samples)).samples

    assert len(found) == MOST
    assert [each.phase for each in found] == ["insert"] * (MOST // 2) + ["verify"] * (MOST // 2)
    assert sum(each.duration_s for each in found) == sum(each.duration_s for each in samples)
    assert found[0].machine_cores == pytest.approx(1.5)
    assert found[0].machine_memory_bytes == samples[1].machine_memory_bytes
    assert found[0].client is None
    assert found[1].client.cores == pytest.approx(0.987654321)
    assert found[1].client.memory_bytes == samples[3].client.memory_bytes
