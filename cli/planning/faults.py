"""Faults, as options: what is made to fail while rows are inserted, and when. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from cli.input.options import Opt, Options
from cli.input.quantities import LONGEST_S, parse_duration_s, parse_share
from cli.input.values import Notation, Seconds

RETRY_FOR_S = 300.0
"""For how long workers of a run with faults go on, unless --retry-for says it."""


class Fault(StrEnum):
    """What is made to fail."""

    PAUSE = "pause-database"
    KILL = "kill-database"
    RESTART = "restart-database"


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of the measured part: so many seconds after its beginning, or a share of it."""

    after_s: float = 0.0
    share: float = 0.0

    def within_s(self, duration_s: float) -> float:
        """Return the seconds from the beginning of a part of this length."""
        return self.after_s + self.share * duration_s


def parse_moment(text: str) -> Moment:
    """Return a moment: 30s, 1m30s, 50%."""
    if text.strip().endswith("%"):
        return Moment(share=parse_share(text))
    return Moment(after_s=parse_duration_s(text))


def written_moment(moment: Moment) -> str:
    """Return a moment as users write it."""
    return f"{100 * moment.share:g}%" if moment.share else f"{moment.after_s:g}s"


class Faults(Options):
    """What is made to fail, and when."""

    GROUP: ClassVar[str] = "Faults"

    fault: Fault | None = None
    """Make the database fail while rows are inserted: stop its processes on this machine for a
    while (pause), kill them, or restart it by --restart-with. The result has the time without an
    acknowledgement, the time until the rate is back, and what became of every row. Workers try
    again for 5 minutes, unless --retry-for says for how long.
    """
    at: Annotated[
        Moment,
        Notation("duration|share", parse_moment, written_moment, float | str, written_moment),
    ] = Moment(share=0.3)
    """When it fails first, after the beginning of the measured part, such as 20s, or 50% of it."""
    every_s: Annotated[Seconds, Opt(least=0, most=LONGEST_S)] = 0.0
    """Again so long after it failed the last time, such as 60s; 0: it fails once."""
    for_s: Annotated[Seconds, Opt(least=0, most=LONGEST_S)] = 5.0
    """How long it stays paused, or killed before --restart-with runs."""
    restart_with: Annotated[str | None, Opt(metavar="COMMAND", kept=False)] = None
    """Start the database again with this command, which runs in bash on this machine, such as
    'systemctl restart postgresql'. Without it, a killed database has to come back by itself.
    """

    @property
    def lasts_s(self) -> float:
        """How long the database fails, at least."""
        return 0.0 if self.fault is Fault.RESTART else self.for_s

    def instants_s(self, duration_s: float) -> list[float]:
        """Return when it fails in a measured part of this length, in seconds from its beginning."""
        if not self.fault:
            return []
        found = [self.at.within_s(duration_s)]
        while self.every_s and found[-1] + self.every_s + self.lasts_s < duration_s:
            found.append(found[-1] + self.every_s)
        return found

    def outline(self, duration_s: float) -> Iterator[str]:
        """Yield what fails when, and how it ends, a line each."""
        at = ", ".join(f"{each:g} s" for each in self.instants_s(duration_s))
        length = f", for {self.for_s:g} s" if self.lasts_s else ""
        yield f"fault: {self.fault} at {at} of each run{length}"
        if self.restart_with:
            yield f"after each fault: {self.restart_with}"

    def fault_problems(self, duration_s: float) -> list[str]:
        """Return what does not go together; the measured part ends after so long, or 0: by rows."""
        if not self.fault:
            return [
                f"{each.names[0]}: says how the database fails; add --fault, or leave it out"
                for field, each in Faults.declared().items()
                if getattr(self, field) != each.info.get_default()
            ]
        if not duration_s:
            return ["--fault: workers go on for a known time meanwhile; add --duration, such as 1m"]
        problems = []
        ends_s = self.at.within_s(duration_s) + self.lasts_s
        if ends_s >= duration_s:
            problems.append(
                f"--at, --for: the fault lasts until {ends_s:g} s, and the measured part ends after"
                f" {duration_s:g} s; use a longer --duration, or an earlier and shorter fault"
            )
        if 0 < self.every_s <= self.lasts_s:
            problems.append(
                f"--every: expected more than the {self.for_s:g} s of --for, got {self.every_s:g}s"
            )
        if self.fault is Fault.PAUSE and self.restart_with:
            problems.append(
                "--restart-with: a paused database goes on by itself; leave it out, or use --fault"
                f" {Fault.KILL}"
            )
        if self.fault is Fault.RESTART and not self.restart_with:
            problems.append(
                f"--fault {Fault.RESTART}: add the command that restarts it, such as"
                " --restart-with 'systemctl restart postgresql'"
            )
        return problems
