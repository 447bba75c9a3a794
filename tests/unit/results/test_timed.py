"""The client's share of queries and changes, of which the driver's part is known."""

import pytest

from iotbench.results.timed import time_change, time_query
from simulator.load.durations import encode_durations
from simulator.protocol.messages import ChangeTimes, QueryTimes

WAITS = {"waits": encode_durations([800_000_000] * 2), "wait_s": 1.6, "client_s": 0.4}


@pytest.mark.parametrize(
    ("cpu_s", "client", "driver"), [(1.2, 0.6, 0.4), (0.1, 0.2, 0.0), (0.0, 0.2, None)]
)
def test_what_the_driver_computes_is_the_clients_and_shown_apart(cpu_s, client, driver):
    """0 s: the database is in the client's process."""
    asked = QueryTimes(
        name="q", first_s=1.0, runs=2, **WAITS, cpu_s=cpu_s, elapsed_s=2.0, answers=1
    )
    changed = ChangeTimes(name="c", count=2, **WAITS, cpu_s=cpu_s, started_s=10.0, ended_s=12.0)

    for metrics in (time_query([asked]).metrics, time_change([changed], 1).metrics):
        assert metrics.client_share == pytest.approx(client)
        assert metrics.driver_share == pytest.approx(driver)
