"""The manifest of a file of records: its text, checked."""

from pydantic import ValidationError

from simulator.errors import ConfigError
from simulator.protocol.records import FileManifest

MOST_BYTES = 1 << 20


def parsed(content: bytes, name: str) -> FileManifest:
    """Return the manifest of that name; ConfigError if it is none."""
    try:
        return FileManifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole file"
        raise ConfigError(
            f"--manifest: {name}: is not a manifest of `generate`: {place}: {first['msg']}"
        ) from error
