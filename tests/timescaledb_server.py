"""A TimescaleDB server for the tests, until `make servers` provides one."""

import os
from pathlib import Path

import pytest

from tests.servers import Postgres


class Timescaledb(Postgres):
    """PostgreSQL with the extension preloaded; its programs are in $BENCH_TIMESCALEDB."""

    def __init__(self, **settings: str) -> None:
        if "BENCH_TIMESCALEDB" not in os.environ:
            pytest.skip("BENCH_TIMESCALEDB names no folder of PostgreSQL with TimescaleDB")
        super().__init__(shared_preload_libraries="timescaledb", **settings)
        self._programs = Path(os.environ["BENCH_TIMESCALEDB"])
