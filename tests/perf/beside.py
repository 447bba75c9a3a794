"""Compares this tool with the rawest client of each database: rates, ratio, client share.

    python tests/perf/beside.py [TARGET ...] [--repeats 4] [--rows N] [--batch N] [--connections N]

Both write the same rows into the same tables of the same server, with the same number of
connections and the same batch size. They alternate, and each goes first equally often. The ratio is
the median over the pairs, so it holds even if the speed of the machine drifts. The rows of the raw
client are encoded before its clock starts; the tool encodes and measures within its own time.
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

from simulator.data.dataset import Dataset
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.modules import database_class
from simulator.modules.contract import Database
from tests.perf.pipeline import ROOT, insert
from tests.perf.rivals import RIVALS, Prepared, Rival
from tests.servers import SERVERS

SPAWN = multiprocessing.get_context("spawn")  # drivers and engines do not survive a fork
BLOCK_ROWS = 8192
REST_S = 4
HEAD = (
    "| Target | Batch | Connections | Tool, rows/s | Raw client, rows/s | Ratio (pairs) "
    "| Client share | Raw client |\n|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Contest:
    """A target, its raw client, and the server that both write to."""

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
        """Return the dataset as the tool generates it."""
        return Dataset(
            workload="iot", workload_version=1, params={"devices": 1}, seed=1,
            start_ms=1_795_232_700_000, primary_key=self.rival.primary_key, parts=1,
        )  # fmt: skip

    def rival_rate(self, connections: int, rows: int) -> float:
        """Return rows/s of the raw client, with one process and connection per lane."""
        _in_a_process(_clear, self)
        _in_a_process(_create, self)
        barrier = SPAWN.Barrier(connections + 1)
        processes = [
            SPAWN.Process(target=_write, args=(self, lane, rows // connections, barrier))
            for lane in range(connections)
        ]
        for process in processes:
            process.start()
        while (
            barrier.n_waiting < connections
        ):  # otherwise the wait for a process that died would not end
            assert not any(process.exitcode for process in processes), (
                f"{self.target}: the raw client died"
            )
            time.sleep(0.01)
        barrier.wait()
        start = time.perf_counter()
        barrier.wait()
        spent_s = time.perf_counter() - start
        for process in processes:
            process.join()
        _in_a_process(_compact, self)
        return rows // connections * connections / spent_s

    def tool_rate(self, folder: Path, connections: int, rows: int) -> tuple[float, float]:
        """Return rows/s and client share of the tool."""
        _in_a_process(_clear, self)
        for name, value in self.options.items():  # through the environment: some are secret
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
        """Return a row of the table: the medians of the pairs, after one pair of warm-up."""
        pairs = []
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(repeats + 1):
                if turn % 2:  # the first run changes the server for the second
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
    """Run in a child process, so that no embedded engine stays in this one."""
    process = SPAWN.Process(target=work, args=(contest,))
    process.start()
    process.join()
    assert process.exitcode == 0, f"{contest.target}: {work.__name__} failed"


def _clear(contest: Contest) -> None:
    """Wait until the server has finished the work of the previous run."""
    tables = DatasetReader(contest.dataset).tables
    contest.module.drop([name for table in tables for name in contest.module.objects(table)])
    time.sleep(REST_S)


def _create(contest: Contest) -> None:
    contest.module.create(DatasetReader(contest.dataset).tables, contest.rival.batch_rows)


def _compact(contest: Contest) -> None:
    tables = DatasetReader(contest.dataset).tables
    contest.module.visible(tables)
    contest.module.compact(tables)


def _write(contest: Contest, lane: int, rows: int, barrier: Barrier) -> None:
    try:
        reader, batch_rows = DatasetReader(contest.dataset), contest.rival.batch_rows
        block_rows = max(BLOCK_ROWS // batch_rows, 1) * batch_rows
        blocks = [block for (block,) in reader.blocks([lane_range(lane, 0, rows)], block_rows)]
        table = reader.tables[0]
        prepared = Prepared(contest.module, contest.options, table, blocks, batch_rows)
        send = contest.rival.prepare(prepared)
        gc.disable()  # otherwise garbage collection scans all prepared rows repeatedly
        barrier.wait()
        send()
        barrier.wait()
    except BaseException:
        barrier.abort()
        raise


@contextmanager
def contest(target: str) -> Iterator[Contest]:
    """Start the server of the target with an empty database, and stop it at the end."""
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
    parser.add_argument("--rows", type=int, help="rows per run, instead of the target's default")
    parser.add_argument("--batch", type=int, help="rows per batch, instead of the target's default")
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
