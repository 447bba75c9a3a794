"""Options and targets with changes, for tests of what follows from them."""

from dataclasses import is_dataclass, replace

from iotbench.measurements.shared.plan import Wanted
from iotbench.results.result import Manifest


def changed(what, **changes):
    return replace(what, **changes) if is_dataclass(what) else what.model_copy(update=changes)


def wanted(stored, target, options):
    """A measurement on stored rows that this machine need not have room for."""
    return Wanted("sweep", target, options, Manifest.of(stored, complete=True), force=True)
