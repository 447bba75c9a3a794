"""The options of workloads: what each means, and its default, for every workload that has it."""

import click

from iotbench.commands.main import commands


def help_of(option):
    (found,) = (p for p in commands.commands["insert"].params if option in p.opts)
    assert isinstance(found, click.Option)
    return found.help


def test_an_option_is_described_for_each_workload_that_has_it():
    scale = help_of("--scale")
    assert "Hosts.  [devops" in scale
    assert "Homes.  [homes; default: 1]" in scale
    assert "gauges reach" in help_of("--distribution")
    assert "values begin" in help_of("--distribution")


def test_a_default_is_that_of_the_workload():
    interval = help_of("--interval")
    assert interval.startswith("From one point to the next.  [devops")
    assert "default: 10s]" in interval
    assert "[homes; default: 60s]" in interval
    assert interval.count("From one point") == 1
    assert "homes, trucks; default: 24h after the start]" in help_of("--end")
