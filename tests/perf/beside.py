"""The tool beside the rawest way into each database: both rates, their ratio, the client's share.

    python tests/perf/beside.py [TARGET ...] [--repeats 4] [--rows N] [--batch N] [--connections N]

Both write the same rows into the same tables of the same server with as many connections and as
many rows a send. They take turns, each being the first as often as the other, and the ratio is the
median of those of the pairs, so that it holds although the machine's speed drifts. The rival's rows
are encoded before its clock starts; the tool encodes, measures and decides within its own.
"""

import argparse
import gc
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import yaml

from simulator.data.dataset import Dataset, DatasetReader, lane_range
from simulator.modules import database_class
from simulator.modules.base import Database
from tests.perf.pipeline import ROOT, insert
from tests.perf.rivals import RIVALS, Prepared, Rival
from tests.servers import SERVERS

SPAWN = multiprocessing.get_context("spawn")  # drivers and engines do not survive a fork
BLOCK_ROWS = 8192
REST_S = 4
HEAD = (
    "| Target | Rows a send | Connections | Tool, rows/s | Rawest way, rows/s | Ratio (pairs) "
    "| Client | Rawest way |\n|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Contest:
    """A target, its rival, and the server that both write to."""

    target: str
    rival: Rival
    options: dict[str, Any]

    @property
    def module(self) -> Database:
        """Return the target's module; the options reach the server."""
        cls = database_class(self.module_name)
        return cls(cls.options_model.model_validate(self.options))

    @property
    def module_name(self) -> str:
        """Return the name of the target's module."""
        written = yaml.safe_load((ROOT / "config.yaml").read_text())
        return str(written["targets"][self.target]["module"])

    @property
    def dataset(self) -> Dataset:
        """Return the dataset, as the tool makes it."""
        return Dataset(
            workload="iot", workload_version=1, params={"devices": 1}, seed=1,
            start_ms=1_795_232_700_000, primary_key=self.rival.primary_key, parts=1,
        )  # fmt: skip

    def rival_rate(self, connections: int, rows: int) -> float:
        """Return rows/s of the rival, one process and connection a lane."""
        _in_a_process(_clear, self)
        _in_a_process(_create, self)
        barrier = SPAWN.Barrier(connections + 1)
        processes = [
            SPAWN.Process(target=_write, args=(self, lane, rows // connections, barrier))
            for lane in range(connections)
        ]
        for process in processes:
            process.start()
        while barrier.n_waiting < connections:  # else one that dies early is waited for for ever
            assert not any(process.exitcode for process in processes), f"{self.target}: rival died"
            time.sleep(0.01)
        barrier.wait()
        start = time.perf_counter()
        barrier.wait()
        spent_s = time.perf_counter() - start
        for process in processes:
            process.join()
        _in_a_process(_settle, self)
        return rows // connections * connections / spent_s

    def tool_rate(self, folder: Path, connections: int, rows: int) -> tuple[float, float]:
        """Return rows/s and client share of the tool."""
        _in_a_process(_clear, self)
        for name, value in self.options.items():  # by the environment: some are secret
            os.environ[f"BENCH_{name.upper()}"] = str(value)
        given = {name: f"${{BENCH_{name.upper()}}}" for name in self.options}
        target = {"module": self.module_name, "runner": "local", **given}
        config = folder / "config.yaml"
        config.write_text(yaml.safe_dump({"targets": {self.target: target}}))
        result = insert(
            folder, f"--target={self.target}", f"--workers={connections}", "--runs=1",
            f"--batch={self.rival.batch_rows}", f"--num-inserts={rows // connections}",
            f"--primary-key={self.rival.primary_key}", "--verify=counts", config=config,
        )  # fmt: skip
        metrics = result.runs[0].metrics
        assert metrics
        return metrics.rows_per_s, metrics.client_share

    def compare(self, connections: int, rows: int, repeats: int) -> str:
        """Return a row of the table: the medians of pairs, after one that warms both up."""
        pairs = []
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(repeats + 1):
                if turn % 2:  # whoever is the second finds another server than the first
                    tool = self.tool_rate(Path(folder), connections, rows)
                    rival = self.rival_rate(connections, rows)
                else:
                    rival = self.rival_rate(connections, rows)
                    tool = self.tool_rate(Path(folder), connections, rows)
                pairs.append((rival, *tool))
        rivals, tools, shares = zip(*pairs[1:], strict=True)
        ratios = [tool / rival for tool, rival in zip(tools, rivals, strict=True)]
        return (
            f"| {self.target} | {self.rival.batch_rows:,} | {connections} | {median(tools):,.0f} "
            f"| {median(rivals):,.0f} | {median(ratios):.2f} ({min(ratios):.2f} to "
            f"{max(ratios):.2f}) | {median(shares):.1%} | {self.rival.way} |"
        )


def _in_a_process(work: Any, contest: Contest) -> None:
    """Leave nothing of an embedded engine in this process."""
    process = SPAWN.Process(target=work, args=(contest,))
    process.start()
    process.join()
    assert process.exitcode == 0, f"{contest.target}: {work.__name__} failed"


def _clear(contest: Contest) -> None:
    """Give neither side what the one before has left the server to do."""
    contest.module.drop(DatasetReader(contest.dataset).tables)
    time.sleep(REST_S)


def _create(contest: Contest) -> None:
    contest.module.create(DatasetReader(contest.dataset).tables, contest.rival.batch_rows)


def _settle(contest: Contest) -> None:
    contest.module.settle(DatasetReader(contest.dataset).tables)


def _write(contest: Contest, lane: int, rows: int, barrier: Barrier) -> None:
    try:
        reader, batch_rows = DatasetReader(contest.dataset), contest.rival.batch_rows
        block_rows = max(BLOCK_ROWS // batch_rows, 1) * batch_rows
        blocks = [block for (block,) in reader.blocks(lane_range(lane, 0, rows), block_rows)]
        table = reader.tables[0]
        prepared = Prepared(contest.module, contest.options, table, blocks, batch_rows)
        send = contest.rival.prepare(prepared)
        gc.disable()  # else all that was prepared is searched through, again and again
        barrier.wait()
        send()
        barrier.wait()
    except BaseException:
        barrier.abort()
        raise


@contextmanager
def contest(target: str) -> Iterator[Contest]:
    """Start what the target needs, with an empty database, and stop it in the end."""
    rival = RIVALS[target]
    if rival.server is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Contest(target, rival, {"path": f"{folder}/bench", **rival.options})
        return
    with SERVERS[rival.server]() as server, server.database() as database:
        yield Contest(target, rival, {**server.options(database), **rival.options})


def main() -> None:
    """Print a row for each target and number of connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(RIVALS)}")
    parser.add_argument("--rows", type=int, help="rows of each run, instead of the target's own")
    parser.add_argument("--batch", type=int, help="rows a send, instead of the target's own")
    parser.add_argument("--connections", type=int, help="only with so many")
    parser.add_argument("--repeats", type=int, default=4, help="pairs that count")
    given = parser.parse_args()
    if unknown := set(given.targets) - RIVALS.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}; known: {', '.join(RIVALS)}")
    print(HEAD, flush=True)
    for target in given.targets or RIVALS:
        server = RIVALS[target].server
        if server is not None:
            SERVERS[server].install()
        with contest(target) as own:
            batch_rows = given.batch or own.rival.batch_rows
            found = replace(own, rival=replace(own.rival, batch_rows=batch_rows))
            several = found.rival.connections
            for connections in [given.connections] if given.connections else several:
                row = found.compare(connections, given.rows or found.rival.rows, given.repeats)
                print(row, flush=True)


if __name__ == "__main__":
    main()
