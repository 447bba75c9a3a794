"""VictoriaMetrics, single node, from Debian sid."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers import packages
from tests.servers.base import Program, Server, answers

_PACKAGE = "1.145.0+ds1-2"


class VictoriaMetrics(Server):
    """A victoria-metrics with a retention of a hundred years, also for the future."""

    name = "victoriametrics"
    targets = ("victoriametrics",)
    version = "1.145.0"

    def __init__(self, **settings: str) -> None:
        """Take settings of the server; a double underscore stands for a dot."""
        super().__init__()
        self._settings = {name.replace("__", "."): value for name, value in settings.items()}

    @classmethod
    def build(cls, folder: Path) -> None:
        # The program runs with the libraries of older releases.
        skip = r"^(?!victoria-metrics$)"
        packages.debian_suite("sid", folder, f"victoria-metrics={_PACKAGE}", skip=skip)

    def programs(self) -> Iterator[list[Program]]:
        settings = {
            "storageDataPath": str(self.folder / "data"),
            "httpListenAddr": f"127.0.0.1:{self.port()}",
            "retentionPeriod": "100y",
            "futureRetention": "100y",
            "memory.allowedBytes": "1GiB",
            **self._settings,
        }
        program = self.home / "usr/bin/victoria-metrics"
        command = [program, *(f"-{name}={value}" for name, value in settings.items())]
        yield [Program(self.name, command, lambda: answers(f"{self.url}/health"))]

    def options(self, database: str) -> dict[str, Any]:
        return {"url": self.url, "prefix": f"{database}_"}
