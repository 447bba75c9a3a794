"""`verify`: compare what is stored with what an insert left, at any later time."""

import click

from cli.files.prepare import reopened
from cli.options.basic import Command, option
from cli.options.choice import Choice, TargetRun, common_options
from cli.options.declared import options_of
from cli.planning import plan
from cli.planning.options import Stored
from cli.running.launch import conclude, start
from cli.running.stored import inserted
from simulator.errors import ConfigError
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import VerifyMode

_EXAMPLES = """\b
Examples:
  python run.py verify --target sqlite
  python run.py verify -t postgresql --dataset results/20261122T0900...json --verify counts
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@options_of(Stored)
@option(
    "--verify",
    type=click.Choice([VerifyMode.COUNTS.value, VerifyMode.FULL.value]),
    default=VerifyMode.FULL.value,
    show_default=True,
    help="counts: rows, sums, minima, maxima, distinct keys; full: every row as well.",
)
def verify(*, choice: Choice, run: TargetRun, options: Stored, verify: str) -> None:
    """Compare what a target stores with what an insert left.

    Run it at any time after an insert: after a restart, a failover or an upgrade of the database.
    No row is written. Exit code 0: every row is stored, exactly once and unchanged; 3: it is not.
    After an insert that was killed: 1 if only some of its rows are stored, 3 if any other row is.
    """
    problems: list[str] = []
    found = choice.resolve(choice.extra_options(problems), problems)
    if problems or not found:
        raise ConfigError(problems)
    plan.expect_stored(found, verify)
    stored = inserted(run, found, choice, options.dataset)
    with reopened(stored.dataset, quiet=run.quiet) as asked:
        sweep = start(Kind.VERIFY, found, run.output, asked)
        planned = plan.verify_run(
            sweep.result.sweep_id,
            found,
            asked,
            complete=stored.complete,
            mode=VerifyMode(verify),
            timeout_s=run.timeout_s,
        )
        sweep.result.configuration = {
            "rows" if stored.complete else "rows_at_most": asked.rows,
            "workload": asked.workload,
            "seed": asked.seed,
            "verify": verify,
            "timeout_s": run.timeout_s,
        }
        conclude(sweep, [planned], choice, run)
