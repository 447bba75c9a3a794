"""The number of workers that a database answers within a response time, found by `query --ramp`."""

from collections.abc import Iterator

from iotbench.figures.numbers import significant
from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.events import QueryRamp, RampEnd


def ramps_of(result: Result) -> Iterator[str]:
    """Yield a line for each query and run."""
    limit_ms = 1000 * float(result.configuration.get("ramp_limit_s") or 0.0)
    for run in result.runs:
        for ramp in run.outcome.ramps:
            yield f"ramp {ramp.query}: {_describe_end(ramp, limit_ms)}"


def _describe_end(ramp: QueryRamp, limit_ms: float) -> str:
    average = f"{significant(ramp.wait_ms_avg)} ms on average"
    workers = counted(ramp.workers, "worker")
    match ramp.end:
        case RampEnd.LIMIT:
            return f"answers passed {limit_ms:,g} ms with {workers}: {average}"
        case RampEnd.ABORT:
            return f"answers passed three times {limit_ms:,g} ms with {workers}: {average}"
        case RampEnd.ALL:
            return f"answers stayed within {limit_ms:,g} ms with all {workers}: {average}"
