"""A worker: registers, prefills, waits at the barrier, inserts or queries, reports."""

import gc
import os
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from simulator import __version__
from simulator.clock import OwnClock
from simulator.data.ranges import RowRange, merge
from simulator.data.reader import DatasetReader
from simulator.errors import BenchError, MismatchError, RunError
from simulator.host import memory_peak_bytes
from simulator.load.ask.asking import Asking, Calls
from simulator.load.changing import Changer
from simulator.load.client import CollectorClient
from simulator.load.connecting import Stopped, connect
from simulator.load.durations import Durations
from simulator.load.faults.network import Network
from simulator.load.faults.outages import FaultSpells
from simulator.load.fold_tasks import help_to_fold
from simulator.load.meter import Meter
from simulator.load.timings import RunClock
from simulator.load.write.batch import Batch
from simulator.load.write.delivery import Failures
from simulator.load.write.records import RecordReader
from simulator.load.write.send_log import SendLog
from simulator.load.write.sender import Sender
from simulator.modules.contract import IMPORT
from simulator.protocol.arrivals import NEVER_NS
from simulator.protocol.events import ReportEvent, event_line
from simulator.protocol.messages import (
    HEARTBEAT_S,
    TIMEOUT_GRACE_S,
    Arrival,
    ChangeTimes,
    Heartbeat,
    Message,
    Registration,
    Reply,
    Timings,
    Troubles,
    WorkerReport,
    heartbeat_s,
)
from simulator.protocol.numbers import pairs_of
from simulator.protocol.pace import Pace, paces_of, wait_until
from simulator.protocol.spec import Ask, ChangeTask, InsertTask, RunSpec, Task

if TYPE_CHECKING:
    from simulator.load.write.sending_process import SendingProcess

_GARBAGE_OBJECTS = 100_000
_LAST_SEND_S = 3.5
"""Time that a worker without a collector has to end its batches in flight and to report."""


