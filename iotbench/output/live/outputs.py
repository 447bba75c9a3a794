"""Outputs of a sweep during its runs, in addition to the terminal."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated, ClassVar, Protocol

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Notation
from iotbench.output.live.address import Address, parse_address
from iotbench.output.live.metrics import SweepMetrics, open_writer, problem_with
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.result import Result
from simulator.errors import ConfigError


class LiveOutput(Protocol):
    """An output that shows each moment of a sweep, and neither fails nor blocks."""

    def take(self, moment: SweepMoment) -> None:
        """Show a moment."""


class MetricsOutput(Options):
    """The option for the metrics of any number of sweeps."""

    GROUP: ClassVar[str] = "Live"

    metrics_out: Annotated[str | None, Opt(metavar="FILE|URL|otlp", stored=False)] = None
    """Write rate, latency, errors and time left to this file in OpenMetrics, about once a second;
    or send them to this URL by POST, such as http://host:8428/api/v1/import/prometheus; or by
    OTLP to the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT, or to otlp+http://host:4318.
    """

    def check(self, problems: list[str]) -> None:
        """Check the outputs before anything starts; add problems to `problems`."""
        if self.metrics_out is not None and (problem := problem_with(self.metrics_out)):
            problems.append(f"--metrics-out: {problem}")

    def expect(self) -> None:
        """Check the outputs; ConfigError with all problems."""
        problems: list[str] = []
        self.check(problems)
        if problems:
            raise ConfigError(problems)

    @contextmanager
    def open_metrics(self) -> Iterator[Callable[[Result], tuple[LiveOutput, ...]]]:
        """Yield a function that returns the metrics output of a sweep, if there is one."""
        if self.metrics_out is None:
            yield lambda _: ()
            return
        with open_writer(self.metrics_out) as writer:
            yield lambda result: (SweepMetrics(writer, result),)


class Outputs(MetricsOutput):
    """Options for outputs during the runs of a sweep."""

    ui: Annotated[
        Annotated[Address, Notation("[host]:port", parse_address)] | None, Opt(stored=False)
    ] = None
    """Serve a page that shows the progress of the sweep, on this machine only unless a host is
    given; anyone who can connect can read it. Port 0: any free port.
    """

    @property
    def alone(self) -> list[str]:
        """Given options that apply to a single sweep only."""
        return ["--ui"] if self.ui else []

    def check(self, problems: list[str]) -> None:
        super().check(problems)
        if self.ui:
            try:
                self.ui.listener().close()
            except ConfigError as error:
                problems += error.problems

    @contextmanager
    def open_all(self, result: Result, runs: int) -> Iterator[tuple[LiveOutput, ...]]:
        """Yield the opened outputs of a sweep of `runs` runs; ConfigError if one fails."""
        with ExitStack() as stack:
            found: list[LiveOutput] = []
            if self.ui:
                from iotbench.output.live.server import LivePage  # noqa: PLC0415 - slow to load

                found.append(stack.enter_context(LivePage(self.ui, result, runs)))
            yield (*found, *stack.enter_context(self.open_metrics())(result))
