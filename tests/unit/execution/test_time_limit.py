"""`--stop-after`: no item is begun that would end too late."""

from types import SimpleNamespace

from iotbench.execution.measure import TimeLimit
from iotbench.measurements.insert.options import Insert

INSTANT = [0.0]


def item(**options):
    return SimpleNamespace(setting=SimpleNamespace(inserting=Insert(**options)))


def limit(limit_s):
    INSTANT[0] = 0.0
    return TimeLimit(limit_s, lambda: INSTANT[0])


def test_without_a_limit_everything_is_begun():
    found = limit(0.0)
    INSTANT[0] = 1e9
    assert found.allows(item(duration=100))
    assert found.left == 0


def test_an_item_takes_at_least_its_own_time():
    found = limit(100.0)
    assert found.allows(item(duration=60, warmup_until_steady=40))
    INSTANT[0] = 1.0
    assert not found.allows(item(duration=60, warmup_until_steady=40))
    assert found.allows(item(duration=60, warmup=39))
    assert found.left == 1


def test_an_item_may_take_as_long_as_the_longest_before():
    found = limit(100.0)
    assert found.allows(item())
    found.note(30.0)
    found.note(10.0)
    INSTANT[0] = 71.0
    assert not found.allows(item())
