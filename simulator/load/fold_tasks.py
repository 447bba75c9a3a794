"""After its report, a worker folds drawn or stored rows for the collector."""

import threading
from base64 import b64encode
from collections.abc import Callable, Sequence

from simulator.data.query import RowsQuery
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.load.client import CollectorClient
from simulator.modules.contract import Alike, Database
from simulator.protocol.folding import FOLD_BYTES, Folded, QueryName, StoredWindow
from simulator.protocol.spec import RunSpec
from simulator.verify.stored.reader import StoredRows
from simulator.verify.truth.fingerprint import EveryRow
from simulator.verify.truth.folding import fold_rows
from simulator.verify.truth.needed import queries_named
from simulator.verify.truth.oracle import Oracle
from simulator.verify.truth.record import to_bytes


def help_to_fold(
    spec: RunSpec, client: CollectorClient, stop: threading.Event, database: Database
) -> None:
    """Fold tasks of the collector until no task is left or the run is over."""
    folder, folded = None, None
    while not stop.is_set():
        given = client.fold_task(folded)
        if given.over:
            return
        folded = None
        if given.number is not None and given.window:
            rows = StoredRows(database, spec.after)
            folded = read_window(given.number, given.window, rows, lambda: not stop.is_set())
        elif given.number is not None:
            folder = folder or Folder(spec, given.queries, stop, database)
            folded = folder.fold(given.number, given.ranges)


def read_window(
    number: int, window: StoredWindow, rows: StoredRows, wanted: Callable[[], bool]
) -> Folded | None:
    """Return the fingerprint of the rows of a window; None once `wanted` returns False."""
    found = rows.fingerprint(window, wanted)
    if found is None:
        return None
    every = EveryRow(RowsQuery(rows.tables[window.table]))
    every.append(found.parts())
    return Folded(number=number, content=b64encode(to_bytes([every])).decode())


class Folder:
    """Folds rows for some of the queries that the run verifies."""

    def __init__(
        self,
        spec: RunSpec,
        names: Sequence[QueryName],
        stop: threading.Event,
        database: Database,
    ) -> None:
        queries = queries_named(names, spec, database.row_hash)
        self._empty = Oracle(queries, signless=Alike.ZEROS in database.capabilities.alike)
        self._reader = DatasetReader(spec.changed).narrow(queries)
        self._stop = stop

    def fold(self, number: int, ranges: Sequence[RowRange]) -> Folded | None:
        """Return the fold of a task; None if the run ends first."""
        oracle = self._empty.empty()
        if not fold_rows(ranges, self._reader, oracle, lambda: not self._stop.is_set()):
            return None
        content = oracle.to_bytes()
        fits = len(content) <= FOLD_BYTES
        return Folded(number=number, content=b64encode(content).decode() if fits else None)
