"""Object stores: files named s3://BUCKET/KEY, which are copied before they are read.

Credentials, region and endpoint come from the settings of the AWS tools: AWS_ACCESS_KEY_ID,
AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, ...
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from iotbench.machine.scratch import scratch_folder
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

_SCHEME = "s3"
_URL = re.compile(r"([a-z][a-z0-9+.-]+:)/+(.*)")
_PIECE_BYTES = 4 << 20
_CONNECT_S, _ANSWER_S = 10, 60
_ATTEMPTS = 3
_MOST_SHOWN = 300


def uri_of(path: Path) -> str:
    """Return the URI of an object that was parsed as a path; empty for a local file."""
    uri = url_of(path)
    return uri if uri.startswith(f"{_SCHEME}:") and not uri.endswith("//") else ""


def url_of(path: Path) -> str:
    """Return the URL that was parsed as a path, with both slashes again; empty if there is none."""
    found = _URL.match(path.as_posix())
    return f"{found[1]}//{found[2]}" if found else ""


def name_of(path: Path) -> str:
    """Return the user's name of a file."""
    return url_of(path) or str(path)


@contextmanager
def here(path: Path) -> Iterator[Path]:
    """Yield the path of a local file, or of a temporary copy of an object.

    ConfigError if the object cannot be read.
    """
    uri = uri_of(path)
    if not uri:
        yield path
        return
    with scratch_folder("object") as folder:
        copy = folder / path.name
        _copy(uri, copy)
        yield copy


def _copy(uri: str, copy: Path) -> None:
    with expect_objects(f"--data: {uri}: cannot be read"):
        key = uri.removeprefix(f"{_SCHEME}://")
        source = open_store().open_input_stream(key, compression=None)
        with source, copy.open("wb") as file:
            shutil.copyfileobj(source, file, _PIECE_BYTES)


def open_store() -> "S3FileSystem":
    """Return the object store of the environment, without I/O."""
    from pyarrow import fs  # noqa: PLC0415 - loaded only for an object

    return fs.S3FileSystem(
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
        endpoint_override=os.environ.get("AWS_ENDPOINT_URL"),
        connect_timeout=_CONNECT_S,
        request_timeout=_ANSWER_S,
        allow_delayed_open=True,  # one request for a small object
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
    )


@contextmanager
def expect_objects(what: str) -> Iterator[None]:
    """Return a context in which an error of an object store becomes a ConfigError.

    `what`: what fails then, such as "s3://bucket/key: cannot be read".
    """
    try:
        yield
    except (OSError, ValueError) as error:  # Arrow's errors are of these kinds
        reason = " ".join(str(error).split())[:_MOST_SHOWN]
        raise ConfigError(
            f"{what}: {reason}; check bucket and key, and AWS_ACCESS_KEY_ID,"
            " AWS_SECRET_ACCESS_KEY, AWS_REGION and, of another store than Amazon's,"
            " AWS_ENDPOINT_URL"
        ) from None
