"""Pictures over the number of series: rate, memory, newest rows; each target is a line."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from iotbench.machine.resources import Resources, Sample, Used
from iotbench.output.page import growth
from iotbench.output.page.measured import order_results
from simulator.protocol.events import QueryVerdict
from simulator.protocol.messages import QueryTimes
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.terminal import made

VERIFIED = Verdict(status=Status.VERIFIED)


def stored(scale):
    params = {"scale": scale, "duration_ms": 3_600_000}
    return made.stored(
        0, workload="cpu", params={**params, "interval_ms": 10_000}, start_ms=1_767_225_600_000
    )


def inserted(target, scale, rows, memory_mib):
    sample = Sample(
        phase="insert", ended_s=1.0, duration_s=1.0, machine_cores=1.0, machine_load=1.0,
        machine_memory_bytes=None, client=None,
        server=Used(cores=0.5, memory_bytes=memory_mib << 20),
    )  # fmt: skip
    run = made.run(made.outcome(made.worker(0, rows=rows)))
    run = run.model_copy(
        update={"resources": Resources(server="process", client="process", samples=(sample,))}
    )
    return made.result([run], target=target, dataset=stored(scale), sweep_id=f"{target}-{scale}")


def asked(target, scale, wait_ms, query):
    times = QueryTimes(
        name=query, first_s=0.1, runs=2, waits=made.histogram(wait_ms, wait_ms),
        wait_s=0.1, client_s=0.0, elapsed_s=0.1, answers=1,
    )  # fmt: skip
    verdict = QueryVerdict(name=query, statement="", tuned=False, verdict=VERIFIED)
    found = made.outcome(made.worker(0, rows=0, queries=(times,)), queries=(verdict,))
    run = made.run(found).model_copy(update={"metrics": None})
    return made.result(
        [run], kind="query", target=target, dataset=stored(scale), sweep_id=f"{target}-q-{scale}"
    )


def shown(*results):
    files = [
        (Path(f"{each.sweep_id}.json"), each.model_copy(
            update={"created": each.created + timedelta(seconds=n)}
        ))
        for n, each in enumerate(results)
    ]  # fmt: skip
    return [*growth.draw_growth(order_results(files))]


def test_rate_and_memory_have_a_line_for_each_target_with_three_numbers_of_series():
    scales = (1000, 10_000, 100_000)
    results = [inserted("a", scale, 4000 - n, 100 * n + 1) for n, scale in enumerate(scales)]
    results += [inserted("b", scale, 2000, 7) for scale in scales[:2]]
    rate, memory = shown(*results)

    assert rate.title == "Rate over the number of series"
    assert [[*row.values()][1:] for row in rate.table.rows] == [
        ["1,000", "2,000", "verified"],
        ["10,000", "2,000", "verified"],
        ["100,000", "1,999", "verified"],
    ]
    assert [row["MiB"] for row in memory.table.rows] == ["1.00", "101", "201"]
    assert all(row["Result"].startswith("a") for row in rate.table.rows)
    assert "series" in rate.svg


def test_memory_is_the_lowest_of_the_repeats_since_a_server_keeps_what_inserts_took():
    results = [inserted("a", 1000, 4000, mib) for mib in (66, 44)]
    (page,) = order_results([(Path("0.json"), results[0])])
    repeated = replace(page, results=results)

    assert growth.list_memories_mib(repeated) == [66, 44]
    assert growth.find_memory_mib(repeated) == 44


@pytest.mark.parametrize(
    ("query", "of"), [("lastpoint", "each series"), ("single-lastpoint", "one series")]
)
def test_the_newest_rows_have_their_median(query, of):
    waits = ((10, 1.0), (100, 2.0), (1000, 4.0))
    (newest,) = shown(*(asked("a", scale, wait, query) for scale, wait in waits))

    assert newest.title == f"Newest row of {of}, median"
    assert [row["Series"] for row in newest.table.rows] == ["10", "100", "1,000"]


@pytest.mark.parametrize("scales", [(10,), (10, 100), (10, 10, 10, 100)])
def test_fewer_numbers_of_series_are_no_picture(scales):
    assert shown(*(inserted("a", scale, 100, 1) for scale in scales)) == []
