"""TimescaleDB, Apache edition: from Debian sid, or built for PostgreSQL 15."""

import shutil
from pathlib import Path

from tests.servers import packages
from tests.servers.postgres import Postgres

_UNUSED = "^perl|^libperl|^postgresql-common|-common$|^ssl-cert|^netbase|^tzdata|^locales|^init-"


class Timescaledb(Postgres):
    """TimescaleDB of Debian sid, with its PostgreSQL and libc."""

    name = "timescaledb"
    targets = ("timescaledb",)
    version = "2.31.0"
    newest = "usr/lib/postgresql/*/bin/initdb"

    def __init__(self, **settings: str) -> None:
        """Take settings of the server, as in `max_connections="50"`."""
        preloaded = {"shared_preload_libraries": "timescaledb", "jit": "off"}
        super().__init__(**{**preloaded, **settings})

    @classmethod
    def build(cls, folder: Path) -> None:
        wanted = f"postgresql-18-timescaledb={cls.version}+dfsg-1"
        packages.debian_suite("sid", folder, wanted, "postgresql-18", skip=_UNUSED)
        packages.patchelf(folder, *(f"usr/lib/postgresql/18/bin/{p}" for p in _PROGRAMS))

    @classmethod
    def install(cls) -> None:
        """Fetch the programs, unless they are installed."""
        packages.install(cls.name, cls.version, cls.build)

    @classmethod
    def installed(cls) -> Path:
        """Return the folder of the programs of PostgreSQL."""
        (initdb,) = packages.installed(cls.name, cls.version).glob(cls.newest)
        return initdb.parent

    def environment(self) -> dict[str, str]:
        return {}  # the programs contain the paths of their libraries


_PROGRAMS = ("postgres", "initdb")


class Timescaledb15(Timescaledb):
    """An older TimescaleDB: source of Debian trixie, built for PostgreSQL 15 in two minutes."""

    name = "timescaledb15"
    version = "2.19.3"

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.need("cmake", "cmake")
        packages.need("gcc", "build-essential")
        packages.debian(folder, "postgresql-15", "postgresql-server-dev-15", skip="^(clang|llvm)")
        (config,) = folder.glob("usr/lib/postgresql/*/bin/pg_config")
        source = packages.debian_source(
            "trixie", folder, f"timescaledb={cls.version}+dfsg-1+deb13u1"
        )
        off = "USE_TELEMETRY SEND_TELEMETRY_DEFAULT REGRESS_CHECKS TAP_CHECKS USE_OPENSSL"
        options = [f"-D{name}=OFF" for name in off.split()]
        made = folder / "made"
        packages.run(
            ["cmake", "-S", source, "-B", made, f"-DPG_CONFIG={config}", "-DAPACHE_ONLY=ON",
             "-DCMAKE_BUILD_TYPE=Release", *options],
            folder,
        )  # fmt: skip
        packages.run(["make", "-C", made, "-j2", "install"], folder)
        for left in (source.parent, made):
            shutil.rmtree(left)

    def environment(self) -> dict[str, str]:
        return packages.library_path(self.home.parents[4])
