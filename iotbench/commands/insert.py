"""`insert`: insert rows with several worker counts and measure the rate."""

from functools import partial

import click

from iotbench.commands.several import insert_into_several
from iotbench.comparison.thresholds import Scope
from iotbench.config.input.parameters import is_end, option_of
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import Choice, TargetRun, target_options
from iotbench.config.options.declared import options_of
from iotbench.config.targets.config import Target
from iotbench.execution.collector import scan_in_pod
from iotbench.execution.launch import conclude, sweep_of
from iotbench.execution.stored import find_continued
from iotbench.machine.machine import this_machine
from iotbench.measurements import kind_named
from iotbench.measurements.insert.options import BARE_S, InsertOptions, default_workers
from iotbench.measurements.insert.workload_file import class_of
from iotbench.measurements.shared.stages import stage_conflicts
from iotbench.output.live.outputs import Outputs
from iotbench.plans.gates import Gates
from iotbench.results import result_files
from iotbench.results.result import Manifest
from iotbench.rows.files.request import FileRows
from iotbench.rows.sources import Source, source_of
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py insert --target sqlite --workers 1,2 --batch 1000
  python run.py insert -t sqlite:a.db,duckdb:b.duckdb --batch 1000 --num-inserts 200k
  python run.py insert -t postgresql -w 16 --num-inserts 3125000 --batch 1000 --steps 10
  python run.py insert -t postgresql --stages 1:1m,8@5k:5m --batch 1000
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@target_options(several=True, writes=True)
@options_of(TargetRun, "run")
@options_of(Gates, "gates")
@options_of(Outputs, "outputs")
@options_of(InsertOptions)
@options_of(FileRows, "file")
def insert(  # noqa: PLR0913
    *,
    choice: Choice,
    run: TargetRun,
    gates: Gates,
    outputs: Outputs,
    options: InsertOptions,
    file: FileRows,
) -> None:
    """Insert rows and measure how fast they are acknowledged.

    Each worker count runs --runs times, each time on empty tables. After every run the stored rows
    are compared with the rows that were sent. The same --seed and --start-time give the same rows
    on every target. With --data the rows come from a file: each is inserted once, and the workers
    share them.

    Several targets, as in -t sqlite,duckdb, are compared with the first one. Each gets the same
    rows in turns, forwards and backwards: 3 times, and up to 12 while a difference is neither known
    nor noise; or --runs times. The last line names the page with all pictures.

    Numbers may be written 1000, 1_000, 1e3, 10k or 2.5M; durations 30s, 5m or 1h30m; worker counts
    1,4,8 or 1-4.
    """
    if len(choice.targets) > 1:
        insert_into_several(choice, run, gates, options, outputs, others=[*file.given])
        return
    given = {**options.given, **file.given}
    source = source_of(file, given, run, partial(scan_in_pod, choice.reach, run))
    problems = [*source.conflicts(), *stage_conflicts(options.stages, given)]
    target = choice.resolve(problems)
    starts = options.start_ms is not None
    options = _decide(options, source, target, problems)
    kind = kind_named("insert")
    problems += kind.problems(options)
    subject = kind.subject(dict(options))
    gates.parse(Scope((subject,), workers=options.active, queries=()), problems)
    outputs.check(problems)
    problems += source.check(options, target)
    if problems or not target:
        raise ConfigError([*dict.fromkeys(problems)])
    kind.expect(options, target)  # before a large file is read
    with source.open(options, target) as rows:
        if rows is None:
            return
        before = Manifest.of(rows.empty(options), complete=True)
        if not options.clean:
            before = find_continued(before.dataset, run, target, choice.reach, starts=starts)
            options = options.model_copy(update={"start_ms": before.dataset.start_ms})
        sweep = sweep_of(kind, target, run, options, before, rows=rows)
        conclude(sweep, choice.reach, run, gates, outputs)


def _decide(
    options: InsertOptions, source: Source, target: Target | None, problems: list[str]
) -> InsertOptions:
    """Return the options with the defaults that depend on target, source and time."""
    ends = [name for name in options.params if is_end(name)]
    if options.clean or options.start_ms is not None:
        ends = []
    problems += [
        f"{option_of(name)}: give --start-time as well, that of the insert which --no-clean"
        " continues"
        for name in ends
    ]
    is_local = target is None or target.runner == "local"
    has_end = bool(source.file.data) or class_of(options.workload).has_end
    return options.decide(
        target.open().capabilities if target else None,
        result_files.now_ms(),
        workload=source.workload or options.workload,
        params={name: each for name, each in options.params.items() if name not in ends},
        workers=options.workers or default_workers(this_machine().cores if is_local else None),
        at_most_s=BARE_S if options.is_bare and not has_end else 0.0,
    )
