"""True if the rows of a prepared file have a natural key: (tags, time)."""

from simulator.data.schema import ID, PrimaryKey
from simulator.data.workloads.file import FileParams
from simulator.errors import ConfigError
from simulator.records.keys import MAX_ROWS, are_distinct, has_key, key_columns


def with_key(params: FileParams) -> FileParams:
    """Return the parameters with `unique` set, if the rows have a key and are few enough."""
    return params.model_copy(update={"unique": True}) if has_key(params) else params


def expect_key(params: FileParams, primary_key: PrimaryKey) -> None:
    """Raise ConfigError if the primary key needs a natural key, and the rows have none.

    Whether its parts, concatenated, are different too is only known of rows of this machine.
    """
    if primary_key is not PrimaryKey.CLIENT:
        return
    names = ", ".join(column.name for column in key_columns(params))
    if not params.unique:
        raise ConfigError(
            f"--primary-key client: needs ({names}) to be different in every row and never NULL, in"
            f" a file of at most {MAX_ROWS:,} rows; name more --tags, or use another primary key"
        )
    if not (params.claim or are_distinct(params, [ID.name], PrimaryKey.CLIENT)):
        raise ConfigError(
            f"--primary-key client: ({names}), concatenated, are equal for two rows; use another"
            " primary key"
        )
