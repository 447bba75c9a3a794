"""Where a sweep is shown as it goes, besides the terminal."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cli.live import file, push
from cli.live.address import Address
from cli.report.course import Moment
from cli.results.result import Result
from simulator.errors import ConfigError


class Output(Protocol):
    """Something that takes each moment of a sweep; it never fails, and never waits."""

    def take(self, moment: Moment) -> None:
        """Show a moment."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the user has asked for."""

    metrics: str | None = None
    """A file or a URL."""
    page: Address | None = None

    @property
    def _is_url(self) -> bool:
        return bool(self.metrics) and "://" in str(self.metrics)

    def check(self, problems: list[str]) -> None:
        """Add why these outputs cannot be made to `problems`, before anything starts."""
        if self.metrics is not None:
            problem = (
                push.problem_with(self.metrics)
                if self._is_url
                else file.problem_with(Path(self.metrics))
            )
            problems += [f"--metrics-out: {problem}"] if problem else []
        if self.page:
            try:
                self.page.listener().close()
            except ConfigError as error:
                problems += error.problems

    @contextmanager
    def opened(self, result: Result, runs: int) -> Iterator[tuple[Output, ...]]:
        """Yield the outputs of a sweep of so many runs; ConfigError if one cannot be made."""
        with ExitStack() as stack:
            found: list[Output] = []
            if self.page:
                from cli.live.server import LivePage  # noqa: PLC0415 - slow to load

                found.append(stack.enter_context(LivePage(self.page, result, runs)))
            if self.metrics is not None and self._is_url:
                found.append(stack.enter_context(push.MetricsPush(self.metrics, result)))
            elif self.metrics is not None:
                found.append(stack.enter_context(file.MetricsFile(Path(self.metrics), result)))
            yield tuple(found)
