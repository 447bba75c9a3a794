"""The delimiter of a text file, from its first lines. Pure."""

import csv
import io
from itertools import islice

CANDIDATES = ",;\t|"
_RECORDS = 20


def detected(head: str, *, whole: bool) -> str:
    """Return the delimiter that splits the first records into the most columns.

    A delimiter that splits all records into equally many columns is preferred to one that does
    not: a decimal comma is in the rows, and not in the heading. `whole` says that `head` is the
    whole file; otherwise its last record may be cut.
    """
    return max(CANDIDATES, key=lambda each: _score(head, each, whole=whole))  # the first of equals


def _score(head: str, delimiter: str, *, whole: bool) -> tuple[bool, int]:
    widths = [len(record) for record in _records(head, delimiter) if record]
    if not whole and len(widths) < _RECORDS:
        del widths[-1:]
    if not widths:
        return False, 0
    return len(set(widths)) == 1 and widths[0] > 1, widths[0]


def _records(head: str, delimiter: str) -> list[list[str]]:
    """Return the first records; none where the text is not CSV."""
    try:
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        return list(islice(reader, _RECORDS))
    except csv.Error:  # a cell beyond the module's limit
        return []
