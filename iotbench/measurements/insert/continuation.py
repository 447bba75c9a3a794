"""Continuing the last insert (`--no-clean`): the same data, from where it ended. Pure."""

from collections.abc import Iterator

from iotbench.config.input.parameters import format_parameter, instant, option_of
from iotbench.measurements.insert.options import format_late
from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.data.workloads import workload_class
from simulator.data.workloads.declared import Declared
from simulator.errors import ConfigError

_SAME = "--no-clean continues it: give the same, or use --clean"


def continue_dataset(found: Dataset, wanted: Dataset, *, starts: bool) -> Dataset:
    """Return the stored dataset to continue; ConfigError names every option that differs.

    `starts`: the user gave the time of the first row; if not, the stored one applies.
    """
    if not starts:
        wanted = wanted.model_copy(update={"start_ms": found.start_ms})
    if found.workload != wanted.workload:
        raise ConfigError(_differs("--workload", found.workload, wanted.workload))
    DatasetReader(found)  # refuses another version, whose rows differ
    if problems := list(_differences(found, wanted)):
        raise ConfigError(problems)
    return found


def _differences(found: Dataset, wanted: Dataset) -> Iterator[str]:
    """Yield a sentence for each option that differs, with both values."""
    both = found, wanted
    if found.seed != wanted.seed:
        yield _differs("--seed", found.seed, wanted.seed)
    if found.start_ms != wanted.start_ms:
        yield _differs("--start-time", *(instant(data.start_ms) for data in both))
    if found.primary_key != wanted.primary_key:
        yield _differs("--primary-key", found.primary_key, wanted.primary_key)
    if found.table_prefix != wanted.table_prefix:
        names = (data.table_prefix or "none" for data in both)
        yield _differs("--table-prefix", *names)
    if found.parts != wanted.parts:
        yield _differs("--tables", found.parts, wanted.parts)
    if found.parts_by != wanted.parts_by:
        yield _differs("--tables-by", found.parts_by, wanted.parts_by)
    if found.late != wanted.late:
        names = (format_late(data.late) if data.late else "none" for data in both)
        yield _differs("--out-of-order", *names)
    yield from _other_params(found, wanted)


def _other_params(found: Dataset, wanted: Dataset) -> Iterator[str]:
    both = found, wanted
    model = workload_class(wanted.workload).params_model
    params = [model(**data.params).model_dump(mode="json") for data in both]
    if wanted.workload == Declared.name:
        if params[0] != params[1]:
            yield f"--workload: the file declares other tables than those that are stored; {_SAME}"
        return
    for field in params[0]:
        values = [each[field] for each in params]
        if values[0] != values[1]:
            shown = (
                format_parameter(field, v, d.start_ms) for v, d in zip(values, both, strict=True)
            )
            yield _differs(option_of(field), *shown)


def _differs(option: str, before: object, now: object) -> str:
    return f"{option}: the last insert has {before}, got {now}; {_SAME}"
