"""The databases that `make e2e-db` installs from a manifest or a chart of dbinstall: one table.

On the test cluster their images are built here, from Debian packages and from the servers that the
tests use; on any other cluster they are those that the manifests and values name.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.e2e.images import base_image, built, helm_option, image_folder
from tests.integration.conftest import ROOT
from tests.servers import SERVERS, packages

DBINSTALL = ROOT / "dbinstall"
BY_HAND = "E2E_BY_HAND"
"""A folder with what a registry lacks: vendors' charts, distributions and operators."""
LAB_VALUES = "values-lab.yaml"
BENCH_VALUES = "values-bench.yaml"
BENCH_CPUS = 'cpu: "8"'
"""The CPUs of a server of the profile bench; a node of the test cluster has fewer."""
_COMMAND = re.compile(r"^ {4}(.*)$")


def by_hand(pattern: str) -> Path | None:
    """Return what somebody put into the folder that E2E_BY_HAND names, if anything."""
    folder = os.environ.get(BY_HAND)
    return max(Path(folder).glob(pattern), default=None) if folder else None


@dataclass(frozen=True)
class Operator:
    """A vendor's operator, built from its Go module."""

    name: str
    """Name of its chart and of the folder of its image."""
    module: str
    version: str
    package: str
    """The folder of its program in the module."""
    group: str = ""
    """The API group of its kinds, if its chart keeps their definitions."""
    packages: tuple[str, ...] = ("libzstd1",)
    """Debian packages for the image."""
    uses_helm: bool = False

    @property
    def image(self) -> str:
        """The name of the image that is built for the test cluster."""
        return f"localhost/{self.name}:e2e"

    def build(self) -> Path:
        """Build the image, unless there is one of the same content; return the archive."""
        given = by_hand(f"{self.name}-{self.version}")
        folder = given or packages.install(self.name, self.version, self._compile)
        options = [f"--build-context=server={folder}"]
        options += [helm_option()] if self.uses_helm else []
        base = base_image(*self.packages)
        return built(self.image, image_folder(self.name), base, *options, version=self.version)

    def removal(self) -> str:
        """Return dbinstall's command that removes the definitions of its kinds."""
        text = (DBINSTALL / "README.md").read_text()
        command = re.search(r"`(kubectl get crd .*?)`", text)
        assert command
        assert f"`{self.group}`" in text
        return command[1].replace("GROUP", self.group)

    def defines(self, name: str) -> bool:
        """Return whether an object is the definition of one of its kinds."""
        return name.startswith("customresourcedefinition") and name.endswith(f".{self.group}")

    def _compile(self, folder: Path) -> None:
        packages.go_program(
            folder,
            self.name,
            self.module,
            f"v{self.version}",
            self.package,
            environment={"CGO_ENABLED": "0"},
            flags=[f"-ldflags=-s -w -X {self.module}/pkg/about.version={self.version}"],
        )


