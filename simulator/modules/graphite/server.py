"""The existing generations of tables, found by the points that mark them."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from simulator.errors import SetupError
from simulator.modules.contract import MISSING
from simulator.modules.graphite import query as queries


class Generations:
    """The generations of all tables with a prefix, as graphite-web last listed them."""

    def __init__(self, ask: Callable[[str], Any], prefix: str) -> None:
        """Store the function that returns graphite-web's answer to a path."""
        self._ask = ask
        self._prefix = prefix
        self._marked: dict[str, dict[str, int]] = {queries.CREATED: {}, queries.DROPPED: {}}
        """The newest generation of each table that was created, and dropped."""

    def learn(self) -> set[str]:
        """Read which generations of which tables exist; return the paths that mark them."""
        kinds = f"{{{queries.CREATED},{queries.DROPPED}}}"
        asked = urlencode({"query": f"{self._prefix}*.{kinds}.*", "leavesOnly": 1})
        paths = {str(path) for path in self._ask(f"/metrics/expand?{asked}")["results"]}
        for path in paths:
            name, kind, generation = queries.generation_of(path.removeprefix(self._prefix))
            newest = self._marked[kind]
            newest[name] = max(newest.get(name, 0), generation)
        return paths

    def newest(self, name: str) -> int:
        """Return the newest generation of a physical table; 0 if it was never created."""
        return self._marked[queries.CREATED].get(name, 0)

    def exists(self, name: str) -> bool:
        """Return whether a physical table was created and not dropped since."""
        return self.newest(name) > self._marked[queries.DROPPED].get(name, 0)

    def of(self, name: str) -> int:
        """Return the generation of a table; SetupError if the table does not exist."""
        if not self.exists(name):
            self.learn()  # it may have been created since
        if not self.exists(name):
            raise SetupError(f"graphite: table {name} does not exist; {MISSING}")
        return self.newest(name)

    def has_path(self, name: str) -> bool:
        """Return whether there is a metric, or a folder of metrics, at the path of a table."""
        return bool(self._nodes(f"{self._prefix}{name}"))

    def paths_below(self, name: str) -> int:
        """Return how many nodes are below the path of a table, or of other metrics."""
        generation = [str(self.newest(name))] if self.newest(name) else []
        return len(self._nodes(".".join([f"{self._prefix}{name}", *generation, "*"])))

    def _nodes(self, path: str) -> list[Any]:
        return list(self._ask(f"/metrics/find?{urlencode({'query': path})}"))
