"""Ctrl-C: the first asks, the second stops at once, and the handlers are given back."""

import signal

import pytest

from iotbench.machine.interrupts import caught_interrupts
from simulator.errors import Interrupted

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT]


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


def test_nothing_was_asked_at_first():
    with caught_interrupts() as interrupts:
        assert not interrupts.requested


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_only_asks(number):
    with caught_interrupts() as interrupts:
        signal.raise_signal(number)

        assert interrupts.requested


@pytest.mark.parametrize("number", SIGNALS)
def test_the_second_signal_stops_at_once(number):
    with caught_interrupts():
        signal.raise_signal(signal.SIGINT)

        with pytest.raises(Interrupted, match=f"stopped at once by {number.name}") as error:
            signal.raise_signal(number)

    assert error.value.exit_code == 130


def test_the_signals_are_given_back():
    before = handlers()
    with caught_interrupts():
        during = handlers()

    assert handlers() == before
    assert not set(during) & set(before)


def test_the_signals_are_given_back_after_an_error():
    before = handlers()
    with pytest.raises(KeyError), caught_interrupts():
        raise KeyError

    assert handlers() == before
