"""InfluxDB 2, built from Go modules and Rust (Flux), and InfluxDB 1, built from Go modules."""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

from tests.servers import packages
from tests.servers.base import Program, Server, answers

ADMIN, ORG = "bench", "benchmark"
_WAIT_S = 30
_QUIET_RUSTC = """#!/bin/sh
# Flux denies warnings, and newer compilers have more of them.
case " $* " in
    *--cap-lints*|*" -vV "*) exec "$@" ;;
    *) exec "$@" --cap-lints warn ;;
esac
"""


class InfluxDb(Server):
    """An InfluxDB 2 server, set up with one organization."""

    name = "influxdb"
    targets = ("influxdb",)
    version = "2.7.12"

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.need("cargo", "cargo")
        # Builds libflux, and passes its place to the Go build.
        packages.go_program(folder, "pkg-config", "github.com/influxdata/pkg-config", "v0.2.7")
        quiet = folder / "bin/rustc-quiet"
        quiet.write_text(_QUIET_RUSTC)
        quiet.chmod(0o755)
        environment = {"PKG_CONFIG": str(folder / "bin/pkg-config"), "RUSTC_WRAPPER": str(quiet)}
        with contextlib.suppress(packages.NotInstalled):
            packages.need("rustup", "rustup")
            environment["RUSTUP_TOOLCHAIN"] = "stable"  # not the old version that Flux names
        version = f"v{cls.version}"
        packages.go_program(
            folder,
            "influxd",
            "github.com/influxdata/influxdb/v2",
            version,
            "cmd/influxd",
            environment=environment,
            flags=[f"-ldflags=-s -w -X main.version={version}"],
        )

    def __init__(self, **settings: str) -> None:
        """Take settings of the server, as in `storage_wal_fsync_delay="1s"`."""
        super().__init__()
        self._settings = settings
        self.token = secrets.token_hex(24)
        self.password = secrets.token_hex(12)

    def programs(self) -> Iterator[list[Program]]:
        settings = {
            "http_bind_address": f"127.0.0.1:{self.port()}",
            "bolt_path": str(self.folder / "influxd.bolt"),
            "sqlite_path": str(self.folder / "influxd.sqlite"),
            "engine_path": str(self.folder / "engine"),
            "log_level": "warn",
            **self._settings,
        }
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        command = [self.home / "bin/influxd", *arguments, "--reporting-disabled"]
        yield [Program(self.name, command, lambda: answers(f"{self.url}/health"))]
        if requests.get(f"{self.url}/api/v2/setup", timeout=_WAIT_S).json()["allowed"]:
            setup = {
                "username": ADMIN,
                "password": self.password,
                "org": ORG,
                "bucket": "first",
                "token": self.token,
            }
            done = requests.post(f"{self.url}/api/v2/setup", json=setup, timeout=_WAIT_S)
            done.raise_for_status()

    def options(self, database: str) -> dict[str, Any]:
        return {"url": self.url, "org": ORG, "token": self.token, "prefix": f"{database}_"}

    def drop_database(self, name: str) -> None:
        headers = {"Authorization": f"Token {self.token}"}
        buckets = f"{self.url}/api/v2/buckets"
        found = requests.get(f"{buckets}?limit=100", headers=headers, timeout=_WAIT_S).json()
        for bucket in found["buckets"]:
            if bucket["name"].startswith(name):
                requests.delete(f"{buckets}/{bucket['id']}", headers=headers, timeout=_WAIT_S)


class InfluxDb1(Server):
    """An InfluxDB 1 server with authentication."""

    name = "influxdb1"
    targets = ("influxdb1",)
    version = "1.8.10"

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.go_program(
            folder,
            "influxd",
            "github.com/influxdata/influxdb",
            f"v{cls.version}",
            "cmd/influxd",
            environment={"GOFLAGS": "-mod=mod"},
            flags=[f"-ldflags=-s -w -X main.version={cls.version}"],
        )

    def __init__(self, **settings: str) -> None:
        """Take settings of the section `data`, as in `wal_fsync_delay="1s"`."""
        super().__init__()
        self._settings = settings
        self.password = secrets.token_hex(12)

    def prepare(self) -> None:
        data = {
            "dir": str(self.folder / "data"),
            "wal-dir": str(self.folder / "wal"),
            "index-version": "tsi1",
            **{name.replace("_", "-"): value for name, value in self._settings.items()},
        }
        lines = [
            "reporting-disabled = true",
            f'bind-address = "127.0.0.1:{self.port("backup")}"',
            "[meta]",
            f'dir = "{self.folder / "meta"}"',
            "[data]",
            *(f'{name} = "{value}"' for name, value in data.items()),
            "query-log-enabled = false",
            "[http]",
            f'bind-address = "127.0.0.1:{self.port()}"',
            "auth-enabled = true",
            "log-enabled = false",
        ]
        self.write("influxdb.conf", "\n".join(lines) + "\n")

    def programs(self) -> Iterator[list[Program]]:
        command = [self.home / "bin/influxd", "-config", self.folder / "influxdb.conf"]
        yield [Program(self.name, command, lambda: answers(f"{self.url}/ping"))]
        # The first user is created without authentication; repeating it has no effect.
        self._ask(f"CREATE USER {ADMIN} WITH PASSWORD '{self.password}' WITH ALL PRIVILEGES")

    def _ask(self, statement: str) -> dict[str, Any]:
        who = (ADMIN, self.password)
        answer = requests.post(
            f"{self.url}/query", data={"q": statement}, auth=who, timeout=_WAIT_S
        )
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()["results"][0]
        return found

    def options(self, database: str) -> dict[str, Any]:
        return {
            "url": self.url,
            "user": ADMIN,
            "password": self.password,
            "prefix": f"{database}_",
        }

    def drop_database(self, name: str) -> None:
        for series in self._ask("SHOW DATABASES")["series"]:
            for (database,) in series.get("values", ()):
                if database.startswith(name):
                    self._ask(f'DROP DATABASE "{database}"')
