"""Elasticsearch and OpenSearch: the vendors' distributions for integration tests.

https://central.sonatype.com/artifact/org.elasticsearch.distribution.integ-test-zip/elasticsearch:
the server without most of its modules, and so without scripts and API keys. What the tests need is
added, if it is published by itself.
"""

import base64
import json
import re
import secrets
import shutil
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import trustme

from tests.servers import packages
from tests.servers.base import Program, Server

_GROUP = "org.{0}.distribution.integ-test-zip"
_REINDEX = "org.opensearch.plugin:reindex-client"
_HEAP = "512m"
ADMIN = "bench"
GUEST = "guest"


class _Search(Server):
    """A cluster of one node."""

    ready_s = 300
    stop_s = 60
    product: ClassVar[str]
    java: ClassVar[range] = range(17, 22)
    """The Java versions that it supports; later ones have no security manager, which it needs."""
    added: ClassVar[str] = ""
    """What `build` adds to the distribution; part of the name of the cache folder."""

    def __init__(self, **settings: str) -> None:
        """Take settings of the configuration file, and `heap`."""
        super().__init__()
        self._heap = settings.pop("heap", _HEAP)
        self._settings = settings

    @classmethod
    def build(cls, folder: Path) -> None:
        if 17 in cls.java:
            packages.need("java", "openjdk-17-jre-headless")
        archive = f"{cls.product}:{cls.version}:zip"
        packages.maven(folder, f"{_GROUP.format(cls.product)}:{archive}")
        (downloaded,) = folder.glob("*.zip")
        packages.unzip(downloaded, folder)
        downloaded.unlink()
        home = folder / f"{cls.product}-{cls.version}"
        for program in (home / "bin").iterdir():
            program.chmod(0o755)

    @classmethod
    def install(cls) -> None:
        packages.install(cls.product, cls.version + cls.added, cls.build)

    @classmethod
    def installed(cls) -> Path:
        folder = packages.installed(cls.product, cls.version + cls.added)
        _java_home(cls.java)
        return folder

    @property
    def programs_folder(self) -> Path:
        return self.home / f"{self.product}-{self.version}"

    def settings(self) -> dict[str, Any]:
        """Return the lines of the configuration file."""
        return {
            "cluster.name": "tests",
            "node.name": "node-1",
            "path.data": str(self.folder / "data"),
            "path.logs": str(self.folder / "logs"),
            "network.host": "127.0.0.1",
            "http.port": self.port(),
            "transport.port": self.port("transport"),
            "discovery.type": "single-node",
            "cluster.routing.allocation.disk.threshold_enabled": False,
            **self._settings,
        }

    def prepare(self) -> None:
        shutil.copytree(self.programs_folder / "config", self.folder / "config")
        options = self.folder / "config/jvm.options"
        # By default logs and dumps go into the folder of the programs, which is read-only.
        kept = [line for line in options.read_text().splitlines() if "logs/" not in line]
        options.write_text("\n".join(kept))
        lines = [f"{name}: {json.dumps(value)}\n" for name, value in self.settings().items()]
        self.write(f"config/{self.product}.yml", "".join(lines))

    def environment(self) -> dict[str, str]:
        prefix = {"elasticsearch": "ES", "opensearch": "OPENSEARCH"}[self.product]
        return {
            f"{prefix}_JAVA_HOME": str(_java_home(self.java)),
            f"{prefix}_JAVA_OPTS": f"-Xms{self._heap} -Xmx{self._heap} {self.java_options}",
            f"{prefix}_PATH_CONF": str(self.folder / "config"),
            f"{prefix}_TMPDIR": str(self.folder / "tmp"),
        }

    def programs(self) -> Iterator[list[Program]]:
        yield [Program(self.product, [self.programs_folder / "bin" / self.product], self._ready)]

    def _ready(self) -> None:
        status = json.loads(self.fetch("/_cluster/health"))["status"]
        if status not in ("green", "yellow"):
            raise RuntimeError(f"the cluster is {status}")

    def fetch(self, path: str, method: str = "GET") -> bytes:
        """Return the answer; raise unless it is a success."""
        return _fetched(self.url + path, method)

    def options(self, database: str) -> dict[str, Any]:
        return {"url": self.url}

    def drop_database(self, name: str) -> None:
        """Delete every index: one test at a time uses the server."""
        for index in json.loads(self.fetch("/_cat/indices?format=json&h=index")):
            self.fetch(f"/{index['index']}", "DELETE")


