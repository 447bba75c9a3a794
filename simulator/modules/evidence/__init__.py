"""Results of the contract tests for each module: a JSON file per module, written by the tests.

`pytest tests/contract --evidence` writes the files; the documentation and `targets` read them.
"""

import datetime as dt
import re
from enum import StrEnum
from pathlib import Path

from simulator.frozen import Frozen

FOLDER = Path(__file__).parent
STAND_IN = "stand-in"
"""Server name in a record of cases that ran on a substitute, not on the database itself."""


class Kill(StrEnum):
    """The share of acknowledged rows that survived a kill -9 of the server under inserts."""

    ALL_KEPT = "all kept"
    SOME_LOST = "some lost"
    NOT_TRIED = "not tried"


class Reached(StrEnum):
    """The way in which the tests reached the server of a record."""

    STARTED = "started by the tests"
    ADDRESS = "by its address"


class EvidenceRecord(Frozen):
    """A target of the contract suite that has passed all cases."""

    target: str
    """The target's name in tests/contract/targets.py."""
    server: str
    """Product and version as the server reports them, or STAND_IN."""
    date: dt.date
    cases: int
    """Number of cases that passed."""
    kill: Kill = Kill.NOT_TRIED
    reached: Reached = Reached.STARTED
    """Way to the server; an address means that others installed and set it up."""
    note: str = ""
    """Facts that a reader must know about this server, in half a sentence."""

    @property
    def remark(self) -> str:
        """The note, and how the tests came to a server that they did not start."""
        reached = "" if self.reached is Reached.STARTED else f"reached {self.reached}"
        return "; ".join(filter(None, (reached, self.note)))


class Evidence(Frozen):
    """All records of one module."""

    module: str
    records: tuple[EvidenceRecord, ...] = ()

    @property
    def real(self) -> list[EvidenceRecord]:
        """The records of real servers."""
        return [record for record in self.records if record.server != STAND_IN]

    @property
    def draft(self) -> bool:
        """True if the module has never passed on a real server."""
        return not self.real

    @property
    def servers(self) -> str:
        """The real servers, each product once with its versions; `draft` without any.

        What a server adds in parentheses or after a comma, such as a package version, is left out.
        """
        products: dict[str, list[str]] = {}
        for record in self.real:
            short = re.sub(r" \([^)]*\)|,.*", "", record.server)
            product, _, version = short.partition(" ")
            versions = products.setdefault(product, [])
            if version not in versions:
                versions.append(version)
        shown = (f"{product} {', '.join(versions)}" for product, versions in products.items())
        return "; ".join(shown) or "draft"

    @property
    def kill(self) -> Kill:
        """The worst outcome of the kill test on a real server."""
        outcomes = {record.kill for record in self.real}
        order = (Kill.SOME_LOST, Kill.ALL_KEPT)
        return next((kill for kill in order if kill in outcomes), Kill.NOT_TRIED)

    def with_record(self, record: EvidenceRecord) -> "Evidence":
        """Return the evidence with the record in place of an earlier one of the same target.

        A loss stays on record for the same server: a later kill may come at a luckier moment.
        """
        earlier = next((old for old in self.records if old.target == record.target), None)
        lost = earlier and earlier.kill is Kill.SOME_LOST and earlier.server == record.server
        kept = record.model_copy(update={"kill": Kill.SOME_LOST}) if lost else record
        others = [old for old in self.records if old.target != record.target]
        ordered = sorted([*others, kept], key=lambda each: each.target)
        return self.model_copy(update={"records": tuple(ordered)})


def evidence(module: str, folder: Path = FOLDER) -> Evidence:
    """Return what the tests have shown of a module; no records for a module of the user's own."""
    path = folder / f"{module}.json"
    if not path.is_file():
        return Evidence(module=module)
    return Evidence.model_validate_json(path.read_text(encoding="utf-8"))


def write(found: Evidence, folder: Path = FOLDER) -> None:
    """Write a module's file."""
    path = folder / f"{found.module}.json"
    path.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
