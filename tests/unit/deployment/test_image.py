import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from iotbench.config.targets.packages import find_extras
from simulator import __version__
from simulator.modules import MODULES, database_class
from simulator.packages import EXTRAS, PROGRAM
from tests import ROOT

SIMULATOR = ROOT / "simulator"
NOT_IN_THE_IMAGE = {
    # hdrhistogram names them, but only its build needs them.
    *("pbr", "setuptools"),
    # apache-iotdb names them for its own Session class; the module uses its Thrift classes only.
    *("pandas", "sqlalchemy", "sqlalchemy-utils", "tzlocal"),
    # kubernetes names them for its asynchronous client.
    *("aiohappyeyeballs", "aiohttp", "aiohttp-retry", "aiosignal", "attrs", "frozenlist"),
    *("multidict", "propcache", "yarl"),
}
IN_THE_IMAGE = (
    "",
    *("arangodb", "cassandra", "elasticsearch", "influxdb", "iotdb", "kubernetes", "mongodb"),
    *("mysql", "otlp", "pages", "postgres", "quasardb", "questdb"),
)
DOCKERFILE = (SIMULATOR / "Dockerfile").read_text()
# Imports what it is given, with the packages blocked that follow.
IMPORT = """
import fnmatch, sys
statements, *blocked = sys.argv[1:]
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if any(fnmatch.fnmatch(name + ".", each + ".*") for each in blocked):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
exec(statements)
"""


def parts() -> tuple[dict[str, str], dict[str, str]]:
    """The packages of the image, and the others of the whole."""
    text = (ROOT / "requirements.txt").read_text()
    image, others = re.split(r"^# Not in the image.*\n", text, flags=re.MULTILINE)
    return _versions(image), _versions(others)


def _versions(text: str) -> dict[str, str]:
    lines = [re.split("[#;]", line)[0].strip() for line in text.splitlines()]
    pairs = [line.split("==") for line in lines if line]
    return {canonicalize_name(name): version for name, version in pairs}


def declared() -> dict[str, list[Requirement]]:
    """The requirements of each extra; those of the program itself are under an empty name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(line) for line in lines] for extra, lines in found.items()}


def needed_by(names: set[str]) -> set[str]:
    """The packages, and what they need in turn."""
    found: set[str] = set()
    names = {canonicalize_name(name) for name in names}
    while names - found:
        name = (names - found).pop()
        found.add(name)
        for line in distribution(name).requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                names = names | {canonicalize_name(requirement.name)}
    return found


def test_the_requirements_are_the_versions_that_the_tests_run_with():
    direct = {each.name for lines in declared().values() for each in lines} - {PROGRAM}
    image, others = parts()

    installed = {name: distribution(name).version for name in needed_by(direct)}
    assert image | others == installed, "bring requirements.txt up to date"
    assert not image.keys() & others.keys()


def test_the_image_has_all_that_pods_need():
    extras = declared()
    names = {each.name for extra in IN_THE_IMAGE for each in extras[extra]}

    assert parts()[0].keys() == needed_by(names) - NOT_IN_THE_IMAGE


def test_the_ranges_of_the_package_contain_what_the_tests_run_with():
    image, others = parts()
    for each in itertools.chain(*declared().values()):
        if each.name != PROGRAM:
            assert each.specifier.contains((image | others)[canonicalize_name(each.name)])


def test_an_extra_installs_each_package_that_is_imported_when_it_is_needed():
    extras = declared()
    for extra, name in EXTRAS.values():
        direct = {each.name for each in extras[extra]} - {PROGRAM}
        assert canonicalize_name(name) in needed_by(direct)


@pytest.mark.parametrize("module", MODULES)
def test_the_extra_of_a_module_installs_what_the_module_imports(module):
    reached = {module}.union(*(each.extras for each in declared().get(module, ())))

    assert {*find_extras(database_class(module))} <= reached


def test_all_has_every_extra():
    extras = declared()
    reached = set().union(*(each.extras for each in extras["all"]))
    same = {extra for extra, lines in extras.items() if {each.name for each in lines} == {PROGRAM}}

    assert reached == extras.keys() - same - {""}


def imported() -> str:
    """Return the import statements with which the Dockerfile proves that nothing is missing."""
    (found,) = re.findall(r'python -c "\\\n(.*?)"', DOCKERFILE, re.DOTALL)
    return found.replace("\\\n", "")


def test_what_the_image_lacks_is_not_imported():
    (removed,) = re.findall(r"&& rm -r (.*?)&& find", DOCKERFILE, re.DOTALL)
    paths = removed.replace("\\", "").replace("/", ".").split()
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

    names = {each.name for extra in IN_THE_IMAGE for each in declared()[extra]}
    assert {canonicalize_name(name) for name in names} <= proven


def test_stages_start_from_the_base_and_from_helm_of_exact_versions():
    stages = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)

    assert set(stages) == {"${BASE}", "${HELM}"}
    assert re.search(r"^ARG BASE=\S+/python:3\.11\.\d+-\S+$", DOCKERFILE, re.MULTILINE)
    assert re.search(r"^ARG HELM=\S+/helm:\d+\.\d+\.\d+$", DOCKERFILE, re.MULTILINE)


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


def test_the_context_of_the_image_has_what_the_wheel_ships():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    admitted = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    shipped = project["targets"]["wheel"]["force-include"]

    assert not [
        name for name in shipped if not any(f"{name}/".startswith(f"{a}/") for a in admitted)
    ]
