"""Draws and encodes the rows of a file, in several processes if the user asks for them.

Each process encodes every so manieth turn of blocks, and this one puts them in order: the bytes do
not depend on the number of processes.
"""

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import cycle
from multiprocessing.connection import Connection

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.schema import Table
from simulator.errors import BenchError, RunError
from simulator.records.formats import FORMATS, Chunks, FileFormat

_SPAWN = multiprocessing.get_context("spawn")
"""A fork would copy the threads' locks."""
_END_S = 5.0
"""Time that a process may take to notice that its reader is gone."""


def encode_file(dataset: Dataset, form: FileFormat, processes: int) -> Chunks:
    """Yield the bytes of a file of the dataset's rows; to be closed."""
    reader = DatasetReader(dataset)
    tables = _tables(dataset, reader)
    if processes == 1:
        return form.stream(tables, reader.blocks(dataset.ranges))
    return form.frame(tables, _turns(dataset, form.name, processes))


def _tables(dataset: Dataset, reader: DatasetReader) -> list[Table]:
    """Return the tables with rows in the dataset; without rows the first, for its names."""
    held = {item.table for item in dataset.ranges} or {0}
    return [table for place, table in enumerate(reader.tables) if place in held]


def _turns(dataset: Dataset, form: str, processes: int) -> Iterator[bytes]:
    with ExitStack() as stack:
        sources = [
            stack.enter_context(_encoding(dataset, form, place, processes))
            for place in range(processes)
        ]
        for source in cycle(sources):
            try:
                turn = source.recv()
            except (EOFError, OSError):  # at the end of a turn, or within it
                raise RunError(
                    "a process that encodes rows ended before it was done; the machine may lack"
                    " memory: use fewer --workers"
                ) from None
            if isinstance(turn, BenchError):
                raise turn
            if turn is None:  # there are no more turns, of the other processes neither
                return
            yield turn


@contextmanager
def _encoding(dataset: Dataset, form: str, place: int, every: int) -> Iterator[Connection]:
    """Start a process that encodes turns; it ends once its reader is gone."""
    source, sink = _SPAWN.Pipe(duplex=False)
    words = (dataset, form, place, every, sink)
    process = _SPAWN.Process(target=_encode, args=words, daemon=True)
    process.start()
    sink.close()
    try:
        yield source
    finally:
        source.close()
        process.join(_END_S)
        if process.is_alive():
            process.kill()
            process.join()


def _encode(dataset: Dataset, form: str, place: int, every: int, sink: Connection) -> None:
    """Send the bytes of each turn, then None; or the error that ended it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    reader = DatasetReader(dataset)
    with suppress(BrokenPipeError):
        try:
            encode = FORMATS[form].turn_encoder(_tables(dataset, reader))
            for blocks in reader.blocks(dataset.ranges, place=place, every=every):
                sink.send(b"".join(encode(blocks)))
        except BenchError as error:
            sink.send(error)
        else:
            sink.send(None)
