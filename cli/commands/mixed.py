"""`mixed`: inserts and queries at the same time on one target, both timed, both verified."""

import click

from cli.compare.thresholds import Scope
from cli.live.outputs import Outputs
from cli.options.basic import Command
from cli.options.choice import Choice, TargetRun, common_options
from cli.options.declared import options_of
from cli.options.gates import Gates, gate_options
from cli.options.live import live_options
from cli.planning.mixed_plan import option_problems
from cli.planning.query_options import MixedOptions
from cli.running.launch import conclude
from cli.running.stored import inserted
from cli.running.sweeps import mixed_sweep
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py mixed --target sqlite --duration 30s
  python run.py mixed -t postgresql --insert-workers 4 --batch 1000 --insert-rate 50k \\
      --query-workers 2 --query-rate 20 --types '*-host-1-hr'
  python run.py mixed -t timescaledb --mix insert=80,query=20 --rate 100 --batch 1000
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@gate_options
@live_options
@options_of(MixedOptions)
def mixed(
    *, choice: Choice, run: TargetRun, gates: Gates, outputs: Outputs, options: MixedOptions
) -> None:
    """Insert rows and ask queries at the same time.

    Run `insert` first, and leave rows to insert: with a workload that has an end, by --limit. Some
    workers add the rows that follow, also in time; others ask the workload's queries in turn, each
    once before the clock starts. Every query ends where the new rows begin, so its answer does not
    change while rows are added, and is compared with the truth. Afterwards the stored rows are
    verified as after an insert; `insert --no-clean` and `mixed` continue them.

    With --runs, each run continues the rows of the one before.

    Types that a database cannot ask with an end of time are left out, with the reason.
    """
    problems: list[str] = []
    found = choice.resolve(choice.extra_options(problems), problems)
    options = options.decided(run.timeout_s)
    problems += option_problems(options)
    gates.parsed(Scope({"load"}, workers=()), problems)
    outputs.check(problems)
    if problems or not found:
        raise ConfigError(problems)
    stored = inserted(run, found, choice, options.dataset)
    sweep, planned = mixed_sweep(
        found, run.output, options, stored, force=run.force, quiet=run.quiet
    )
    conclude(sweep, planned, choice, run, measured=options.resources, gates=gates, outputs=outputs)
