"""Gives fold tasks, of drawn or stored rows, to workers that have reported.

The code runs on the event loop, with long work in threads. A lost or slow worker does no harm,
because the collector folds the tasks that are not returned.
"""

import asyncio
from base64 import b64decode

from simulator.control.script import Rejected, Script
from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.folding import Folded, FoldReply, QueryName
from simulator.verify.truth.folding import FoldTasks
from simulator.verify.truth.needed import Names


class SharedFoldTasks:
    """The fold tasks of a run, and the workers that have them."""

    def __init__(self, run: Coordinator, script: Script) -> None:
        self._run = run
        self._tasks: FoldTasks | None = None
        self._queries: tuple[QueryName, ...] = ()
        self._known = asyncio.Event()
        """Event that is set once there are tasks, or there will be none."""
        self._given: dict[int, int] = {}
        """Number of a task -> the worker to which the task was given."""
        self._last: dict[int, int] = {}
        """Worker -> the last task given to the worker."""
        if not script.helps:
            self.dismiss()

    def offer(self, names: Names, tasks: FoldTasks) -> None:
        """Let workers take tasks from now on."""
        if not self._known.is_set():
            self._tasks = tasks
            self._queries = tuple(names[query] for query in tasks.queries)
            self._known.set()

    def dismiss(self) -> None:
        """Let the workers end."""
        self._tasks = None
        self._known.set()

    async def next(self, index: int) -> FoldReply:
        """Return a worker's next task, or permit it to end; wait first until there are tasks."""
        if not await self._run.hold(self._known):
            return FoldReply(over=self._run.stopped.is_set())
        tasks = self._tasks
        if tasks is None or self._run.stopped.is_set():
            return FoldReply(over=True)
        task = tasks.find_taken(self._last.get(index, -1))  # its reply was lost
        if task is None:
            task = await asyncio.to_thread(tasks.take)
        if task is None:
            return FoldReply(over=True)
        self._given[task.number], self._last[index] = index, task.number
        if task.window:
            return FoldReply(number=task.number, window=task.window)
        return FoldReply(number=task.number, queries=self._queries, ranges=task.ranges)

    async def take(self, index: int, folded: Folded) -> None:
        """Merge a worker's fold, unless the same task has been merged already."""
        number = folded.number
        if self._given.get(number) != index:
            raise Rejected(f"worker {index} has not been given fold task {number}")
        if self._tasks:
            await self._merge(self._tasks, index, folded)
        if self._last.get(index) == number:
            del self._last[index]

    @staticmethod
    async def _merge(tasks: FoldTasks, index: int, folded: Folded) -> None:
        number, content = folded.number, folded.content
        if content is None:
            await asyncio.to_thread(tasks.shrink, number)
            return
        try:
            await asyncio.to_thread(lambda: tasks.merge_bytes(number, b64decode(content)))
        except ValueError as error:
            raise Rejected(f"worker {index}: no fold for task {number}: {error}") from error
