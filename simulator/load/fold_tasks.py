"""What a worker does after its report: it folds rows of the dataset for the collector."""

import threading
from base64 import b64encode
from collections.abc import Sequence

from simulator.data.dataset import DatasetReader
from simulator.data.ranges import RowRange
from simulator.load.client import CollectorClient
from simulator.protocol.messages import FOLD_BYTES, Folded, QueryName
from simulator.protocol.spec import RunSpec
from simulator.verify.fold_tasks import fold_rows
from simulator.verify.needed import queries_named
from simulator.verify.oracle import Oracle


def help_to_fold(spec: RunSpec, client: CollectorClient, stop: threading.Event) -> None:
    """Fold what the collector gives, until nothing is left or the run is over."""
    folder, folded = None, None
    while not stop.is_set():
        given = client.fold_task(folded)
        if given.over:
            return
        folded = None
        if given.number is not None:
            folder = folder or Folder(spec, given.queries, stop)
            folded = folder.folded(given.number, given.ranges)


class Folder:
    """Folds rows for some of the queries whose truth the run needs."""

    def __init__(self, spec: RunSpec, names: Sequence[QueryName], stop: threading.Event) -> None:
        queries = queries_named(names, spec)
        self._empty = Oracle(queries)
        self._reader = DatasetReader(spec.changed).reading(queries)
        self._stop = stop

    def folded(self, number: int, ranges: Sequence[RowRange]) -> Folded | None:
        """Return the fold of a task; None if the run is over meanwhile."""
        oracle = self._empty.empty()
        if not fold_rows(ranges, self._reader, oracle, lambda: not self._stop.is_set()):
            return None
        content = oracle.to_bytes()
        fits = len(content) <= FOLD_BYTES
        return Folded(number=number, content=b64encode(content).decode() if fits else None)
