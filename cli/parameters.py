"""The parameters of the workloads, as options of `insert`."""

from pydantic.fields import FieldInfo

from simulator.data.workloads import GENERATORS
from simulator.data.workloads.base import Written


def parameters() -> dict[str, tuple[FieldInfo, tuple[str, ...]]]:
    """Return parameter -> what it is, and the workloads that have it."""
    found: dict[str, tuple[FieldInfo, tuple[str, ...]]] = {}
    for name, cls in GENERATORS.items():
        for field, info in cls.params_model.model_fields.items():
            first, names = found.get(field, (info, ()))
            found[field] = first, (*names, name)
    return found


def option_of(field: str) -> str:
    """Return the option of a parameter; users write times and durations, not milliseconds."""
    info, _ = parameters()[field]
    if written(info) is Written.END:
        return "--end"
    name = field.removesuffix("_ms") if written(info) else field
    return f"--{name.replace('_', '-')}"


def written(info: FieldInfo) -> Written | None:
    """Return how users write a parameter that counts milliseconds; None for any other."""
    return next((item for item in info.metadata if isinstance(item, Written)), None)
