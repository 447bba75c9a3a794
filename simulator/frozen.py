"""The base of the records that cross a boundary."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A record that does not change; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
