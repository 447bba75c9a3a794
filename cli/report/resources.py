"""What a run used, as one line below the table."""

from collections.abc import Callable, Sequence

from cli.host.resources import AFTER, BEFORE, Resources, Sample, Used, mean_of


def used(found: Resources, phase: str) -> str:
    """Return what was used in one phase, and by the machine at rest."""
    timed = _of(found, phase)
    server = _group(timed, lambda sample: sample.server)
    words = [
        f"server {found.server}{server and f', {server}'}",
        f"client {_group(timed, lambda sample: sample.client)}" if timed else "",
        f"machine {_machine(timed)}" if timed else "",
        *(f"{_machine(rest)} at rest {name}" if (rest := _of(found, name)) else ""
          for name in (BEFORE, AFTER)),
    ]  # fmt: skip
    return "; ".join(word for word in words if word)


def _of(found: Resources, phase: str) -> list[Sample]:
    return [sample for sample in found.samples if sample.phase == phase]


def _group(samples: Sequence[Sample], of: Callable[[Sample], Used | None]) -> str:
    """Return mean cores and the most memory of some processes; empty if they were not measured."""
    pairs = [(found, sample.duration_s) for sample in samples if (found := of(sample))]
    if not pairs:
        return ""
    cores = mean_of((used.cores, duration_s) for used, duration_s in pairs)
    most_bytes = max(used.memory_bytes for used, _ in pairs)
    return f"{cores:.2f} cores, at most {most_bytes / 2**20:,.0f} MiB"


def _machine(samples: Sequence[Sample]) -> str:
    cores = mean_of((sample.machine_cores, sample.duration_s) for sample in samples)
    return f"{cores:.2f} cores, load {samples[-1].machine_load:.1f}"
