"""The warm-up until the rate was steady, in words."""

import pytest

from iotbench.measurements import kind_named
from simulator.protocol.messages import WARMUP
from tests.unit.output.terminal import made


def warmup(*lengths_s):
    runs = [
        made.run(made.outcome(phases_s={WARMUP: each, "insert": 5.0}, steady=True), number=number)
        for number, each in enumerate(lengths_s, 1)
    ]
    given = made.result(runs, configuration={"warmup_until_steady_s": 60.0})
    (text,) = (text for name, text in kind_named("insert").facts(given) if name == "warm-up")
    return text.partition(" until")[0]


@pytest.mark.parametrize("longest_s", range(13, 29))
def test_the_shortest_warmup_comes_first(longest_s):
    assert warmup(longest_s, 12.0) == f"12 s to {longest_s} s"


def test_equal_warmups_are_one_length():
    assert warmup(12.1, 11.9) == "12 s"
