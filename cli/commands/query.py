"""`query`: run the workload's queries, time them, and verify the answers."""

import click

from cli.compare.thresholds import Scope
from cli.files.prepare import reopened
from cli.live.outputs import Outputs
from cli.options.basic import Command
from cli.options.choice import Choice, TargetRun, common_options
from cli.options.declared import options_of
from cli.options.gates import Gates, gate_options
from cli.options.live import live_options
from cli.planning.query_options import QueryOptions
from cli.planning.stages import stage_conflicts
from cli.running.launch import conclude
from cli.running.stored import Stored, inserted
from cli.running.sweeps import query_sweep
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py query --target sqlite
  python run.py query -t postgresql -w 4 -r 5 --types count-events,newest-per-device
  python run.py query -t influxdb -w 1,2,4 --types '*-host-1-hr' --count 1000 --burn-in 10
  python run.py query -t sqlite --queries queries.yaml
  python run.py query -t postgresql --types newest-per-device --stages 1:1m,8:5m
  python run.py query -t timescaledb -w 64 --types 1-host-1-hr --ramp --response-limit 50ms
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@gate_options
@live_options
@options_of(QueryOptions)
def query(
    *, choice: Choice, run: TargetRun, gates: Gates, outputs: Outputs, options: QueryOptions
) -> None:
    """Time the workload's queries and verify every answer.

    Run `insert` first: it writes the rows. Each worker runs each query once, which is timed apart
    as the first answer, and then --runs times. Timed is the wait for the database until every row
    of the answer is there; what this program does with the answer is shown as the client's share.
    Queries with random parameters (hosts, windows of time) ask something else in each run; the same
    seed asks the same. Afterwards each answer is compared with the truth, which is computed from
    the rows themselves.

    With --ramp a growing number of workers asks each query, up to --workers: how many can the
    database answer within the response limit?
    """
    problems: list[str] = []
    extra = choice.extra_options(problems)
    more = tuple(filter(None, extra.pop("queries", "").split(",")))
    found = choice.resolve(extra, problems)
    problems += stage_conflicts(options.stages, options.given)
    options = options.decided(run.timeout_s, types=options.types or more)
    gates.parsed(Scope({"query"}, workers=options.active), problems)
    outputs.check(problems)
    if problems or not found:
        raise ConfigError(problems)
    stored = inserted(run, found, choice, options.dataset)
    if options.seed not in (None, stored.dataset.seed):
        raise ConfigError(
            f"--seed: the data was inserted with seed {stored.dataset.seed}, got {options.seed}"
        )
    with reopened(stored.dataset, quiet=run.quiet) as asked:
        sweep, planned = query_sweep(
            found, run.output, options, Stored(asked, stored.complete),
            force=run.force, quiet=run.quiet,
        )  # fmt: skip
        conclude(
            sweep.on(options, choice.environment), planned, choice, run,
            measured=options.resources, gates=gates, outputs=outputs,
        )  # fmt: skip
