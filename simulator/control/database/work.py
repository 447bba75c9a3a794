"""The collector's work on the database, before the workers start and after the clock stops."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from simulator.control.answers.fresh import Arrivals, judge_fresh
from simulator.control.answers.judge import Answers, Judge
from simulator.control.database.background import BackgroundWatch
from simulator.control.database.ownership import Ownership
from simulator.control.database.query_plans import explain_queries
from simulator.control.database.refusal import (
    explain_count,
    explain_gone,
    explain_harm,
    explain_intruders,
    explain_unfinished,
)
from simulator.control.journal import TablesPrepared
from simulator.data.query import count_rows
from simulator.data.ranges import RowRange, sum_rows
from simulator.data.reader import DatasetReader
from simulator.errors import (
    BenchError,
    ConfigError,
    InUseError,
    MismatchError,
    RunError,
    SetupError,
    counted,
)
from simulator.modules.contract import MISSING, Database
from simulator.protocol.events import Freshness, QueryPlans, QueryVerdict, Server
from simulator.protocol.mark import Mark, State
from simulator.protocol.messages import WorkerReport
from simulator.protocol.spec import InsertTask, RunSpec, Work
from simulator.protocol.verdict import Check, Status, Verdict, VerifyMode
from simulator.verify.stored.accounting import Unsettled, verify_interrupted
from simulator.verify.stored.checks import list_gone
from simulator.verify.stored.comparison import verify
from simulator.verify.stored.statistics import one_row
from simulator.verify.truth.needed import SharedFolding, fold_alone, names_of_tables

_RESOLVED = (Status.VERIFIED, Status.MISMATCH)
"""Verdicts that decide for each uncertain row whether it is stored."""

_MOST_UNCERTAIN = 1 << 27
"""Maximum number of uncertain rows of an insert; with more, all its rows are uncertain."""

EnterPhase: TypeAlias = Callable[[str], None]


class DatabaseWork:
    """The collector's work on the database in one run, and its results."""

    def __init__(
        self,
        spec: RunSpec,
        database: Database,
        enter: EnterPhase,
        fold: SharedFolding = fold_alone,
    ) -> None:
        self._spec = spec
        self._fold = fold
        self._database = database
        self._enter = enter
        self._reader = DatasetReader(spec.dataset)
        self.ownership = Ownership(spec, database, self._reader.tables)
        self._is_set_up = False
        """True if the tables are created, and not yet torn down."""
        self.touched = False
        """True if tables were dropped or created."""
        self.server: Server | None = None
        self.verdict: Verdict | None = None
        self.rows_verdict: Verdict | None = None
        """Verdict on the rows alone, if queries were asked during the writes."""
        self.queries: tuple[QueryVerdict, ...] = ()
        self.plans: tuple[QueryPlans, ...] = ()
        self.freshness: tuple[Freshness, ...] = ()
        self.size_bytes: int | None = None
        self.size_before_bytes: int | None = None
        """Size before stored rows were changed."""
        self.complete = False
        """True if every row of an insert is known to be stored, or was acknowledged."""
        self.found_marks: tuple[Mark, ...] = ()
        self.background = BackgroundWatch(database)

    def prepare(self) -> None:
        """Create the tables, or check that they hold the rows that the run needs."""
        spec, database, tables = self._spec, self._database, self._reader.tables
        self.server = described = self._inspect()
        indexes = bool(spec.asks and spec.options.get("create_indices"))
        if spec.work.writes or indexes:
            self.ownership.expect_alone(self._enter)
            self.ownership.expect_ours()
        if spec.inserts and not spec.dataset.ranges:
            self._create()
            self._is_set_up = True
            if spec.setup:
                self._enter("setup")
                self._carry_out("--setup", spec.setup)
            if spec.setup or not described.durable:  # durability may depend on the tables
                self.server = self._describe_stored(database.inspect())
        elif database.capabilities.stores and spec.work is not Work.VERIFY:
            self._expect_rows()
            self.server = self._describe_stored(described)
        if spec.changes:
            self.size_before_bytes = database.size_bytes(tables)
            self.ownership.record(State.CHANGING)
            self.touched = True
        elif spec.inserts:
            self.ownership.record(State.WRITING)
        if indexes:
            self._enter("index")
            database.create_indices(tables)
        if spec.workers:
            self.background.start()

    def _inspect(self) -> Server:
        """Return facts about the server; ConfigError if another process has the database open."""
        try:
            return self._database.inspect()
        except InUseError as error:
            raise ConfigError(f"{error}; nothing was changed") from error

    def _describe_stored(self, facts: Server) -> Server:
        """Return the facts about a server that apply to the tables of this run."""
        own = self._database.describe_stored(facts, self._reader.tables)
        return own or (_doubt(facts) if self._spec.setup else facts)

    def _create(self) -> None:
        spec = self._spec
        self.touched |= spec.clean
        try:
            if spec.clean:
                self.ownership.clear()
            self.ownership.intend()
            signed = [replace(table, signed=True) for table in self._reader.tables]
            self._database.create(signed, spec.batch_rows)
        except Exception:
            self.ownership.withdraw()
            raise
        self.touched = True

    @property
    def prepared(self) -> TablesPrepared:
        """The state that another collector needs to continue from here."""
        return TablesPrepared(
            server=self.server,
            touched=self.touched,
            is_set_up=self._is_set_up,
            size_before_bytes=self.size_before_bytes,
            known_marks=self.ownership.known,
        )

    def go_on(self, prepared: TablesPrepared) -> None:
        """Continue the work of a collector that has prepared the tables."""
        self.server, self.touched = prepared.server, prepared.touched
        self._is_set_up, self.size_before_bytes = prepared.is_set_up, prepared.size_before_bytes
        if self._spec.work.writes:
            self.ownership.go_on(prepared.known_marks)
        self.background.start()

    def tear_down(self) -> None:
        """Carry out the statements of --teardown once, if this run created the tables."""
        if self._spec.teardown and self._is_set_up:
            self._is_set_up = False
            self._carry_out("--teardown", self._spec.teardown)

    def _carry_out(self, option: str, statements: Sequence[str]) -> None:
        for number, statement in enumerate(statements, 1):
            try:
                self._database.carry_out(statement)
            except Exception as error:  # of any driver
                is_ours = isinstance(error, BenchError)
                cause = str(error) if is_ours else self._database.explain(error)
                which = f"{option}: statement {number} of {len(statements)}"
                raise SetupError(f"{which} failed: {cause}") from error

    def _expect_rows(self) -> None:
        """Raise an error with the reason if the tables do not hold the rows of the dataset."""
        mark, stored = self._expect_own(), 0
        try:
            with self._database.connect() as session:
                for table in self._reader.tables:
                    count = count_rows(table)
                    (rows,) = one_row(count, session.run(self._database.render(count)))
                    stored += int(rows)
        except Exception as error:
            if gone := list_gone(self._database, self._reader.tables):
                raise explain_gone(self._spec.target, mark, gone) from error
            raise
        expected = self._spec.dataset.rows
        if stored != expected:
            mark = self._expect_own(visible=True)
            raise explain_count(self._spec.target, mark, stored, expected)

    def _expect_own(self, *, visible: bool = False) -> Mark | None:
        """Return the mark of the expected rows; SetupError if other or only some rows are."""
        mark = self.ownership.find_mark(visible=visible)
        if self.ownership.is_interrupted(mark):
            raise explain_unfinished(self._spec.target, mark)
        return mark

    def read_marks(self) -> None:
        """Read the newest mark of each table."""
        self._database.inspect()  # raises the cause if the server cannot be reached
        self.found_marks = self.ownership.read().current

    def finish_insert(self, reports: Sequence[WorkerReport]) -> None:
        """Wait until all rows are visible, compact, measure the size, and verify the stored rows.

        RunError if no row was acknowledged in the measured part.
        """
        spec, database = self._spec, self._database
        self.background.finish()
        causes = [report.uncertain_cause for report in reports if report.uncertain_cause]
        if causes and not any(report.rows for report in reports):
            raise RunError(f"no row was acknowledged; the last error: {causes[-1]}")
        if spec.warmup_s and not any(report.rows > report.warmup_rows for report in reports):
            name = "--warmup-until-steady" if spec.clocking.warmup_until_steady_s else "--warmup"
            raise RunError(
                f"{name}: all rows"
                f" were inserted within its {spec.warmup_s:g} s, so nothing was measured; use a"
                " shorter warm-up, more rows, or --duration"
            )
        self._enter("visible")
        database.visible(self._reader.tables)
        self._enter("compact")
        database.compact(self._reader.tables)
        self.size_bytes = database.size_bytes(self._reader.tables)
        uncertain = [item for report in reports for item in report.uncertain]
        stored = spec.find_stored(reports)
        if spec.verify is VerifyMode.NONE:
            self.verdict = _leave_unverified(sum_rows(uncertain))
        else:
            self._enter("verify")
            fold = partial(self._fold, names_of_tables(self._reader.tables, database.row_hash))
            promised = bool(self.server and self.server.keeps_rows) if spec.fault else None
            found = verify(database, stored, uncertain, spec.verify, fold, promised=promised)
            self.verdict = self._name_intruders(found)
        known = spec.verify is not VerifyMode.ROWS
        self.complete = known and _is_complete(self.verdict, uncertain)
        if self.complete:
            self.ownership.record(State.COMPLETE, stored)
        else:  # a fault may have lost any row, so none is certain
            unclear = () if spec.fault or not known else uncertain
            self.ownership.record(State.INCOMPLETE, stored, unclear)

    def count_stored(self, reports: Sequence[WorkerReport]) -> None:
        """Find out which rows are stored after the loss of a worker.

        If a worker's report does not account for its rows, they may be stored or not.
        """
        spec = self._spec
        if spec.changes or not spec.inserts or spec.verify in (VerifyMode.NONE, VerifyMode.ROWS):
            return
        self._enter("verify")
        self._database.visible(self._reader.tables)
        known = {each.index: each for each in reports if self._accounts_for_rows(each)}
        ranges = [item for report in known.values() for item in report.uncertain]
        acknowledged = sum(r.rows + r.prefill_rows for r in reports if r.index not in known)
        sent = acknowledged + sum_rows(ranges)
        for index, task in enumerate(spec.workers):
            if isinstance(task, InsertTask) and index not in known:
                ranges += [*task.prefill, *task.timed]
        promised = not spec.fault or bool(self.server and self.server.keeps_rows)
        unsettled = Unsettled(tuple(ranges), acknowledged, sent, promised)
        found = verify_interrupted(self._database, spec.find_stored(known.values()), unsettled)
        self.verdict = self._name_intruders(found)

    def _accounts_for_rows(self, report: WorkerReport) -> bool:
        """Return whether each row that a worker has sent was acknowledged or is uncertain."""
        task = self._spec.workers[report.index]
        if report.is_lost or report.error or not isinstance(task, InsertTask):
            return False
        sent = task.timed if report.written is None else report.written
        known = report.rows + report.prefill_rows + sum_rows(report.uncertain)
        return known == sum_rows(sent) + sum_rows(task.prefill)

    def _name_intruders(self, verdict: Verdict) -> Verdict:
        """Return a mismatch that names the other inserts that explain it, if there are any."""
        if verdict.status is not Status.MISMATCH:
            return verdict
        if not (intruders := self.ownership.find_intruders()):
            return verdict
        reason = f"{explain_intruders(intruders)}: {verdict.reason}"
        return verdict.model_copy(update={"reason": reason})

    def verify_stored(self) -> None:
        """Verify the contents of the tables, without writing to them.

        An unfinished insert with all rows stored is marked as complete.
        """
        self._enter("verify")
        spec, mark = self._spec, self.ownership.find_mark()
        if mark is None and (gone := list_gone(self._database, self._reader.tables)):
            raise explain_gone(spec.target, mark, gone)
        if not self.ownership.is_interrupted(mark):
            self.verdict = verify(self._database, spec.dataset, (), spec.verify)
            if mark is None and self.verdict.status is Status.VERIFIED:
                self.ownership.adopt()
            if self.verdict.status is not Status.MISMATCH:
                return
            mark = self.ownership.find_mark(visible=True)
            if not self.ownership.is_interrupted(mark):
                return
        if mark and mark.state in (State.CLEARING, State.CHANGING):
            raise explain_unfinished(self._spec.target, mark)
        if mark and 0 < sum_rows(mark.uncertain) <= _MOST_UNCERTAIN:
            self.verdict = verify(self._database, spec.dataset, mark.uncertain, spec.verify)
        else:
            self.verdict = verify_interrupted(self._database, spec.dataset)
        if mark and self.verdict.status is Status.VERIFIED:
            self.ownership.confirm(mark)

    def explain_harm(self, why: str, *, prepared: bool) -> MismatchError | None:
        """Return the error for tables that another insert or something else has changed.

        Once the tables are `prepared`, this is whatever has changed those that `why` mentions.
        """
        if intruders := self.ownership.find_intruders():
            return MismatchError(f"{explain_intruders(intruders)}, so the data is wrong: {why}")
        if not prepared:
            return None
        database, tables = self._database, self._reader.tables
        harm = list_gone(database, tables) if MISSING in why else []
        with suppress(Exception):  # of any driver: `why` is the failure to report
            altered = [each for table in tables for each in database.find_altered(table)]
            harm += [
                Check(name=column, expected=before, found=kind, ok=False)
                for column, before, kind in altered
                if column.rpartition(".")[2] in why
            ]
        return explain_harm(self._spec.target, harm) if harm else None

    def finish_query(self, answers: Answers, arrivals: Arrivals) -> None:
        """Compare the answers to each query with the truth."""
        self.background.finish()
        load, every = self._spec.load, self._spec.query_types()
        if load.plans:
            self._enter("plans")
            self.plans = tuple(explain_queries(self._database, load, every))
        self._enter("verify")
        own: tuple[QueryVerdict, ...] = ()
        if load.fresh_ms:
            self.queries, self.freshness = judge_fresh(self._spec, self._database, arrivals)
        else:
            types = self._reader.query_types(aligned=load.aligned, until_ms=load.until_ms)
            judge = Judge(self._database, self._spec.dataset, load, self._fold)
            known = {name: types[name] for name in load.queries if name not in load.own}
            own = judge.list_unchecked({name: every[name] for name in load.own}, answers)
            self.queries = (*judge.judge(known, answers), *own)
        asked = [query for query in self.queries if query.statement and not query.own]
        verdict = Verdict.of([check for query in asked for check in query.verdict.checks])
        if own and (not asked or verdict.status is Status.VERIFIED):
            unchecked = {"status": Status.UNCHECKED, "reason": own[0].verdict.reason}
            verdict = verdict.model_copy(update=unchecked)
        if self._spec.inserts:  # this run has written the newest mark
            self.rows_verdict = self.verdict
            self.verdict = self.verdict.beside(verdict) if self.verdict else verdict
            return
        self.verdict = verdict
        if self.verdict.status is Status.MISMATCH:
            self._expect_own(visible=True)


def _doubt(facts: Server) -> Server:
    """Return facts without promises, because statements of the user may have changed them."""
    why = "unless a statement of --setup changed that, which this database does not report"
    return replace(facts, durable=facts.durable and None, durability=f"{facts.durability}, {why}")


def _is_complete(verdict: Verdict, uncertain: Sequence[RowRange]) -> bool:
    """Return whether every row is known to be stored, or was acknowledged."""
    if verdict.accounts and verdict.accounts.lost:
        return False
    if not uncertain:
        return True
    return not verdict.uncertain_absent and verdict.status in _RESOLVED


def _leave_unverified(uncertain: int) -> Verdict:
    if not uncertain:
        return Verdict(status=Status.OFF, reason="--verify none")
    reason = (
        f"{counted(uncertain, 'row')} of unknown outcome, and --verify none does not look for them"
    )
    return Verdict(status=Status.UNKNOWN, reason=reason)
