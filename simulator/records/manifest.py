"""The manifest of a file of records: its text, checked."""

from pydantic import ValidationError

from simulator.errors import ConfigError
from simulator.protocol.records import FileManifest

MOST_BYTES = 1 << 20


def parse(content: bytes, name: str) -> FileManifest:
    """Return the manifest of that name; ConfigError if it is none."""
    try:
        return FileManifest.model_validate_json(content)
    except ValidationError as error:
        raise ConfigError(
            f"--manifest: {name}: is not a manifest of `generate`: {first_problem(error)}"
        ) from error


def first_problem(error: ValidationError) -> str:
    """Return the place of the first wrong value in a file, and what is wrong with it."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole file"
    return f"{place}: {first['msg']}"
