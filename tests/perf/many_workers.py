"""A thousand workers: the real collector, and workers that do nothing but keep to the protocol.

    python tests/perf/many_workers.py [10 100 1000] [--seconds 20]

The collector is the process that a run starts. All simulated workers are one other process: each
registers, waits at the barrier, shows that it is alive as often as a worker does, and reports.
Printed for each number of workers: requests in a second while they insert, the collector's share of
a core then, its memory, how long the workers take from the last arrival at the barrier until all
know that they may begin, and how far apart they begin.
"""

import argparse
import asyncio
import json
import secrets
import socket
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.data.ranges import lane_range
from simulator.data.schema import PrimaryKey
from simulator.protocol.messages import (
    TOKEN_HEADER,
    UID_HEADER,
    Arrival,
    Heartbeat,
    Message,
    Registration,
    WorkerReport,
    heartbeat_s,
)
from simulator.protocol.run_input import RunInput
from simulator.protocol.spec import InsertTask, RunSpec, Work
from simulator.protocol.verdict import VerifyMode

_ROWS = 1000
"""Of each worker, which it says it has written."""


def spec_of(workers: int) -> RunSpec:
    """Return a run of so many workers that insert into nothing."""
    dataset = Dataset(
        workload="iot", workload_version=1, params={}, seed=1, start_ms=0,
        primary_key=PrimaryKey.NONE, parts=1,
    )  # fmt: skip
    tasks = tuple(InsertTask(timed=(lane_range(index, 0, _ROWS),)) for index in range(workers))
    return RunSpec(
        run_id="many", work=Work.INSERT, target="null", module="null", options={},
        dataset=dataset, workers=tasks, mode="batch", batch_rows=1000, verify=VerifyMode.NONE,
    )  # fmt: skip


@dataclass
class Measured:
    """What the simulated workers saw."""

    requests: int = 0
    arrived_s: list[float] = field(default_factory=list)
    known_s: list[float] = field(default_factory=list)
    begun_s: list[float] = field(default_factory=list)


class Worker:
    """One worker, as far as the protocol goes."""

    def __init__(self, spec: RunSpec, port: int, token: str, index: int, seen: Measured) -> None:
        self._spec, self._port, self._token, self._index = spec, port, token, index
        self._uid, self._seen = uuid.uuid4().hex, seen
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, message: Message) -> dict[str, Any]:
        """Return the reply to a message."""
        if not self._streams:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = message.model_dump_json().encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
            f"{TOKEN_HEADER}: {self._token}\r\n{UID_HEADER}: {self._uid}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = next(int(line.split(":")[1]) for line in answer.lower().split("\r\n")
                    if line.startswith("content-length"))  # fmt: skip
        content = await reader.readexactly(size)
        if " 200 " not in answer.split("\r\n")[0]:
            raise RuntimeError(f"{path}: {content.decode()}")
        self._seen.requests += 1
        return dict(json.loads(content))

    async def wait(self, path: str, message: Message) -> dict[str, Any]:
        """Repeat a message until the worker may go on."""
        while not (reply := await self.post(path, message))["go"]:
            pass
        return reply

    async def run(self, seconds: float, ready: asyncio.Event) -> None:
        """Take part in the run."""
        index, spec = self._index, self._spec
        await self.wait("/register", Registration(index=index, version=__version__))
        self._seen.arrived_s.append(time.time())
        reply = await self.wait("/barrier", Arrival(index=index, barrier=spec.barrier))
        self._seen.known_s.append(time.time())
        if reply.get("begin_s"):
            await asyncio.sleep(max(reply["begin_s"] - time.time(), 0))
        began_s = time.time()
        self._seen.begun_s.append(began_s)
        if len(self._seen.begun_s) == len(spec.workers):
            ready.set()
        every_s = heartbeat_s(len(spec.workers))
        await asyncio.sleep(every_s * index / len(spec.workers))
        while time.time() - began_s < seconds:
            beat = Heartbeat(index=index, phase=spec.barrier, rows=_ROWS // 2)
            await self.post("/heartbeat", beat)
            await asyncio.sleep(every_s)
        report = WorkerReport(
            index=index, rows=_ROWS, started_s=began_s, ended_s=time.time(),
            duration_s=time.time() - began_s, sends=1,
        )  # fmt: skip
        await self.post("/report", report)


async def measured(workers: int, seconds: float) -> str:
    """Return the row of a number of workers."""
    spec, token, seen, ready = spec_of(workers), secrets.token_hex(16), Measured(), asyncio.Event()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        port, number = listener.getsockname()[1], listener.fileno()
        process = subprocess.Popen(  # noqa: ASYNC220 - nothing waits for it
            [sys.executable, "-m", "simulator", "collector", f"--fd={number}"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[number],
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
    assert process.stdin
    process.stdin.write(RunInput(spec=spec, token=token, credentials={}).line())
    process.stdin.flush()
    own = psutil.Process(process.pid)
    everyone = [Worker(spec, port, token, index, seen) for index in range(workers)]
    running = [asyncio.create_task(each.run(seconds, ready)) for each in everyone]
    together = asyncio.gather(*running)
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({together, waiting}, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(2)
    before, cpu_s, since_s = seen.requests, sum(own.cpu_times()[:2]), time.time()
    await asyncio.sleep(seconds - 4)
    elapsed_s = time.time() - since_s
    rate = (seen.requests - before) / elapsed_s
    share = (sum(own.cpu_times()[:2]) - cpu_s) / elapsed_s
    memory = own.memory_full_info().uss / 2**20
    await together
    code = await asyncio.to_thread(process.wait, 60)
    return (
        f"| {workers:,} | {rate:,.0f} | {share:.0%} | {memory:,.0f} MiB"
        f" | {1000 * (max(seen.known_s) - max(seen.arrived_s)):,.0f} ms"
        f" | {1000 * (max(seen.begun_s) - min(seen.begun_s)):,.1f} ms | {code} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("workers", nargs="*", type=int, default=[10, 100, 1000])
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    print("| Workers | Requests/s | Collector, of a core | Memory | Until all know"
          " | Begin within | Exit code |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for workers in given.workers:
        print(asyncio.run(measured(workers, given.seconds)), flush=True)


if __name__ == "__main__":
    main()
