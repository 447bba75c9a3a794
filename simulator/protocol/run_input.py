"""The input of each process of a run: specification, token and credentials.

In a pod, the input consists of mounted files. Locally, it arrives on standard input, a pipe from
the command line, so that no credential touches a disk.
"""

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from pydantic import ConfigDict, ValidationError

from simulator import __version__
from simulator.errors import ConfigError, Interrupted
from simulator.frozen import Frozen
from simulator.protocol.spec import RunSpec


class RunInput(Frozen):
    """The input of a collector or worker."""

    model_config = ConfigDict(hide_input_in_errors=True)

    spec: RunSpec
    token: str
    credentials: Mapping[str, str]
    """Credentials of the target, by option name."""
    credential_files: Mapping[str, Path] = {}
    """Option name -> file with the credential for the option; the file may be rotated."""

    def line(self) -> bytes:
        """Return the input as a line, which is the first line in the pipe from the command line."""
        return self.model_dump_json().encode() + b"\n"


def input_from_files(spec: Path, secrets: Path) -> RunInput:
    """Read the input from a specification and a folder of secrets; ConfigError if this fails."""
    files = {path.name: path for path in (secrets / "options").glob("*") if path.is_file()}
    try:
        token = (secrets / "token").read_text().strip()
        credentials = {name: read_credential(path) for name, path in files.items()}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the run's secrets: {error}") from error
    return RunInput(
        spec=_read_spec(spec), token=token, credentials=credentials, credential_files=files
    )


def read_credential(path: Path) -> str:
    """Return a credential without the line end; raises OSError or UnicodeDecodeError."""
    return path.read_text(encoding="utf-8").removesuffix("\n")


def _read_spec(path: Path) -> RunSpec:
    """Read a specification; ConfigError if it is from a different version."""
    try:
        content = json.loads(path.read_bytes())
        made_by = content.get("version")
        if made_by != __version__:
            raise ConfigError(
                f"the command line is version {made_by} and the image is version {__version__};"
                " use the image of the same version: `make image` builds it, --image names it"
            )
        return RunSpec.model_validate(content)
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError(f"cannot read the run's specification: {error}") from error


class ParentPipe:
    """Standard input as a pipe from the command line.

    The first line is the input. Each further line is a cause to stop or, for the collector, the
    index of a worker and the cause for this worker. The end of the pipe means that the command line
    is gone.
    """

    def __init__(self, stream: BinaryIO | None = None) -> None:
        # Not sys.stdin: a thread that waits would hold its lock when the process exits.
        self._stream = stream or open(0, "rb", closefd=False)  # noqa: SIM115

    def read_input(self) -> RunInput:
        """Read the first line; Interrupted if the command line is already gone."""
        line = self._stream.readline()
        if not line.endswith(b"\n"):
            raise Interrupted("the command line is gone")
        try:
            return RunInput.model_validate_json(line)
        except ValidationError as error:
            raise ConfigError(f"cannot read the run's input: {error}") from None

    def listen(self, stop: Callable[[str], object], gone: Callable[[], object]) -> None:
        """Start a thread that calls `stop` with each cause, and `gone` at the end of the pipe."""

        def listen() -> None:
            for line in self._stream:
                stop(line.decode(errors="replace").strip())
            gone()

        threading.Thread(target=listen, daemon=True).start()
