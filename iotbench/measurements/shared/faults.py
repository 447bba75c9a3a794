"""Faults as options, and their effects in results. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.quantities import parse_duration_s, parse_share
from iotbench.config.input.values import Bytes, Notation, Seconds
from iotbench.results.faults import Outage, accounts_of
from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.spec import PlannedFault, Weather
from simulator.protocol.verdict import Accounts

RETRY_FOR_S = 300.0
"""Time for which workers of a run with faults retry, unless --retry-for sets it."""
COMMANDS = ("crash_with", "restart_with")
"""Names of the options with commands that run at a fault or after a fault."""


class Fault(StrEnum):
    """The kind of a fault."""

    PAUSE = "pause-database"
    KILL = "kill-database"
    RESTART = "restart-database"
    CRASH = "crash-node"
    FILL = "fill-disk"
    CUT = "cut-network"
    SLOW = "slow-network"
    WORKER = "kill-worker"

    @property
    def is_here(self) -> bool:
        """True if the fault requires the server on this machine."""
        return self in (Fault.PAUSE, Fault.KILL, Fault.FILL)

    @property
    def is_of_workers(self) -> bool:
        """True if the workers cause the fault."""
        return self in (Fault.CUT, Fault.SLOW, Fault.WORKER)


@dataclass(frozen=True, slots=True)
class FaultMoment:
    """A moment in the measured part: seconds after the beginning, or a share of the duration."""

    after_s: float = 0.0
    share: float = 0.0

    def within_s(self, duration_s: float) -> float:
        """Return the moment in seconds after the beginning of a part with this duration."""
        return self.after_s + self.share * duration_s


def parse_moment(text: str) -> FaultMoment:
    """Return a moment: 30s, 1m30s, 50%."""
    if text.strip().endswith("%"):
        return FaultMoment(share=parse_share(text))
    return FaultMoment(after_s=parse_duration_s(text))


def format_moment(moment: FaultMoment) -> str:
    """Return a moment as users write it."""
    return f"{100 * moment.share:g}%" if moment.share else f"{moment.after_s:g}s"


class Faults(Options):
    """The faults of a run, and their times."""

    GROUP: ClassVar[str] = "Faults"

    fault: Annotated[Fault | None, Opt(repeats=False)] = None
    """Cause a fault in the measured part: pause or kill the database's processes on this machine,
    restart the database with --restart-with, crash its node with --crash-with, fill --disk, cut or
    slow down the workers' network, or kill the workers' processes. The result has the time without
    an acknowledgement, the time until the rate recovers, and the fate of every row. Workers retry
    for 5 minutes, unless --retry-for sets the time.
    """
    at: Annotated[
        FaultMoment,
        Notation("duration|share", parse_moment, format_moment, float | str, format_moment),
    ] = FaultMoment(share=0.3)
    """Time of the first fault after the beginning of the measured part, such as 20s or 50%."""
    every_s: Seconds = 0.0
    """Interval between the beginnings of faults, such as 60s. 0: one fault."""
    for_s: Seconds = 5.0
    """Duration of the fault, after which the database resumes, --restart-with runs, the disk is
    freed, the network recovers, or the worker's process restarts.
    """
    restart_with: Annotated[str | None, Opt(metavar="COMMAND", kept=False)] = None
    """Command that restarts the database or its node, run in bash on this machine, such as
    'systemctl restart postgresql'. Without it, a killed database has to restart by itself.
    [default: `restart_with` of the target in config.yaml]
    """
    crash_with: Annotated[str | None, Opt(metavar="COMMAND", kept=False)] = None
    """Command that crashes the database's node, such as 'virsh destroy db1'; --restart-with boots
    the node again, even if this program is killed in between.
    """
    disk: Annotated[Path | None, Opt(metavar="FOLDER")] = None
    """Folder on the database's disk to fill with a file, which is removed after --for."""
    delay_s: Seconds = 0.1
    """Additional delay of a slow network, in each direction."""
    bandwidth: Annotated[Bytes | None, Opt(metavar="BYTES/S")] = None
    """Bytes/s through each connection of a slow network, in each direction, such as 1MB.
    [default: no limit]
    """

    def configuration(self) -> dict[str, Any]:
        """Return the options for the result, without the options of other faults."""
        found = super().configuration()
        for field in Faults.declare():
            if not self.fault or self.fault not in _ONLY_FOR.get(field, (self.fault,)):
                found.pop(field, None)
        return found

    @property
    def commands(self) -> dict[str, str]:
        """Option -> command that runs at a fault or after a fault."""
        return {name: command for name in COMMANDS if (command := getattr(self, name))}

    def add_restart(self, command: str) -> Self:
        """Return the faults with a target's own command if they end by a restart without one."""
        if self.fault not in _ENDED_BY_RESTART or self.restart_with or not command:
            return self
        return self.model_copy(update={"restart_with": command})

    @property
    def lasts_s(self) -> float:
        """Minimum duration of the fault."""
        return 0.0 if self.fault is Fault.RESTART else self.for_s

    def instants_s(self, duration_s: float) -> list[float]:
        """Return the times of the faults, in seconds from the beginning of the measured part."""
        if not self.fault:
            return []
        found = [self.at.within_s(duration_s)]
        while self.every_s and found[-1] + self.every_s + self.lasts_s < duration_s:
            found.append(found[-1] + self.every_s)
        return found

    def plan_fault(self, duration_s: float) -> PlannedFault | None:
        """Return the planned faults of a measured part with this duration."""
        if not self.fault:
            return None
        weather = {
            Fault.CUT: Weather(is_cut=True),
            Fault.SLOW: Weather(delay_s=self.delay_s, bytes_per_s=self.bandwidth or 0),
        }
        return PlannedFault(
            name=self.fault,
            instants_s=tuple(self.instants_s(duration_s)),
            lasts_s=self.lasts_s,
            network=weather.get(self.fault),
            kills_workers=self.fault is Fault.WORKER,
        )

    def outline(self, duration_s: float) -> Iterator[str]:
        """Yield lines about the faults, their times and their ends."""
        at = ", ".join(f"{each:g} s" for each in self.instants_s(duration_s))
        length = f", for {self.for_s:g} s" if self.lasts_s else ""
        yield f"fault: {self.fault} at {at} of each run{length}"
        if self.crash_with:
            yield f"at each fault: {self.crash_with}"
        if self.restart_with:
            yield f"after each fault: {self.restart_with}"

    def fault_problems(self, duration_s: float) -> list[str]:
        """Return problems with the options; `duration_s`: of the measured part, 0 if unlimited."""
        if not self.fault:
            return [
                f"{each.names[0]}: applies to --fault only; add --fault, or leave it out"
                for field, each in Faults.declare().items()
                if getattr(self, field) != each.info.get_default()
            ]
        if not duration_s:
            return ["--fault: needs a measured part of known length; add --duration, such as 1m"]
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
        return [*problems, *self._list_missing(), *self._list_unused()]

    def list_unrestarted(self, target_command: str) -> Iterator[str]:
        """Yield a problem if neither options nor target have the command that ends the fault."""
        if self.fault in _RESTARTS and not (self.restart_with or target_command):
            yield (
                f"--fault {self.fault}: add the command that restarts it, such as"
                f" --restart-with '{_RESTARTS[self.fault]}', or `restart_with` of the target in"
                " config.yaml"
            )

    def _list_missing(self) -> Iterator[str]:
        """Yield a problem for each option that the fault needs but that is not given."""
        if self.fault is Fault.CRASH and not self.crash_with:
            yield (
                f"--fault {self.fault}: add the command that crashes it, such as"
                " --crash-with 'virsh destroy db1'"
            )
        if self.fault is Fault.FILL and not self.disk:
            yield (
                f"--fault {self.fault}: add the folder of the database's data, such as --disk"
                " /var/lib/postgresql"
            )
        if self.fault is Fault.SLOW and not (self.delay_s or self.bandwidth):
            yield f"--fault {self.fault}: neither --delay nor --bandwidth makes it slow; give one"

    def _list_unused(self) -> Iterator[str]:
        """Yield a problem for each option that does not apply to the fault."""
        declared = Faults.declare()
        for field, faults in _ONLY_FOR.items():
            each = declared[field]
            if self.fault not in faults and getattr(self, field) != each.info.get_default():
                yield (
                    f"{each.names[0]}: is for --fault {', '.join(faults)}; leave it out with"
                    f" {self.fault}"
                )