@dataclass(frozen=True)
class Database:
    """A folder of dbinstall, and what is needed to run it on the test cluster."""

    name: str
    """Name of its folder in dbinstall and of the folder of its image."""
    target: str
    """Target in config.yaml."""
    manifest: str = "statefulset.yaml"
    """File of its manifest, or of the values of its chart."""
    section: str = "StatefulSet"
    """Section of its README with the commands that install, check and remove it."""
    packages: tuple[str, ...] = ()
    """Debian packages for the image."""
    server: str = ""
    """Server in tests.servers that provides the programs of the image."""
    distribution: str = ""
    """Pattern of a folder in E2E_BY_HAND with its programs, if no registry has them."""
    base: "Database | None" = None
    """Database on whose image this one builds, instead of on packages."""
    operator: Operator | None = None
    """Operator that the section installs first."""
    version: tuple[str, str] | None = None
    """A text of its manifest, and the same text with the version of the image built here."""
    lacking: str = ""
    """The parts that the server built here lacks, so that it does not become ready."""
    options: tuple[str, ...] = ()
    """Options of the benchmark's command line."""

    @property
    def id(self) -> str:
        """The name of its test."""
        return f"{self.name}-{self.manifest.removesuffix('.yaml')}"

    @property
    def has_chart(self) -> bool:
        return self.manifest.startswith("values-")

    @property
    def folder(self) -> Path:
        return DBINSTALL / self.name

    @property
    def image(self) -> str:
        """The name of the image that is built for the test cluster."""
        return f"localhost/{self.name}:e2e"

    def build(self) -> Path:
        """Build the image, unless there is one of the same content; return the archive."""
        options, version = [], ""
        if self.server:
            server = SERVERS[self.server]
            server.install()
            version = server.version
            programs = server.installed()
            (folder,) = {programs, *programs.parents} & {*packages.cache().iterdir()}
            options = [f"--build-context=server={folder}"]
        if self.distribution:
            found = by_hand(self.distribution)
            if not found:
                pytest.skip(f"{BY_HAND} names no folder that contains {self.distribution}")
            options, version = [f"--build-context=server={found}"], found.name
        base = self.base.build() if self.base else base_image(*self.packages)
        return built(self.image, image_folder(self.name), base, *options, version=version)

    def manifest_text(self) -> str:
        return (self.folder / self.manifest).read_text()

    def manifest_with(self, image: str) -> str:
        """Return the manifest, with another image."""
        changed, count = re.subn(r"\bimage: \S+", f"image: {image}", self.manifest_text())
        assert count == 1
        return changed

    def manifest_here(self) -> str:
        """Return the manifest for the image built here and for the CPUs of this machine."""
        text = self.manifest_text()
        if self.version:
            assert text.count(self.version[0]) == 1, self.version
            text = text.replace(*self.version)
        cpus = max(1, (os.cpu_count() or 1) // 2)
        return text.replace(BENCH_CPUS, f'cpu: "{cpus}"')

    def commands(self) -> tuple[str, str]:
        """Return the README's commands that install and check the database, and those to remove it.

        They are the indented lines of its section, in their order. Where a comment names the
        manifest as the other choice, it is chosen.
        """
        found: tuple[list[str], list[str]] = ([], [])
        part = 0
        for line in self._lines():
            part = 1 if line.startswith("Remove") else part
            command = _COMMAND.match(line)
            if command:
                found[part].append(self._choose(command[1]))
        assert all(found), f"{self.name}: no commands to install or to remove"
        return "\n".join(found[0]), "\n".join(found[1])

    def _choose(self, command: str) -> str:
        """Return a command with this manifest, if its comment offers it."""
        if not command.endswith(f" # or {self.manifest}"):
            return command
        return re.sub(r"\S+-lab\.yaml", self.manifest, command)

    def _lines(self) -> Iterator[str]:
        inside = False
        for line in (self.folder / "README.md").read_text().splitlines():
            if line.startswith("## "):
                inside = line == f"## {self.section}"
            elif inside:
                yield line


POSTGRESQL = Database("postgresql", target="postgresql", packages=("postgresql-15",))
"""The database of all other end-to-end tests."""
MARIADB = Database(
    "mariadb", target="mariadb", packages=("mariadb-server-core", "mariadb-client", "bash")
)
QUESTDB = Database(
    "questdb", target="questdb", packages=("openjdk-17-jre-headless", "bash"), server="questdb"
)
"""One that keeps aggregates."""
PLAIN = (
    POSTGRESQL,
    Database(
        "timescaledb",
        target="timescaledb",
        manifest="statefulset-lab.yaml",
        section="Install",
        base=POSTGRESQL,
        server="timescaledb15",
    ),
    Database(
        "mysql",
        target="mysql_innodb",
        packages=("mariadb-client", "bash"),
        server="mysql",
    ),
    MARIADB,
    Database(
        "cassandra",
        target="cassandra_sync",
        packages=("openjdk-17-jre-headless",),
        server="cassandra",
        options=("--extra-option=replication_factor=1",),
    ),
    Database(
        "influxdb",
        target="influxdb",
        section="StatefulSet of InfluxDB 2",
        packages=("curl",),
        server="influxdb",
    ),
    QUESTDB,
    Database(
        "cratedb",
        target="cratedb",
        manifest="statefulset-lab.yaml",
        section="Install",
        packages=("bash", "coreutils", "curl"),
        distribution="crate-[0-9]*",
    ),
    Database(
        "victoriametrics",
        target="victoriametrics",
        packages=("libzstd1",),
        server="victoriametrics",
    ),
)
CHARTS = {
    "influxdb": "Chart of InfluxDB 2",
    "mysql": "Chart",
    "questdb": "Chart",
    "victoriametrics": "Chart",
}
"""A database above -> the section of its README that installs it by a chart."""
DATABASES = (
    *PLAIN,
    *(
        replace(each, manifest=manifest, section=CHARTS[each.name])
        for each in PLAIN
        if each.name in CHARTS
        for manifest in (LAB_VALUES, BENCH_VALUES)
    ),
    *(
        replace(each, manifest="statefulset-bench.yaml")
        for each in PLAIN
        if each.name == "timescaledb"
    ),
    Database(
        "opensearch",
        target="opensearch",
        manifest=LAB_VALUES,
        section="Install",
        packages=("openjdk-17-jre-headless", "bash"),
        server="opensearch",
        options=("--extra-option=url=http://opensearch:9200",),  # without the security plugin
    ),
    Database(
        "elasticsearch",
        target="elasticsearch",
        manifest=LAB_VALUES,
        section="Install",
        packages=("openjdk-17-jre-headless", "bash", "coreutils", "curl", "netcat-openbsd"),
        server="elasticsearch",
        operator=Operator(
            "eck-operator",
            "github.com/elastic/cloud-on-k8s/v3",
            version="3.5.0",
            package="cmd",
            group="k8s.elastic.co",
        ),
        version=("\nversion: 9.5.3\n", f"\nversion: {SERVERS['elasticsearch'].version}\n"),
        # With `transport.host: 127.0.0.1` in `config`, 20,000 open files are enough to start.
        lacking="x-pack's slm and ilm, which ECK configures",
    ),
    replace(
        POSTGRESQL,
        manifest=LAB_VALUES,
        section="CloudNativePG",
        operator=Operator(
            "cloudnative-pg",
            "github.com/cloudnative-pg/cloudnative-pg",
            version="1.30.1",
            package="cmd/manager",
            group="postgresql.cnpg.io",
        ),
        version=("postgresql:18.6-standard-trixie", "postgresql:15"),
    ),
    replace(
        MARIADB,
        manifest=LAB_VALUES,
        section="Chart",
        operator=Operator(
            "mariadb-operator",
            "github.com/mariadb-operator/mariadb-operator/v26",
            version="26.6.0",
            package="cmd/controller",
        ),
    ),
)