def _settle_memory() -> None:
    """Reduce garbage collection while the clock runs.

    Rows as Python objects contain no cycles, but would trigger a collection twelve times per
    block, which would count as the client's time or as latency of the database.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE_OBJECTS)


class Worker:
    """One worker of one run."""

    def __init__(
        self,
        spec: RunSpec,
        client: CollectorClient,
        index: int,
        clock: OwnClock,
        network: Network,
    ) -> None:
        self._clock = clock
        self._spec = spec
        self._network = network
        self._database = network.database
        self._client = client
        self._index = index
        self._task = spec.workers[index]
        self._stop = threading.Event()
        self._over = threading.Event()
        """Set when `run` ends."""
        self._phase = "start"
        self._sender: Sender | None = None
        self._asking: Asking | None = None
        self._changing: Durations | None = None
        """Durations of the changes, if no rows are inserted."""
        self._prefilled = 0
        self._over_query = ""
        """Query of the ramp that ended last."""
        self._reported = False
        """True once the worker's part is done; then it only helps, and ends without errors."""
        self._broken = ""
        """Reason why this worker cannot continue, unless the collector stopped the run."""
        self._sending: SendingProcess | None = None
        """The process with the worker's connections, if a fault kills that process."""
        self._run_clock = RunClock(clock, lambda: client.clock_offset_s, self._cpu_s)
        self._timed = False
        """True if the worker's rows belong to the timed part."""
        self._changes: tuple[ChangeTimes, ...] = ()
        self._log: SendLog | None = None
        """Log of the timed batches, if queries ask about fresh rows."""
        self._newest_ms: int | None = None
        """Time of the newest acknowledged row of any worker."""

    def run(self) -> bool:
        """Run the worker's part and report the outcome; return False if the worker failed."""
        try:
            return self._run()
        finally:
            self._over.set()

    def _run(self) -> bool:
        try:
            self._wait("/register", Registration(index=self._index, version=__version__))
        except Stopped:
            return False
        threading.Thread(target=self._beat, daemon=True).start()
        error, is_wrong = None, False
        try:
            self._carry_out(self._task)
        except Stopped:
            error = self._broken or None
        except BenchError as failed:
            error, is_wrong = str(failed), isinstance(failed, MismatchError)
        except Exception as failed:  # noqa: BLE001 - a driver's error
            error = self._database.explain(failed)
        finally:
            if self._sender:
                self._sender.close()
            if self._sending:
                self._sending.close()
        report = self._report(error and self._database.options.redact(error), is_wrong=is_wrong)
        try:
            self._client.post("/report", report)
        except RunError:
            # The command line reads a report that the collector can no longer receive.
            print(event_line(1, ReportEvent(report=report)), flush=True)  # noqa: T201
            raise
        if error is None:
            self._help()
        return error is None

    def _carry_out(self, task: Task) -> None:
        match task:
            case InsertTask():
                self._insert(task)
            case Ask():
                self._ask(task)
            case ChangeTask():
                self._change(task)

    def _help(self) -> None:
        """Fold rows for the collector, which continues without this worker if folding fails."""
        self._reported = True
        self._client.repeat_nothing()
        try:
            help_to_fold(self._spec, self._client, self._stop, self._database)
        except Exception as failed:  # noqa: BLE001 - its own part is done
            if not self._stop.is_set():
                print(f"cannot help the collector: {failed}", file=sys.stderr)  # noqa: T201

    def stop(self, cause: str) -> None:
        """Stop soon, and report the cause and the progress."""
        self._broken = cause
        self._client.give_up()
        self._stop.set()

    def _beat(self) -> None:
        """Show the collector that this worker is alive; end if the collector is silent."""
        began_s, timeout_s, workers = self._clock(), self._spec.timeout_s, len(self._spec.workers)
        every_s = heartbeat_s(workers)
        if every_s > HEARTBEAT_S:  # spread the heartbeats of many workers
            self._stop.wait(every_s * self._index / workers)
        while not self._stop.is_set():
            try:
                reply = self._client.post("/heartbeat", self._heartbeat())
            except RunError as failed:
                self._end_alone(str(failed))
                return
            if timeout_s and self._clock() - began_s > timeout_s + TIMEOUT_GRACE_S:
                self._end_alone(f"--timeout: the collector did not stop after {timeout_s:g} s")
                return
            self._over_query = reply.over
            self._newest_ms = reply.newest_ms
            if reply.measured_s is not None and self._sender:
                self._sender.measure_from(self._run_clock.instant_ns(reply.measured_s))
            if reply.stop:
                self._stop.set()
            self._stop.wait(every_s)

    def _end_alone(self, cause: str) -> None:
        """Stop; exit if the database blocks this process, because nothing else may end it."""
        self.stop(cause)
        if not self._over.wait(_LAST_SEND_S):
            if self._reported:
                os._exit(0)
            print(f"{cause}; the database did not answer", file=sys.stderr, flush=True)  # noqa: T201
            os._exit(1)

    def _heartbeat(self) -> Heartbeat:
        timed = self._timed  # read first: the timed meter is created before it is set
        sender, written = self._sender, self._sender.meter.rows if self._sender else 0
        failures = sender.failures if sender else Failures()
        waits = self._asking.waits if self._asking else self._changing
        measured = waits or (sender.meter if sender and timed else None)
        return Heartbeat(
            index=self._index,
            phase=self._phase,
            rows=written if timed else 0,
            prefill_rows=self._prefilled if timed else max(self._prefilled, written),
            uncertain_rows=failures.uncertain_rows,
            retried=failures.retried,
            errors=failures.errors,
            runs=waits.count if waits else 0,
            waited_s=waits.sum_ns / 1e9 if waits else 0.0,
            latency=pairs_of(measured.sketch()) if measured else (),
            newest_ms=self._log.newest_ms() if self._log else None,
        )

    def _wait_for_all(self, barrier: str) -> bool:
        """Wait at a barrier; return whether the worker takes part in the next phase."""
        self._phase = f"barrier {barrier}"
        _settle_memory()
        arrival = Arrival(index=self._index, barrier=barrier)
        begin_s = self._wait("/barrier", arrival).begin_s
        if begin_s is not None:
            wait_until(self._run_clock.instant_ns(begin_s), self._stop)
        self._phase = barrier
        return not self._is_over(barrier)

    def _is_over(self, query: str) -> bool:
        return self._over_query == query

    def _wait(self, path: str, message: Message) -> Reply:
        """Repeat the request until the worker may continue; Stopped if the run is over."""
        while True:
            reply = self._client.post(path, message)
            self._over_query = reply.over
            if reply.stop or self._stop.is_set():
                raise Stopped
            if reply.go:
                return reply

    def _insert(self, task: InsertTask) -> None:
        spec = self._spec
        if spec.fault and spec.fault.kills_workers:
            from simulator.load.write.sending_process import SendingProcess  # noqa: PLC0415 - 20 ms

            self._sending = SendingProcess(self._database, spec.several, spec.fault, self._stop)
        sender = self._sender = Sender(
            self._database,
            DatasetReader(spec.changed),  # tags may be updated during the insert
            self._stop,
            self._clock,
            spec.retry_s,
            several=spec.several,
            elsewhere=self._sending.session if self._sending else None,
        )
        if task.prefill:
            self._phase = "prefill"
            batch_rows = max(spec.batch_rows, self._database.capabilities.prefill_rows)
            try:
                sender.prefill(task.prefill, batch_rows)
            finally:
                self._prefilled = sender.meter.rows
        if spec.mode == IMPORT:
            with TemporaryDirectory(dir=spec.scratch or None) as folder:
                self._insert_timed(sender, sender.write_files(task.timed, Path(folder)))
        elif spec.records:
            reader = DatasetReader(spec.dataset)
            with RecordReader(
                spec.records, task, reader, spec.batch_rows, self._expect_go
            ) as records:
                self._insert_timed(sender, sender.preparer.read(records))
        else:
            before_s = self._cpu_s()
            batches = sender.prepare(task.timed, spec.mode, spec.batch_rows, *self._paces)
            if not spec.clocking.warm_s:
                self._run_clock.prepared_s = self._cpu_s() - before_s
            self._insert_timed(sender, batches)

    def _expect_go(self) -> None:
        if self._stop.is_set():
            raise Stopped

    @property
    def _paces(self) -> list[Pace]:
        """Paces of the worker's inserts; workers that write have the lowest indexes."""
        clocking = self._spec.clocking
        return paces_of(clocking, self._index, len(self._spec.inserts), clocking.rows_per_s)

    def _insert_timed(self, sender: Sender, batches: Iterable[Batch]) -> None:
        spec, clocking = self._spec, self._spec.clocking
        self._wait_for_all(spec.barrier)
        sender.start(
            clocking.warm_s, self._begin_measured, clocking.stages, closely=spec.fault is not None
        )
        if spec.load.fresh_ms:
            self._log = sender.delivery.log = SendLog(DatasetReader(spec.dataset))
        self._timed = True
        try:
            sender.send(batches, spec.batch_rows, *self._paces)
        finally:
            length_s = max(sender.meter.last_ns - sender.measured_ns, 0) / 1e9
            self._run_clock.stop(length_s, sender.spent.inactive_ns / 1e9)
        if self._log:
            ticks, measured_ns = self._client.ticks, sender.measured_ns or NEVER_NS
            self._client.report_parts("/sent", self._log.parts(self._index, ticks, measured_ns))

    def _begin_measured(self) -> None:
        self._run_clock.start()
        if self._spells:
            self._spells.begin()

    @property
    def _spells(self) -> FaultSpells | None:
        """The faults that this worker causes."""
        return self._sending.spells if self._sending else self._network.spells

    def _cpu_s(self) -> float:
        return self._sending.cpu_s() if self._sending else time.process_time()

    def _change(self, task: ChangeTask) -> None:
        with connect(self._database, self._stop, self._clock) as session:
            changer = Changer(self._database, session, self._spec, self._stop)
            if not self._spec.inserts:  # otherwise samples describe the inserted rows
                self._changing = changer.waits
            self._wait_for_all(self._spec.barrier)
            self._run_clock.start()
            if self._stop.wait(task.at_s):
                raise Stopped
            try:
                self._changes = changer.carry_out(task, self._run_clock.instant_s)
            finally:
                self._run_clock.stop()

    def _ask(self, task: Ask) -> None:
        asking = self._asking = Asking(
            self._spec, self._database, self._client, self._index, self._stop, self._clock,
            self._run_clock,
            Calls(self._wait_for_all, self._is_over, self._begin_measured, lambda: self._newest_ms),
        )  # fmt: skip
        asking.carry_out(task)

    def _list_sent(self) -> tuple[RowRange, ...] | None:
        """Return the timed rows that were sent; None if all planned rows were sent."""
        if not isinstance(self._task, InsertTask) or not self._sender or not self._timed:
            return None
        timed = self._task.timed
        found = merge(self._sender.preparer.list_written(timed))
        return None if found == merge(timed) else found

    def _report(self, error: str | None, *, is_wrong: bool) -> WorkerReport:
        sender, asking = self._sender, self._asking
        meter = sender.meter if sender and self._timed else Meter(0)
        troubles = sender.failures.troubles() if sender else Troubles()
        cause = self._database.options.redact(troubles.uncertain_cause)
        records: dict[str, Any] = {
            **dict(self._run_clock.report_clock()),
            **dict(sender.spent.timings() if sender else Timings()),
            **dict(meter.report_acknowledged(self._run_clock.instant_s)),
            **dict(troubles.model_copy(update={"uncertain_cause": cause})),
        }
        return WorkerReport(
            index=self._index,
            error=error,
            is_wrong=is_wrong,
            prefill_rows=self._prefilled,
            written=self._list_sent(),
            memory_peak_bytes=memory_peak_bytes(),
            connects=sender.connects if sender else asking.connects if asking else "",
            queries=tuple(asking.times) if asking else (),
            changes=self._changes,
            queries_again=asking.failed if asking else 0,
            faults=self._spells.spans(self._run_clock.instant_s) if self._spells else (),
            node=os.environ.get("NODE_NAME", ""),
            **records,
        )
