"""`verify`: compare the stored rows with the rows of an insert, at any later time."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from iotbench.config.input.options import Opt
from iotbench.config.targets.config import Target
from iotbench.figures.rows import Place, Row
from iotbench.figures.summary import Subject
from iotbench.measurements.shared.kind import Kind, Planned
from iotbench.measurements.shared.options import OfInsert
from iotbench.measurements.shared.plan import PlannedRun, Wanted, expect_stored
from iotbench.results.result import Result, RunRecord
from simulator.protocol.spec import Work
from simulator.protocol.verdict import Status, VerifyMode

_STATUS = {True: Status.VERIFIED, False: Status.MISMATCH, None: Status.UNKNOWN}


def rows_by_check(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each check of each run."""
    for run in runs:
        for check in run.outcome.verdict.checks if run.outcome.verdict else ():
            status = _STATUS[check.ok].value
            place = Place(check=check.name)
            yield Row(place, 1, {}, status, expected=check.expected, found=check.found)


CHECK = Subject("check", "Check", rows_by_check, is_named=True)


class VerifyOptions(OfInsert):
    """The options of `verify`."""

    GROUP: ClassVar[str] = "Other options"

    verify: Annotated[VerifyMode, Opt(choices=("counts", "full"))] = VerifyMode.FULL
    """counts: rows are counted, and sums, minima, maxima and distinct keys are compared; full: in
    addition, every row is compared."""


class VerifyKind(Kind[VerifyOptions]):
    """The collector compares the stored rows with the rows of an insert; there are no workers."""

    name = "verify"
    work = Work.VERIFY
    subjects = (CHECK,)
    options = VerifyOptions
    help = """Compare the stored rows with the rows of an insert.

    Run it at any time after an insert: after a restart, a failover or an upgrade of the database.
    No row is written. Exit code 0: every row is stored, exactly once and unchanged; 3: it is not.
    After an insert that was killed: 1 if only some of its rows are stored, 3 if any other row is.
    """
    examples = (
        "verify --target sqlite",
        "verify -t postgresql --dataset results/20261122T0900...json --verify counts",
    )

    def expect(self, options: VerifyOptions, target: Target) -> None:
        expect_stored(target, options.verify.value)

    def plan(self, wanted: Wanted[VerifyOptions]) -> Planned:
        options, stored = wanted.options, wanted.stored
        spec = wanted.spec(
            Work.VERIFY, "v", stored.dataset,
            clean=False, verify=options.verify,
        )  # fmt: skip
        return Planned(
            [PlannedRun(spec, 1, stored.dataset.rows)],
            {
                "rows" if stored.complete else "rows_at_most": stored.dataset.rows,
                "workload": stored.dataset.workload,
                "seed": stored.dataset.seed,
                "verify": options.verify.value,
            },
        )

    def outline(self, planned: Sequence[PlannedRun], last: Result | None) -> Iterator[str]:
        yield f"verification: {planned[0].spec.verify}"


KIND = VerifyKind()
