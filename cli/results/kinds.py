"""The names of the kinds of measurements; each names a file of cli/kinds/ that says what it is."""

NAMES = ("insert", "query", "mixed", "change", "verify")
"""In the order in which they are listed and shown."""


def known(name: str) -> str:
    """Return the name of a kind; ValueError if this version has none of this name."""
    if name not in NAMES:
        raise ValueError(f"expected one of {', '.join(NAMES)}; a later version has {name!r}")
    return name
