"""The reference documents that were repeated: which of their claims are seen."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from iotbench.output.page.measured import PageResult
from iotbench.output.page.reproductions import section_of
from iotbench.output.site.question import Question
from iotbench.plans.published.claims import Seen
from iotbench.plans.published.record import Reproduction
from simulator.errors import counted


def ask(path: Path, record: Reproduction, file: str, found: Sequence[PageResult]) -> Question:
    """Return the question about a document, answered by its results among `found`."""
    own = [each for each in found if each.repeated and each.repeated.record == path]
    title = f"Which claims of {record.title} are seen here?"
    return Question(title, file, _conclude(record), section_of(0, record, own), own)


def _conclude(record: Reproduction) -> str:
    """Return the number of claims with each outcome, on all targets."""
    counts = Counter(each.seen for each in record.claims if not each.question)
    examined = [f"{counts[seen]} {seen}" for seen in Seen if seen != Seen.NOT_HAD and counts[seen]]
    targets = len({item.target for item in record.items})
    words = ", ".join(examined) or "none could be examined"
    return f"Of the claims on {counted(targets, 'database')}, at size {record.size}: {words}"
