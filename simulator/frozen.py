"""The base of the records that processes exchange."""

from pydantic import BaseModel, ConfigDict, ValidationError


class Frozen(BaseModel):
    """An immutable record; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def first_problem(error: ValidationError) -> str:
    """Return the place of the first wrong value in a record, and the problem."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole file"
    return f"{place}: {first['msg']}"
