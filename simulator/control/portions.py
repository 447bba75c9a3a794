"""Workers that have reported help the collector: they fold portions of the dataset.

On the event loop; what takes long runs in threads. A helper that is lost or slow ends nothing: the
collector folds what is not brought back.
"""

import asyncio
from base64 import b64decode

from simulator.control.coordinator import Coordinator
from simulator.control.reports import Rejected
from simulator.control.script import Script
from simulator.protocol.messages import Folded, PortionReply, QueryName
from simulator.verify.needed import Names
from simulator.verify.portions import Portions


class SharedPortions:
    """The portions of the run, and who has been given which."""

    def __init__(self, run: Coordinator, script: Script) -> None:
        self._run = run
        self._portions: Portions | None = None
        self._queries: tuple[QueryName, ...] = ()
        self._known = asyncio.Event()
        """Set once there are portions, or it is known that there will be none."""
        self._given: dict[int, int] = {}
        """Portion -> the worker that got it."""
        self._last: dict[int, int] = {}
        """Worker -> the portion that it got last."""
        if not script.helps:
            self.dismiss()

    def offer(self, names: Names, portions: Portions) -> None:
        """Let workers take portions from now on."""
        if not self._known.is_set():
            self._portions = portions
            self._queries = tuple(names[query] for query in portions.queries)
            self._known.set()

    def dismiss(self) -> None:
        """Let the workers end."""
        self._portions = None
        self._known.set()

    async def next(self, index: int) -> PortionReply:
        """Hold a worker for a while; return a portion, or that it may end."""
        if not await self._run.held(self._known):
            return PortionReply(over=self._run.stopped.is_set())
        portions = self._portions
        if portions is None or self._run.stopped.is_set():
            return PortionReply(over=True)
        portion = portions.taken(self._last.get(index, -1))  # the reply with it was lost
        if portion is None:
            portion = await asyncio.to_thread(portions.take)
        if portion is None:
            return PortionReply(over=True)
        self._given[portion.number], self._last[index] = index, portion.number
        return PortionReply(number=portion.number, queries=self._queries, ranges=portion.ranges)

    async def take(self, index: int, folded: Folded) -> None:
        """Merge what a worker has folded, unless somebody else has folded it meanwhile."""
        number = folded.number
        if self._given.get(number) != index:
            raise Rejected(f"worker {index} has not been given portion {number}")
        if self._portions:
            await self._merge(self._portions, index, folded)
        if self._last.get(index) == number:
            del self._last[index]

    @staticmethod
    async def _merge(portions: Portions, index: int, folded: Folded) -> None:
        number, content = folded.number, folded.content
        if content is None:
            await asyncio.to_thread(portions.shrink, number)
            return
        try:
            await asyncio.to_thread(lambda: portions.merge_bytes(number, b64decode(content)))
        except ValueError as error:
            raise Rejected(f"worker {index}: no fold of portion {number}: {error}") from error
