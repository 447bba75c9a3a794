"""Versity's S3 gateway, an object store on a folder, from its Go module."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers import packages
from tests.servers.base import Program, Server, answers

KEY, SECRET = "bench", "s3cret-word"


class VersityGw(Server):
    """An S3 server; a database is a bucket, whose files tests write into `bucket`."""

    name = "versitygw"
    version = "1.8.0"

    @classmethod
    def build(cls, folder: Path) -> None:
        module = "github.com/versity/versitygw"
        packages.go_program(folder, "versitygw", module, f"v{cls.version}", "cmd/versitygw")

    @property
    def client(self) -> dict[str, str]:
        """The environment of a client."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
        }

    def bucket(self, name: str) -> Path:
        """Return the folder of a bucket."""
        return self.folder / "data" / name

    def prepare(self) -> None:
        (self.folder / "data").mkdir()

    def programs(self) -> Iterator[list[Program]]:
        command = [
            self.home / "bin/versitygw", "--port", f"127.0.0.1:{self.port()}",
            "--health", "/health", "--access", KEY, "--secret", SECRET,
            "posix", "--nometa", self.folder / "data",
        ]  # fmt: skip
        yield [Program(self.name, command, lambda: answers(f"{self.url}/health"))]

    def create_database(self, name: str) -> None:
        self.bucket(name).mkdir()
        self.bucket(name).chmod(0o777)  # the server is another user

    def drop_database(self, name: str) -> None:
        """Leave the bucket: the folder is removed with the server."""

    def options(self, database: str) -> dict[str, Any]:
        return {}