def _java_home(versions: range) -> Path:
    """Return JAVA_HOME of one of these versions; NotInstalled if there is none."""
    on_path = shutil.which("java")
    programs = [Path(on_path)] if on_path else []
    for program in (*programs, *sorted(Path("/usr/lib/jvm").glob("*/bin/java"))):
        text = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
        found = re.search(r'version "(\d+)', text.stderr)
        if found and int(found[1]) in versions:
            return program.resolve().parents[1]
    package = f"openjdk-{versions.start}-jre-headless"
    wanted = f"Java {versions.start} to {versions.stop - 1}"
    raise packages.NotInstalled(f"{wanted} is not installed: as root, apt-get install {package}")


def _fetched(
    url: str,
    method: str,
    headers: Mapping[str, str] | None = None,
    context: ssl.SSLContext | None = None,
) -> bytes:
    request = urllib.request.Request(url, method=method, headers=dict(headers or {}))
    with urllib.request.urlopen(request, timeout=30, context=context) as reply:
        return bytes(reply.read())


class Elasticsearch(_Search):
    """Elasticsearch without security."""

    name = "elasticsearch"
    targets = ("elasticsearch",)
    product = "elasticsearch"
    version = "8.6.2"

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "xpack.security.enabled": False}


class SecureElasticsearch(Elasticsearch):
    """Elasticsearch with TLS, an administrator and a user without permissions."""

    name = "elasticsearch_secure"

    def __init__(self) -> None:
        super().__init__()
        self._authority = trustme.CA()
        self.password = secrets.token_hex(12)

    def settings(self) -> dict[str, Any]:
        return {
            **super().settings(),
            "xpack.security.enabled": True,
            "xpack.security.http.ssl.enabled": True,
            "xpack.security.http.ssl.key": "server.key",
            "xpack.security.http.ssl.certificate": "server.pem",
        }

    def prepare(self) -> None:
        super().prepare()
        certificate = self._authority.issue_cert("127.0.0.1")
        for name, blobs in (
            ("config/server.key", [certificate.private_key_pem]),
            ("config/server.pem", certificate.cert_chain_pems),
            ("ca.pem", [self._authority.cert_pem]),
        ):
            self.write(name, "".join(blob.bytes().decode() for blob in blobs))
        users = self.programs_folder / "bin/elasticsearch-users"
        self.call([users, "useradd", ADMIN, "-p", self.password, "-r", "superuser"])
        self.call([users, "useradd", GUEST, "-p", self.password])

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port()}"

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.pem"

    def fetch(self, path: str, method: str = "GET") -> bytes:
        pair = base64.b64encode(f"{ADMIN}:{self.password}".encode()).decode()
        context = ssl.create_default_context(cafile=self.ca_file)
        return _fetched(self.url + path, method, {"Authorization": f"Basic {pair}"}, context)

    def options(self, database: str) -> dict[str, Any]:
        return {
            "url": self.url,
            "ca_file": str(self.ca_file),
            "username": ADMIN,
            "password": self.password,
        }


class OpenSearch(_Search):
    """OpenSearch."""

    name = "opensearch"
    targets = ("opensearch",)
    product = "opensearch"
    version = "2.19.6"
    added = "-reindex"

    @classmethod
    def build(cls, folder: Path) -> None:
        super().build(folder)
        if cls.added:
            _add_reindex(folder, folder / f"{cls.product}-{cls.version}", cls.version)


def _add_reindex(folder: Path, home: Path, version: str) -> None:
    """Add the module that deletes by query."""
    # The server refuses to start with the same class in a module and in its own libraries.
    own = [jar.name for jar in (home / "lib").glob("*.jar")]
    packages.maven_tree(folder, f"{_REINDEX}:{version}", without=own)
    module = (folder / "lib").rename(home / "modules/reindex")
    (module / "plugin-descriptor.properties").write_text(
        "name=reindex\n"
        "description=Updates and deletes documents by query\n"
        "classname=org.opensearch.index.reindex.ReindexPlugin\n"
        f"version={version}\n"
        f"opensearch.version={version}\n"
        "java.version=11\n"
    )


class OpenSearch3(OpenSearch):
    """OpenSearch of the next major version, whose distribution has every module."""

    name = "opensearch3"
    version = "3.6.0"
    added = ""
    java = range(21, 26)
