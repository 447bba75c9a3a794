"""Results of every kind, for pages."""

from datetime import timedelta
from pathlib import Path

from iotbench.machine.resources import Resources, Sample, Used
from iotbench.results.result import Result
from simulator.load.durations import encode_durations
from simulator.protocol.events import (
    Occurrence,
    QueryPlan,
    QueryPlans,
    QueryRamp,
    QueryVerdict,
    RampEnd,
    RampStep,
)
from simulator.protocol.messages import BatchFailures, Failed, QueryTimes
from simulator.protocol.verdict import Check, Status, Verdict
from tests.unit.output.terminal import made

HOSTILE = '<script>alert(1)</script> $x^2$ & "y"'
VERIFIED = Verdict(status=Status.VERIFIED)
PHASES = {"init": 0.2, "prefill": 1.0, "insert": 5.5, "visible": 0.5, "compact": 1.0}


PLANS = (
    QueryPlans(
        query="count-events",
        statements=(QueryPlan(statement="SELECT", text=f"Scan\n  {HOSTILE}", shape="Scan"),),
    ),
    QueryPlans(query="newest-per-device", problem=HOSTILE),
)
OCCURRENCES = (
    Occurrence(at_s=1.2, what="checkpoints"),
    Occurrence(at_s=4.1, what="checkpoints", count=2),
    Occurrence(at_s=4.4, what="waits for a free page", count=7),
)
FAILURES = (
    BatchFailures(second=2, what=Failed.LOST, count=1),
    BatchFailures(second=2, what=Failed.RETRIED, count=3),
    BatchFailures(second=3, what=Failed.RESTORED, count=1),
)


def run(workers, number=1, level=0, seconds=5.5, **changes):
    rows = [1000 - 10 * number] * int(seconds) + [300]
    sends = made.histogram(*[0.5 + 0.1 * n for n in range(200)], 40.0 + number)
    reports = [
        made.worker(
            index,
            rows=sum(rows),
            ended=10.0 + seconds,
            send_s=0.8 * seconds,
            rows_by_second=tuple(rows),
            latency=sends,
            failures=FAILURES if index == 1 else (),
        )
        for index in range(workers)
    ]
    found = made.outcome(*reports, **({"phases_s": PHASES, "occurrences": OCCURRENCES} | changes))
    return made.run(found, number=number, level=level)


def resources():
    used = Used(cores=0.5, memory_bytes=2**26)
    samples = [
        Sample(
            phase=phase,
            ended_s=100.0 + 2 * number,
            duration_s=2.0,
            machine_cores=1.5,
            machine_load=2.0,
            machine_memory_bytes=2**30,
            client=used,
            server=used,
        )
        for number, phase in enumerate(("before", "init", "insert", "insert", "compact", "after"))
    ]
    return Resources(server="postgres, process 7", samples=tuple(samples))


def insert(target="lite", counts=(1, 2, 4), **changes):
    runs = [run(count, number) for count in counts for number in (1, 2, 3)]
    runs[-1] = runs[-1].model_copy(update={"resources": resources()})
    options = {"workers": [*counts], "batch": 1000}
    return made.result(runs, **({"target": target, "configuration": options} | changes))


def steps(target="lite"):
    runs = [run(1, 1, level) for level in (0, 5000, 10_000)]
    return made.result(runs, target=target, configuration={"workers": [1], "steps": 3})


def times(name, wait_ms):
    waits_ns = [int(wait_ms * 1e6 * (1 + n / 50)) for n in range(50)]
    return QueryTimes(
        name=name,
        first_s=3 * wait_ms / 1000,
        runs=50,
        waits=encode_durations(waits_ns),
        wait_s=sum(waits_ns) / 1e9,
        client_s=sum(waits_ns) / 4e9,
        elapsed_s=sum(waits_ns) / 0.8e9,
        answers=50,
    )


def query(target="lite", counts=(1, 2), ramps=()):
    names = ("count-events", "newest-per-device")
    asked = tuple(times(name, 3.0 + 7 * n) for n, name in enumerate(names))
    verdicts = tuple(
        QueryVerdict(name=name, statement="SELECT '<b>'", tuned=False, verdict=VERIFIED)
        for name in names
    )
    runs = []
    for count in counts:
        workers = [made.worker(index, rows=0, queries=asked) for index in range(count)]
        found = made.outcome(*workers, queries=verdicts, plans=PLANS, ramps=ramps, size_bytes=None)
        runs.append(made.run(found).model_copy(update={"metrics": None}))
    options = {"workers": [*counts], "ramp_limit_s": 0.1 if ramps else None}
    return made.result(runs, kind="query", target=target, configuration=options)


def ramp():
    found = [
        RampStep(workers=n, runs=9, wait_ms_avg=20.0 * n, queries_per_s=50.0) for n in range(1, 7)
    ]
    ramps = [
        QueryRamp(query=name, workers=6, end=RampEnd.LIMIT, wait_ms_avg=120.0, steps=tuple(found))
        for name in ("count-events", "newest-per-device")
    ]
    return query(counts=(6,), ramps=tuple(ramps))


def verify():
    checks = (Check(name="events: count", expected="9", found="8", ok=False),)
    wrong = Verdict(status=Status.MISMATCH, reason="events: count", checks=checks)
    checked = made.run(made.outcome(verdict=wrong)).model_copy(update={"metrics": None})
    return made.result([checked], kind="verify")


def every() -> list[Result]:
    """Return a result of each kind, two targets, one of them with a name that is markup."""
    found = [
        insert(warnings=["4 workers share 2 cores; use fewer workers"]),
        insert(HOSTILE),
        steps(),
        query(),
        query(HOSTILE, counts=(2,)),
        ramp(),
        verify(),
        made.result([], target="gone", status="failed", cause="<i>disk full</i>"),
    ]
    return [
        each.model_copy(update={"created": each.created + timedelta(minutes=number)})
        for number, each in enumerate(found)
    ]


def repeats(number=3, slower_by=0, **changes):
    """Return repeats of an insert, the later ones slower."""
    return [
        insert(
            counts=(1,),
            created=insert().created + timedelta(hours=each),
            configuration={"workers": [1], "batch": 1000, "start_ms": 1000 * each},
            **changes,
        ).model_copy(update={"runs": [run(1, 1 + slower_by * each)]})
        for each in range(number)
    ]


def named(results):
    """Return results with the files that they would have."""
    return [(Path(f"{number}.json"), result) for number, result in enumerate(results)]
