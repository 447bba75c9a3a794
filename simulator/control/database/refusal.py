"""Explains the refusal of a run, because of foreign tables or other rows, and the remedies."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulator.data.schema import Table
from simulator.errors import BenchError, MismatchError, SetupError, counted, format_size
from simulator.modules.contract import MOST_COUNTED, OWN, Contents, Existing
from simulator.protocol.mark import UNFINISHED, Mark, State
from simulator.protocol.verdict import Check


def list_reserved(tables: Iterable[Table]) -> list[str]:
    """Return a problem for each table with a name that is reserved for this program."""
    return [
        f"table {table.name}: names that begin with {OWN} are kept for this program's own tables;"
        " rename the table, or the file that it is made from, or use --table-prefix bench_"
        for table in tables
        if any(name.lower().startswith(OWN) for name in (*table.names, table.container))
    ]


@dataclass(frozen=True, slots=True)
class Foreign:
    """An object with a name needed by a run, but not made by this program."""

    name: str
    existing: Existing
    contents: Contents | None = None
    """Size of the stored contents; None: the object stores nothing."""

    @property
    def description(self) -> str:
        """Description of the object: kind, name, and amount of stored data."""
        stored = f" ({_describe_contents(self.contents)})" if self.contents else ""
        return f"{self.existing.kind} {self.name}{stored}"


def explain_refusal(target: str, foreign: Sequence[Foreign], *, prefixes: bool, drops: bool) -> str:
    """Return why a run is refused, and the remedies.

    `prefixes` is True if --table-prefix is a remedy, `drops` if the run drops and creates the
    tables.
    """
    *others, last = (each.description for each in foreign)
    listed = f"{', '.join(others)} and {last}" if others else last
    several = len(foreign) > 1
    what, whose, are = ("them", "names", "they are") if several else ("it", "name", "it is")
    remedies = ["use another database"]
    if drops and prefixes:
        remedies.append("use other names (--table-prefix bench_)")
    remedies.append(f"rename {what}")
    return (
        f"{target}: this program did not make {listed}, whose {whose} this run needs; nothing was"
        f" changed. If {are} yours, {', or '.join(remedies)}."
        f" {_explain_replacing(foreign, drops=drops)}"
    )


def _explain_replacing(foreign: Sequence[Foreign], *, drops: bool) -> str:
    what = "them" if len(foreign) > 1 else "it"
    if not drops:
        return (
            f"If an earlier version of this program made {what}, `verify` recognises the rows; if"
            " nothing did, run an insert first"
        )
    if kept := [each.existing.kind for each in foreign if not each.existing.alike]:
        listed = " and no ".join(dict.fromkeys(kept))
        return f"--replace-table replaces what an insert makes, and no {listed}"
    flags = " ".join(f"--replace-table {shlex.quote(each.name)}" for each in foreign)
    return f"To drop {what}, with everything that is stored there: {flags}"


def explain_attached(target: str, attached: Sequence[str]) -> str:
    """Return why tables of ours cannot be dropped and created again, and the remedies."""
    return (
        f"{target}: this insert drops its tables and creates them again, and"
        f" something else depends on them: {', '.join(attached)}; nothing was changed. Drop that"
        " first, or add rows with --no-clean, or use other names (--table-prefix bench_)"
    )


LOOK_S = 12.0
"""Time without a renewal after which the writer of a mark is taken for killed."""


def explain_writers(target: str, marks: Sequence[Mark]) -> str:
    """Return the reason to refuse a run on tables that other inserts write now."""
    listed = "; ".join(mark.describe() for mark in marks)
    return (
        f"{target}: another insert writes the same tables now ({listed}); nothing was changed. Wait"
        " until it ends, or stop it, or use other names (--table-prefix bench_). To see whether it"
        " still runs, repeat this command, which begins if it finds no sign of that for"
        f" {LOOK_S:g} s"
    )


def explain_intruders(marks: Sequence[Mark]) -> str:
    """Return how other inserts explain a failure or wrong rows."""
    listed = " and ".join(mark.writer for mark in marks)
    one = len(marks) == 1
    return (
        f"{'another insert' if one else 'other inserts'}, {listed}, wrote the same tables meanwhile"
    )


def explain_other_rows(target: str, mark: Mark) -> str:
    """Return the reason to refuse a run on tables with the rows of another insert."""
    if mark.state in UNFINISHED:
        return (
            f"the tables of {target} were written by another insert, which did not end or still"
            f" runs: {mark.describe()}; wait for it, or run insert again"
        )
    return (
        f"the tables of {target} hold the rows of another insert: {mark.describe()}; name its"
        " result file with --dataset, or run insert again"
    )


def explain_unfinished(target: str, mark: Mark | None) -> SetupError:
    """Return the error for tables with the rows of an insert that did not end."""
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


def explain_count(target: str, mark: Mark | None, stored: int, expected: int) -> BenchError:
    """Return the error for an unexpected number of rows."""
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


def explain_gone(target: str, mark: Mark | None, gone: Sequence[Check]) -> BenchError:
    """Return the error for tables that do not exist."""
    names = ", ".join(check.name for check in gone)
    if mark:
        return MismatchError(
            f"{target}: {names} of the last insert ({mark.describe()}) was dropped or renamed: the"
            " data is wrong; run insert again"
        )
    return SetupError(
        f"{target}: {names} does not exist, and no mark in the database says that an insert"
        " created it; run an insert first, or check the target's options"
    )


def explain_harm(target: str, harm: Sequence[Check]) -> MismatchError:
    """Return the error for tables that something else has changed during a run."""
    listed = "; ".join(
        f"{each.name}: expected {each.expected}, found {each.found}" for each in harm
    )
    return MismatchError(
        f"{target}: something else changed the tables during the run, so the data is wrong:"
        f" {listed}; stop it, and run insert again"
    )


def _describe_contents(contents: Contents) -> str:
    rows, size_bytes = contents.rows, contents.size_bytes
    shown = "rows unknown" if rows is None else counted(rows, contents.noun)
    if rows is not None and rows > MOST_COUNTED:
        shown = f"more than {MOST_COUNTED:,} rows"
    return f"{shown}, {'size unknown' if size_bytes is None else format_size(size_bytes)}"
