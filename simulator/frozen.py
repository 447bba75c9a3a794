"""The base of the records that cross a boundary."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable record; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
