"""The names of the kinds of measurements; each kind has a folder in iotbench/measurements/."""

NAMES = ("insert", "query", "mixed", "change", "verify")
"""Kinds in the order in which lists and tables show them."""


def check_known(name: str) -> str:
    """Return the name of a kind; ValueError if this version has no such kind."""
    if name not in NAMES:
        raise ValueError(f"expected one of {', '.join(NAMES)}; a later version has {name!r}")
    return name
