"""The options of workloads: what each means, and its default, for every workload that has it."""

import click

from iotbench.commands.main import commands


def help_of(option):
    (found,) = (p for p in commands.commands["insert"].params if option in p.opts)
    assert isinstance(found, click.Option)
    return found.help


def test_an_option_is_described_for_each_workload_that_has_it():
    scale = help_of("--scale")
    assert "Number of hosts.  [devops" in scale
    assert "Number of homes.  [homes; default: 1]" in scale
    assert "gauges reach" in help_of("--distribution")
    assert "values begin" in help_of("--distribution")


def test_a_default_is_that_of_the_workload():
    interval = help_of("--interval")
    assert interval.startswith("Time between two points of a series.  [devops")
    assert "default: 10s]" in interval
    assert "[homes; default: 60s]" in interval
    assert interval.count("Time between two points") == 1
    assert "homes, trucks; default: 24h after the start]" in help_of("--end")
