"""Why a run is refused: the tables are somebody else's, or hold other rows; the remedies. Pure."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.errors import BenchError, MismatchError, SetupError, counted, sized
from simulator.modules.existing import MOST_COUNTED, Contents, Existing
from simulator.protocol.mark import Mark, State


@dataclass(frozen=True, slots=True)
class Foreign:
    """What bears a name that a run needs, and was not made by this program."""

    name: str
    existing: Existing
    contents: Contents

    @property
    def description(self) -> str:
        """What it is, and how much is stored in it."""
        return f"{self.existing.kind} {self.name} ({_stored(self.contents)})"


def refused(target: str, foreign: Sequence[Foreign], *, prefixes: bool, drops: bool) -> str:
    """Return why a run is refused, and the remedies.

    `prefixes`: whether other names are a remedy; `drops`: whether the run drops what it replaces.
    """
    *others, last = (each.description for each in foreign)
    listed = f"{', '.join(others)} and {last}" if others else last
    several = len(foreign) > 1
    what, whose = ("them", "names") if several else ("it", "name")
    remedies = [f"use another database (`targets {target}` lists the options of the target)"]
    if not drops:
        remedies.append(
            f"run insert first; if an earlier version of this program made {what}, `verify"
            f" --target {target}` recognises the rows"
        )
    elif prefixes:
        remedies.append("use other names (--table-prefix bench_)")
    if drops and all(each.existing.alike for each in foreign):
        flags = " ".join(f"--replace-table {shlex.quote(each.name)}" for each in foreign)
        remedies.append(f"drop {what}, with everything that is stored there ({flags})")
    elif drops:
        remedies.append(f"remove {what} yourself, which --replace-table cannot")
    return (
        f"{target}: this program did not make {listed}, whose {whose} this run needs; nothing was"
        f" changed. Either {', or '.join(remedies)}"
    )


def of_another(target: str, mark: Mark) -> str:
    """Return why a run is refused whose tables hold the rows of another insert."""
    if mark.state in (State.CLEARING, State.WRITING, State.CHANGING):
        return (
            f"the tables of {target} were written by another insert, which did not end or still"
            f" runs: {mark.describe()}; wait for it, or run insert again"
        )
    return (
        f"the tables of {target} hold the rows of another insert: {mark.describe()}; name its"
        " result file with --dataset, or run insert again"
    )


def unfinished(target: str, mark: Mark | None) -> SetupError:
    """Return the error for rows of an insert that did not end."""
    which = f" ({mark.describe()})" if mark else ""
    if mark and mark.state is State.CLEARING:
        return SetupError(
            f"the last insert of {target} did not end: it was interrupted while it"
            f" created the tables, which may hold anything{which}; run insert again"
        )
    if mark and mark.state is State.CHANGING:
        return SetupError(
            f"the rows of {target} were being changed by a run that did not end or still runs, so"
            f" nobody knows which of them are as they were{which}; wait for it, or run insert again"
        )
    return SetupError(
        f"the last insert of {target} did not end, or not all of its rows are"
        f" stored{which}: run insert again, or `verify`, which counts the stored rows"
    )


def wrong_count(target: str, mark: Mark | None, stored: int, expected: int) -> BenchError:
    """Return the error for another number of rows than the expected one."""
    if mark:
        return MismatchError(
            f"the tables of {target} hold {counted(stored, 'row')}, but their insert left"
            f" {expected:,} ({mark.describe()}): the data is wrong; `verify` names the rows"
        )
    return SetupError(
        f"the tables of {target} hold {counted(stored, 'row')}, but its last insert left"
        f" {expected:,}, and no mark in the database says whose rows they are: run insert"
        " again, or name the result file of the insert that wrote them with --dataset"
    )


def _stored(contents: Contents) -> str:
    rows, size_bytes = contents.rows, contents.size_bytes
    shown = "rows unknown" if rows is None else counted(rows, contents.noun)
    if rows is not None and rows > MOST_COUNTED:
        shown = f"more than {MOST_COUNTED:,} rows"
    return f"{shown}, {'size unknown' if size_bytes is None else sized(size_bytes)}"