_ENDED_BY_RESTART = (Fault.KILL, Fault.RESTART, Fault.CRASH)
"""Faults after which a target's own `restart_with` runs, unless the option is given."""
_RESTARTS = {Fault.RESTART: "systemctl restart postgresql", Fault.CRASH: "virsh start db1"}
_ONLY_FOR = {
    "restart_with": (Fault.KILL, Fault.RESTART, Fault.CRASH, Fault.FILL),
    "crash_with": (Fault.CRASH,),
    "disk": (Fault.FILL,),
    "delay_s": (Fault.SLOW,),
    "bandwidth": (Fault.SLOW,),
}
"""Option -> faults to which the option applies; options that are not listed apply to all faults."""


def fault_facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield (name, text) for each fault, and for the rows of each run."""
    for run in result.runs:
        at = f"{counted(run.workers, 'worker')}, run {run.run}: " if len(result.runs) > 1 else ""
        for each in run.outages:
            yield each.fault, f"{at}{_format_outage(each)}"
        if accounts := accounts_of(run.outcome):
            yield "rows after faults", f"{at}{_format_accounts(accounts)}"
        if again := sum(worker.queries_again for worker in run.outcome.workers):
            yield "queries at faults", f"{at}{counted(again, 'attempt')} failed and made again"


def _format_outage(outage: Outage) -> str:
    back = (
        f"back at 95 % of {outage.rows_per_s_before:,.0f} rows/s after {outage.recovery_s:.1f} s"
        if outage.recovery_s is not None
        else f"not back at 95 % of {outage.rows_per_s_before:,.0f} rows/s"
    )
    parts = [
        f"from {outage.began_s:.1f} s to {outage.undone_s:.1f} s",
        f"{outage.silent_s:.2f} s without an acknowledgement",
        f"the first one {outage.first_after_s:.2f} s after its end",
        back,
    ]
    until = (
        f"until latency was back, after {outage.settled_s:.1f} s,"
        if outage.settled_s is not None
        else "from then on"
    )
    if outage.p99_inside_ms is not None and outage.p99_outside_ms is not None:
        parts.append(
            f"p99 {_format_ms(outage.p99_inside_ms)} ms {until} and"
            f" {_format_ms(outage.p99_outside_ms)} ms otherwise"
        )
    return "; ".join(parts)


def _format_ms(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _format_accounts(found: Accounts) -> str:
    announced = " (as the server announces)" if found.announced else " (against its promise)"
    parts = [
        (
            f"{found.kept + found.lost:,} acknowledged, of which {found.lost:,} lost"
            f"{announced if found.lost else ''}"
        ),
        f"{found.present + found.absent:,} of unknown outcome, of which {found.present:,} stored",
        f"{found.doubled:,} stored twice",
        f"{found.foreign:,} never sent",
    ]
    return "; ".join([*parts, *[f"{found.torn:,} stored in part"] * bool(found.torn)])
