"""Resources that a run used in a phase, as values and as a line below the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iotbench.machine.resources import AFTER, BEFORE, Resources, Sample, Used, mean_of


@dataclass(frozen=True, slots=True)
class Busy:
    """The machine's use of resources in a phase."""

    cores: float
    load: float | None
    """Load at the end of the phase."""


def server_in(found: Resources, phase: str) -> Used | None:
    """Return the server's mean cores and peak memory in a phase; None if not measured."""
    return _measure_used(_select(found, phase), lambda sample: sample.server)


def client_in(found: Resources, phase: str) -> Used | None:
    """Return the client's mean cores and peak memory in a phase; None if not measured."""
    return _measure_used(_select(found, phase), lambda sample: sample.client)


def machine_in(found: Resources, phase: str) -> Busy | None:
    """Return the machine's mean cores and load in a phase; None if not measured."""
    samples = _select(found, phase)
    timed = [(each.machine_cores, each.duration_s) for each in samples
             if each.machine_cores is not None]  # fmt: skip
    return Busy(mean_of(timed), samples[-1].machine_load) if timed else None


def measure_used(found: Resources, phase: str) -> str:
    """Return a line about the resources that were used in a phase, and by the machine at rest."""
    server, client = server_in(found, phase), client_in(found, phase)
    machine = machine_in(found, phase)
    words = [f"server {found.server}{f', {_format(server)}' if server else ''}"]
    words += [f"client {_format(client)}"] if client else []
    words += [f"{found.machine or 'machine'} {_format_busy(machine)}"] if machine else []
    words += [f"{_format_busy(rest)} at rest {name}" for name in (BEFORE, AFTER)
              if (rest := machine_in(found, name))]  # fmt: skip
    if client is None and found.short_phases:
        words.append(f"not all was measured: {found.short_phases}")
    return "; ".join(words)


def _select(found: Resources, phase: str) -> list[Sample]:
    return [sample for sample in found.samples if sample.phase == phase]


def _measure_used(samples: Sequence[Sample], of: Callable[[Sample], Used | None]) -> Used | None:
    pairs = [(part, sample.duration_s) for sample in samples if (part := of(sample))]
    if not pairs:
        return None
    return Used(
        cores=mean_of((part.cores, duration_s) for part, duration_s in pairs),
        memory_bytes=max(part.memory_bytes for part, _ in pairs),
    )


def _format(part: Used) -> str:
    return f"{part.cores:.2f} cores, at most {part.memory_bytes / 2**20:,.0f} MiB"


def _format_busy(machine: Busy) -> str:
    load = "" if machine.load is None else f", load {machine.load:.1f}"
    return f"{machine.cores:.2f} cores{load}"
