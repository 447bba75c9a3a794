"""Options and targets with changes, for tests of what follows from them."""

from dataclasses import is_dataclass, replace


def changed(what, **changes):
    return replace(what, **changes) if is_dataclass(what) else what.model_copy(update=changes)
