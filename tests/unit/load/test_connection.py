"""The first connection of a worker: tried again for a while, since the collector had one."""

import threading
import time

import pytest

from simulator.errors import SetupError
from simulator.load.connecting import Stopped, connect
from simulator.modules.null import Null


class Refusing(Null):
    """Refuses the first connections."""

    def __init__(self, times):
        super().__init__(Null.options_model())
        self.times = times

    def connect(self):
        self.times -= 1
        if self.times >= 0:
            raise SetupError(f"connection reset, {self.times} left")
        return super().connect()


def test_a_connection_that_is_refused_at_first_is_opened():
    with connect(Refusing(2), threading.Event(), time.monotonic) as session:
        assert session.alive


def test_the_last_error_is_raised_after_the_time_of_the_database(monkeypatch):
    monkeypatch.setattr(Refusing, "reconnect_s", 0.2)
    began_s = time.monotonic()

    with pytest.raises(SetupError, match="connection reset"):
        connect(Refusing(1000), threading.Event(), time.monotonic)

    assert time.monotonic() - began_s >= 0.2


def test_the_end_of_the_run_is_noticed_meanwhile():
    stop = threading.Event()
    stop.set()

    with pytest.raises(Stopped):
        connect(Refusing(1000), stop, time.monotonic)
