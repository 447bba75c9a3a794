"""What a run used stands in one line."""

from iotbench.figures.resources import measure_used
from iotbench.machine.resources import AFTER, BEFORE, Resources, Sample, Used


def sample(phase, cores, duration_s=2.0, server=None, load=1.0):
    return Sample(
        phase=phase,
        ended_s=0.0,
        duration_s=duration_s,
        machine_cores=cores,
        machine_load=load,
        machine_memory_bytes=1 << 30,
        client=Used(cores=cores / 2, memory_bytes=int(cores * 100) << 20),
        server=server and Used(cores=server, memory_bytes=int(server * 1000) << 20),
    )


def test_the_timed_phase_stands_beside_the_machine_at_rest():
    samples = (
        sample(BEFORE, 0.1, load=0.5),
        sample("insert", 1.0, 3.0, server=1.0, load=1.5),
        sample("insert", 2.0, 1.0, server=2.0, load=2.5),
        sample("verify", 9.0, server=9.0),
        sample(AFTER, 0.2, load=2.0),
    )

    assert measure_used(Resources(server="postgres, process 7", samples=samples), "insert") == (
        "server postgres, process 7, 1.25 cores, at most 2,000 MiB; client 0.62 cores, at most 200"
        " MiB; machine 1.25 cores, load 2.5; 0.10 cores, load 0.5 at rest before; 0.20 cores, load"
        " 2.0 at rest after"
    )


def test_a_server_that_was_not_measured_has_its_reason():
    found = Resources(server="not measured: on another host", samples=(sample("insert", 1.0),))
    failed = Resources(server="not measured: on another host", samples=())

    assert measure_used(found, "insert").startswith(
        "server not measured: on another host; client 0.50"
    )
    assert measure_used(found.model_copy(update={"machine": "node a"}), "insert").endswith(
        "; node a 1.00 cores, load 1.0"
    )
    assert measure_used(failed, "insert") == "server not measured: on another host"


def test_pods_that_were_not_measured_in_a_short_phase_have_the_reason():
    rest = sample(BEFORE, 0.5, load=None).model_copy(update={"client": None})
    short = Resources(server="pod db", short_phases="too short", samples=(rest,))

    assert measure_used(short, "insert") == (
        "server pod db; 0.50 cores at rest before; not all was measured: too short"
    )
