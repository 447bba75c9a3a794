"""Values as text: how one is altered."""

import re

_DIGIT = re.compile(rb"[1-9]")


def has_digit(text: bytes) -> bool:
    """Return whether a text has a digit that can be altered."""
    return bool(_DIGIT.search(text))


def alter(text: bytes) -> bytes:
    """Change the first digit, so that the value is another one however it is rounded."""
    return _DIGIT.sub(lambda found: b"%d" % (int(found[0]) % 9 + 1), text, count=1)
