import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from simulator import __version__
from tests import ROOT

SIMULATOR = ROOT / "simulator"
NOT_IN_THE_IMAGE = {
    # hdrhistogram names them, but only its build needs them.
    *("pbr", "setuptools"),
    # apache-iotdb names them for its own Session class; the module uses its Thrift classes only.
    *("pandas", "sqlalchemy", "sqlalchemy-utils", "tzlocal"),
}
DOCKERFILE = (SIMULATOR / "Dockerfile").read_text()
# Imports what it is given, with the packages blocked that follow.
IMPORT = """
import sys
statements, *blocked = sys.argv[1:]
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if any(name == each or name.startswith(each + ".") for each in blocked):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
exec(statements)
"""


def pins(path: Path) -> dict[str, str]:
    """The versions of the packages that a file names."""
    direct, in_turn = parts(path)
    return direct | in_turn


def parts(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The packages that are imported, and those that these need in turn."""
    direct, in_turn = re.split(r"^# Needed in turn.*\n", path.read_text(), flags=re.MULTILINE)
    return _versions(direct), _versions(in_turn)


def _versions(text: str) -> dict[str, str]:
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    pairs = [line.split("==") for line in lines if line and not line.startswith("-")]
    return {canonicalize_name(name): version for name, version in pairs}


def needed_by(names: set[str]) -> set[str]:
    """The packages, and what they need in turn."""
    found: set[str] = set()
    while names - found:
        name = canonicalize_name((names - found).pop())
        found.add(name)
        for line in distribution(name).requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                names = names | {canonicalize_name(requirement.name)}
    return found


def test_the_image_holds_the_versions_that_the_tests_run_with():
    direct, in_turn = parts(SIMULATOR / "requirements.txt")
    needed = needed_by(set(direct)) - NOT_IN_THE_IMAGE

    installed = {name: distribution(name).version for name in needed}
    assert direct | in_turn == installed, "bring simulator/requirements.txt up to date"
    assert not set(direct) & set(in_turn)


def test_the_command_line_has_the_versions_that_the_tests_run_with():
    own, in_turn = parts(ROOT / "requirements.txt")
    image = pins(SIMULATOR / "requirements.txt")

    needed = needed_by({*own, *image}) - image.keys()
    installed = {name: distribution(name).version for name in needed}
    assert own | in_turn == installed, "bring requirements.txt up to date"
    assert not {*own} & {*in_turn}


def imported() -> str:
    """Return the import statements with which the Dockerfile proves that nothing is missing."""
    (found,) = re.findall(r'python -c "\\\n(.*?)"', DOCKERFILE, re.DOTALL)
    return found.replace("\\\n", "")


def test_what_the_image_lacks_is_not_imported():
    (removed,) = re.findall(r"&& rm -r (.*) \\", DOCKERFILE)
    paths = [path.rstrip("*").replace("/", ".") for path in removed.split()]
    top_levels = [
        name
        for name, owners in packages_distributions().items()
        if {canonicalize_name(owner) for owner in owners} <= NOT_IN_THE_IMAGE
    ]
    assert {"pandas", "sqlalchemy"} <= set(top_levels)

    command = [sys.executable, "-c", IMPORT, imported(), *paths, *top_levels]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    assert done.returncode == 0, done.stderr


def test_the_dockerfile_imports_every_package_that_it_installs_directly():
    owners = packages_distributions()
    names = {name.strip().split(".")[0] for name in re.split(r"import|[,;]", imported())}
    proven = {canonicalize_name(owner) for name in names for owner in owners.get(name, ())}

    assert set(parts(SIMULATOR / "requirements.txt")[0]) <= proven


def test_every_stage_starts_from_the_one_base_and_that_has_an_exact_version():
    stages = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)

    assert set(stages) == {"${BASE}"}
    assert re.search(r"^ARG BASE=\S+/python:3\.11\.\d+-\S+$", DOCKERFILE, re.MULTILINE)


@pytest.fixture
def build(tmp_path):
    """Run `make image`'s script with builders that only record their calls."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "dirname", "sed", "git", "rm", "cat"):
        (programs / name).symlink_to(shutil.which(name))

    def run(works: tuple[str, ...] = (), broken: tuple[str, ...] = (), **settings: str):
        for tool in (*works, *broken):
            status = 1 if tool in broken else 0
            program = programs / tool
            program.write_text(f'#!/bin/sh\necho "{tool} $*" >>{tmp_path}/calls\nexit {status}\n')
            program.chmod(0o755)
        done = subprocess.run(
            ["sh", str(SIMULATOR / "image.sh")],
            env={"PATH": str(programs), "HOME": os.environ.get("HOME", "/"), **settings},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        calls = tmp_path / "calls"
        return done, calls.read_text().splitlines() if calls.exists() else []

    return run


def test_a_docker_without_its_daemon_is_skipped(build):
    done, calls = build(works=("buildah",), broken=("docker",))

    assert done.returncode == 0
    assert [call.split()[:2] for call in calls] == [
        ["docker", "info"],
        ["buildah", "info"],
        ["buildah", "build"],
    ]


def test_without_any_builder_the_message_names_what_to_install(build):
    done, calls = build(broken=("docker",))

    assert done.returncode == 1
    assert "docker, podman or buildah" in done.stderr
    assert calls == ["docker info"]


def test_the_image_is_named_and_labelled_by_the_version(build):
    _, calls = build(works=("docker",))

    assert f"--tag docker.io/library/iot-database-benchmark:{__version__} " in calls[-1]
    assert f"--build-arg VERSION={__version__} " in calls[-1]
    assert "--secret" not in calls[-1]


def test_a_name_with_a_registry_is_not_changed(build):
    _, calls = build(works=("docker",), IMAGE="registry.example/bench:7")

    assert "--tag registry.example/bench:7 " in calls[-1]


def test_a_mirror_is_passed_in_secrets_and_never_in_build_arguments(build):
    _, calls = build(works=("podman",), PIP_CONF="my/pip.conf", CA="my/ca.crt", BASE="base:1.2")

    assert "--secret id=pip.conf,src=my/pip.conf --secret id=ca.crt,src=my/ca.crt" in calls[-1]
    arguments = re.findall(r"--build-arg (\w+)=", calls[-1])
    assert arguments == ["VERSION", "REVISION", "BASE"]


@pytest.mark.parametrize(
    ("tool", "call"),
    [
        ("docker", "docker save --output b.tar {0}"),
        ("podman", "podman save --output b.tar {0}"),
        ("buildah", "buildah push --quiet {0} docker-archive:b.tar:{0}"),
    ],
)
def test_an_archive_contains_the_name_that_the_nodes_look_for(build, tool, call):
    done, calls = build(works=(tool,), IMAGE="b:1", ARCHIVE="b.tar")

    assert calls[-1] == call.format("docker.io/library/b:1")
    assert "kind load image-archive b.tar" in done.stdout
