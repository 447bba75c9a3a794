"""The input of each process of a run: the specification, the run's token and the credentials.

In a pod they are mounted files. Locally they arrive on standard input, a pipe from the command
line, so that no credential touches a disk.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from pydantic import ConfigDict, ValidationError

from simulator.errors import ConfigError, Interrupted
from simulator.frozen import Frozen
from simulator.protocol.spec import RunSpec, credential_files, read_secrets, read_spec


class RunInput(Frozen):
    """The input of a collector or worker."""

    model_config = ConfigDict(hide_input_in_errors=True)

    spec: RunSpec
    token: str
    credentials: Mapping[str, str]
    """Those of the target, by option name."""
    credential_files: Mapping[str, Path] = {}
    """Option name -> the file that its credential was read from, and which may be rotated."""

    def line(self) -> bytes:
        """Return the input as the first line of a parent's pipe."""
        return self.model_dump_json().encode() + b"\n"


def input_from_files(spec: Path, secrets: Path) -> RunInput:
    """Read the input from a specification and a folder of secrets; ConfigError if that fails."""
    token, credentials = read_secrets(secrets)
    return RunInput(
        spec=read_spec(spec),
        token=token,
        credentials=credentials,
        credential_files=credential_files(secrets),
    )


class ParentPipe:
    """Standard input as a pipe from the command line.

    The first line is the input. Each further line is a cause to stop; for the collector, the index
    of a worker and its cause. The end of the pipe means that the command line is gone.
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
        """Call `stop` with each cause and `gone` at the end, in a thread."""

        def listen() -> None:
            for line in self._stream:
                stop(line.decode(errors="replace").strip())
            gone()

        threading.Thread(target=listen, daemon=True).start()
