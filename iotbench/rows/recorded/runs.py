"""The runs of an insert of records: each worker sends one part of the file. Pure."""

from collections.abc import Iterator
from itertools import pairwise

from iotbench.config.targets.config import Target
from iotbench.measurements.shared.options import InsertOptions
from iotbench.measurements.shared.plan import PlannedRun, clocking_of, spec_of
from iotbench.rows.recorded.prepare import Records
from simulator.data.dataset import Dataset
from simulator.data.ranges import parts_between
from simulator.protocol.spec import Insert, Work
from simulator.protocol.verdict import VerifyMode


def record_runs(  # noqa: PLR0913
    sweep_id: str,
    target: Target,
    options: InsertOptions,
    records: Records,
    level: VerifyMode,
    *,
    clean: bool,
    by: str,
) -> Iterator[PlannedRun]:
    """Yield the runs in order; without `clean` the first of them refuses tables that exist."""
    empty: Dataset = records.dataset.model_copy(update={"ranges": ()})
    number = 0
    for workers in options.workers:
        for run in range(1, options.repeats + 1):
            spec = spec_of(
                Work.INSERT,
                (sweep_id, f"{workers}-{run}"),
                target,
                empty,
                by=by,
                workers=_shares(records, workers),
                records=records.file,
                batch_rows=options.batch,
                clocking=clocking_of(options),
                retry_s=options.retry_for_s,
                clean=clean or number > 0,
                replace_tables=options.replace_tables,
                setup=options.setup.statements if options.setup else (),
                teardown=options.teardown.statements if options.teardown else (),
                verify=level,
                timeout_s=options.timeout_s,
            )
            number += 1
            yield PlannedRun(spec, run, 0)


def _shares(records: Records, workers: int) -> tuple[Insert, ...]:
    """Return the part of each worker, and the rows in it."""
    tasks = []
    for (start, *before), (stop, *after) in pairwise(records.scanned.edges[workers]):
        rows = [
            part
            for place, low, high in zip(records.scanned.tables, before, after, strict=True)
            for part in parts_between(
                [item for item in records.dataset.ranges if item.table == place], low, high
            )
        ]
        tasks.append(Insert(timed=tuple(rows), span=(start, stop)))
    return tuple(tasks)
