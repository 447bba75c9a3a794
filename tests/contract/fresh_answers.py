"""Queries about rows that a thread writes meanwhile, and the check of every answer."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simulator.data.dataset import Dataset
from simulator.data.fresh import FreshType
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.load.ask.answers import EveryAnswer, Moving
from simulator.load.ask.asker import Asker
from simulator.load.ask.callers import OneCaller
from simulator.load.write.send_log import SendLog
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH, Database, Session
from simulator.protocol.arrivals import Ticks
from simulator.protocol.spec import Ask
from simulator.verify.fresh.answers import check
from simulator.verify.fresh.arriving import (
    AnswerLog,
    ArrivingRows,
    TimedBatches,
    select_stored_since,
)


@dataclass(frozen=True)
class Arriving:
    """Rows of a dataset that are written into an empty database."""

    database: Database
    dataset: Dataset
    rows: RowRange
    types: Mapping[str, FreshType]
    """The queries that are asked."""
    batch_rows: int = 10
    pause_s: float = 0.02
    """After each batch."""

    def expect_right(self, since_ms: Callable[[SendLog], int]) -> dict[str, int]:
        """Write the rows and ask meanwhile; check all answers, and return how many each type has.

        `since_ms` returns since when rows are asked for, at first from an empty log. What is asked
        once all rows are visible has to be complete, since the first of these instants.
        """
        reader = DatasetReader(self.dataset)
        log, kept, last = SendLog(reader), self._answers(), self._answers()
        first_ms = now_ms = since_ms(log)
        writer = threading.Thread(target=self._write, args=(reader, log))
        with self.database.connect() as session:
            askers = [self._asker(session, name, kept, lambda: now_ms) for name in kept]
            writer.start()
            while writer.is_alive():
                for asker in askers:
                    asker.once()
                now_ms = max(first_ms, since_ms(log))
            writer.join()
            self.database.visible(reader.tables)
            for name in last:
                self._asker(session, name, last, lambda: first_ms).once()
        sent = TimedBatches.of(
            log.parts(0, Ticks(), 0), select_stored_since(reader, self.dataset, first_ms)
        )
        rows = ArrivingRows(reader, sent)
        for name, fresh_type in self.types.items():
            for each, promised in ((kept[name], not self.database.late), (last[name], True)):
                parts = [AnswerLog.of(part, fresh_type) for part in each.parts(0, Ticks())]
                found = check(rows, fresh_type, parts, promised=promised)
                assert (found.wrong, found.right) == ([], found.answers), name
                assert found.answers == each.report_kept()
        return {name: each.report_kept() for name, each in kept.items()}

    def _answers(self) -> dict[str, EveryAnswer]:
        return {name: EveryAnswer(name, each) for name, each in self.types.items()}

    def _asker(
        self,
        session: Session,
        name: str,
        kept: Mapping[str, EveryAnswer],
        since_ms: Callable[[], int],
    ) -> Asker:
        moving = Moving(self.database, self.types[name], since_ms, kept[name])
        task = Ask(place=0, every=1, runs=0)
        return Asker(
            self.database,
            OneCaller(session),
            name,
            moving,
            kept[name],
            task=task,
            stop=threading.Event(),
        )

    def _write(self, reader: DatasetReader, log: SendLog) -> None:
        sender = Sender(self.database, reader, threading.Event())
        sender.start()
        sender.delivery.log = log
        for batch in sender.preparer.batches([self.rows], BATCH, self.batch_rows):
            sender.delivery.deliver(batch, time.perf_counter_ns())
            time.sleep(self.pause_s)
        sender.delivery.end_all()
        sender.close()
