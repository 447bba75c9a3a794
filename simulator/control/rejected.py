"""The reply to a message that does not belong to the run."""


class Rejected(Exception):
    """The message does not belong to this run now; the text gives the reason."""
