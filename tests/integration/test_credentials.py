"""While a local run goes on, its credentials are in memory and in pipes only."""

from pathlib import Path

import pytest

from tests.integration.conftest import CommandLine, Wait

SECRET = "s3cr3t-in-no-file"
MODULE = """
from pydantic import Field, SecretStr
from simulator.modules.null import Null, NullOptions, NullSession

class Options(NullOptions):
    password: SecretStr = Field(description="A password.")

class Mine(Null):
    name = "mine"
    options_model = Options

    def connect(self):
        assert self.options.password.get_secret_value() == "s3cr3t-in-no-file"
        return super().connect()
"""


def places_of(cli: CommandLine, skipped: Path) -> dict[str, bytes]:
    """Return every file of a run, and the command line and environment of its processes."""
    found = {
        str(path): path.read_bytes()
        for path in cli.folder.rglob("*")
        if path.is_file() and path != skipped and path.suffix not in (".py", ".pyc")
    }
    for process in cli.processes():
        for name in ("cmdline", "environ"):
            found[f"{name} of {process}"] = Path(f"/proc/{process.pid}/{name}").read_bytes()
    return found


@pytest.mark.parametrize("ends", ["kill", pytest.param("terminate", marks=pytest.mark.rare)])
def test_a_credential_is_in_no_file_and_no_command_line(
    cli: CommandLine, eventually: Wait, ends: str
) -> None:
    cli.add_modules("mine", MODULE)
    cli.configure(own={"module": "mine:Mine", "password": SECRET})
    running = cli.start("insert", "--target=own", "--workers=2", "--rate=100", "--quiet")
    moments = [
        lambda: cli.processes("worker"),
        lambda: any(result["in_progress"]["phase"] == "insert" for result in cli.results()),
    ]
    for moment in moments:
        eventually(moment)
        places = places_of(cli, cli.config)
        assert [place for place, content in places.items() if SECRET.encode() in content] == []
        assert list(cli.temporary.iterdir()) == []

    getattr(running, ends)()
    running.communicate(timeout=30)
    eventually(lambda: not cli.processes())
    places = places_of(cli, cli.config)
    assert [place for place, content in places.items() if SECRET.encode() in content] == []
    assert list(cli.temporary.iterdir()) == []
