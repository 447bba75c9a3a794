"""Rates, and stages of a run in the user's notation: `1:1m,8@5k:5m`. Pure."""

import reprlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated

from iotbench.config.input.quantities import LONGEST_S, parse_count, parse_duration_s, parse_number
from iotbench.config.input.values import Notation
from iotbench.measurements.shared.options import MOST_WORKERS
from simulator.protocol.messages import MOST_STAGES
from simulator.protocol.pace import LoadStage

SLOWEST_RATE, FASTEST_RATE = 0.001, 1e9
_EXCLUDED = "--stages sets the number of active workers and the time; use one of them"


def parse_stages(text: str) -> tuple[LoadStage, ...]:
    """Return stages: numbers of active workers, each with a duration and optionally a rate."""
    words = text.split(",")
    try:
        found = tuple(_parse_stage(word) for word in words[: MOST_STAGES + 1])
    except ValueError:
        found = ()
    if not 0 < len(found) <= MOST_STAGES:
        raise ValueError(
            f"expected up to {MOST_STAGES} stages WORKERS:DURATION or WORKERS@RATE:DURATION"
            f" separated by commas, such as 1:1m,8@5k:5m, got {reprlib.repr(text)}"
        )
    return found


def _parse_stage(word: str) -> LoadStage:
    load, _, duration = word.partition(":")
    workers, at, rate = load.partition("@")
    stage = LoadStage(
        workers=parse_count(workers),
        duration_s=parse_duration_s(duration),
        rate_per_s=parse_number(rate) if at else 0.0,
    )
    if at and not SLOWEST_RATE <= stage.rate_per_s <= FASTEST_RATE:
        raise ValueError(rate)
    return stage


def format_stages(stages: Sequence[LoadStage]) -> str:
    """Return the text of stages."""
    return ",".join(map(_format_stage, stages))


def _format_stage(stage: LoadStage) -> str:
    rate = f"@{stage.rate_per_s:.15g}" if stage.rate_per_s else ""
    return f"{stage.workers}{rate}:{stage.duration_s:.15g}s"


Stages = Annotated[
    tuple[LoadStage, ...],
    Notation("n[@rate]:duration,...", parse_stages, format_stages, str, format_stages),
]


def duration_of(stages: Sequence[LoadStage]) -> float:
    """Return the duration of all stages together, in seconds."""
    return sum(stage.duration_s for stage in stages)


def are_scheduled(stages: Sequence[LoadStage], rate: float) -> bool:
    """Return whether every stage has a rate; without stages, whether the run has one."""
    return bool(rate) or (bool(stages) and all(stage.rate_per_s for stage in stages))


def most_workers(stages: Sequence[LoadStage]) -> int:
    """Return the number of workers in the largest stage."""
    return max((stage.workers for stage in stages), default=0)


def stage_problems(stages: Sequence[LoadStage], others: Mapping[str, object]) -> Iterator[str]:
    """Yield why stages cannot be measured: number of workers, duration, or other options.

    `others`: excluded option -> whether it is given.
    """
    if not stages:
        return
    if most_workers(stages) > MOST_WORKERS:
        yield f"--stages: at most {MOST_WORKERS:,} workers, got {most_workers(stages):,}"
    if duration_of(stages) > LONGEST_S:
        yield f"--stages: all together at most {LONGEST_S / 86400:g}d, got {duration_of(stages):g}s"
    for name, is_given in others.items():
        if is_given:
            yield f"{name}: {_EXCLUDED}"


def stage_conflicts(stages: Sequence[LoadStage], given: Collection[str]) -> list[str]:
    """Return conflicts of given options with stages that `stage_problems` cannot find.

    `stage_problems` sees values, which do not show whether an option was given.
    """
    return [f"--workers: {_EXCLUDED}"] if stages and "--workers" in given else []


def counts_of(stages: Sequence[LoadStage], workers: tuple[int, ...]) -> tuple[int, ...]:
    """Return the worker counts to start: of the largest stage, or --workers without stages."""
    return (most_workers(stages),) if stages else workers


def rate_problems(rates: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each rate outside the limits; `rates`: name of the option -> rate."""
    for name, rate in rates.items():
        if rate and not SLOWEST_RATE <= rate <= FASTEST_RATE:
            yield (
                f"{name}: expected 0 for no limit, or {SLOWEST_RATE:g} to {FASTEST_RATE:,.0f} per"
                f" second, got {rate:g}"
            )
