"""The number of rows that a server acknowledges, compared with the number that were sent."""


class RowCountMismatch(Exception):
    """The server reported success for another number of rows than were sent."""

    def __init__(self, stored: int, sent: int, what: str, answer: str) -> None:
        found = f": {answer}" if answer else ""
        super().__init__(f"the server acknowledged {stored} of {sent} {what}{found}")
        self.stored = stored


def expect_rows(stored: int, sent: int, what: str = "rows", *, answer: str = "") -> None:
    """Raise RowCountMismatch unless the server acknowledged as many rows as were sent.

    `answer` is the server's message about the others.
    """
    if stored != sent:
        raise RowCountMismatch(stored, sent, what, answer)
