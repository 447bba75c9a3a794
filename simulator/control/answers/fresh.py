"""Judges the answers about fresh rows of a run, and how soon rows were seen in them."""

from collections.abc import Iterator

from simulator.control.answers.arrivals import Arrivals
from simulator.data.dataset import DatasetReader
from simulator.data.fresh import FreshType
from simulator.data.query import AggregateQuery
from simulator.errors import RunError, counted
from simulator.modules.contract import Database, Unsupported
from simulator.protocol.events import Freshness, QueryVerdict
from simulator.protocol.sketch import counts_of, pairs_of
from simulator.protocol.spec import RunSpec
from simulator.protocol.verdict import Check, Status, Verdict
from simulator.verify.fresh.answers import FreshOutcome, check
from simulator.verify.fresh.arriving import (
    AnswerLog,
    ArrivingRows,
    TimedBatches,
    select_stored_since,
)


def judge_fresh(
    spec: RunSpec, database: Database, arrivals: Arrivals
) -> tuple[tuple[QueryVerdict, ...], tuple[Freshness, ...]]:
    """Return the verdict on each query, and how soon rows were seen in those that count them."""
    reader = DatasetReader(spec.dataset)
    try:
        stored = select_stored_since(reader, spec.dataset, spec.load.until_ms or 0)
        rows = ArrivingRows(reader, TimedBatches.of(arrivals.sent(), stored))
        verdicts, freshness = [], []
        for name, fresh_type in spec.fresh_types.items():
            try:
                statement = database.statement(fresh_type.since(spec.load.until_ms or 0))
            except Unsupported as error:
                verdict = Verdict(status=Status.UNKNOWN, reason=f"not supported: {error}")
                verdicts.append(QueryVerdict(name=name, statement="", tuned=False, verdict=verdict))
                continue
            parts = (AnswerLog.of(part, fresh_type) for part in arrivals.answers(name))
            found = check(rows, fresh_type, parts, promised=not database.late)
            verdicts.append(
                QueryVerdict(
                    name=name,
                    statement=statement.text,
                    tuned=False,
                    verdict=Verdict.of([*_checks(name, found, database.late)]),
                    answers=found.answers,
                )
            )
            if isinstance(fresh_type.query, AggregateQuery):
                freshness.append(_freshness(name, found, rows, reader, fresh_type))
    except ValueError as error:
        raise RunError(
            f"what a worker has reported of fresh rows cannot be read: {error}"
        ) from error
    return tuple(verdicts), tuple(freshness)


def _checks(name: str, found: FreshOutcome, late: str) -> Iterator[Check]:
    seen = "sent until then" if late else "acknowledged before and sent until then"
    yield Check(
        name=f"{name}: answers",
        expected=f"{counted(found.answers, 'answer')} between what was {seen}",
        found=f"{found.right:,}",
        ok=found.right == found.answers,
    )
    for wrong in found.wrong:
        yield Check(name=name, expected=wrong.expected, found=wrong.found, ok=False)


def _freshness(
    name: str, found: FreshOutcome, rows: ArrivingRows, reader: DatasetReader, fresh_type: FreshType
) -> Freshness:
    seen, unseen = found.delays(rows, reader.place(fresh_type.query.table))
    return Freshness(
        query=name,
        rows=int(seen.rows.sum()),
        unseen_rows=int(unseen.rows.sum()),
        delays=pairs_of(counts_of(*seen)),
        unseen=pairs_of(counts_of(*unseen)),
    )
