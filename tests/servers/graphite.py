"""Graphite: carbon and graphite-web, from PyPI, on the same whisper files."""

import secrets
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers import packages
from tests.servers.base import Program, Server, listens

_RETENTION_S = 12 * 3600
"""Retention of what the contract tests write (paths that begin with test_): small files."""
_LONG_S = 30 * 86_400

_AGGREGATION = """\
[default]
pattern = .*
xFilesFactor = 0
aggregationMethod = average
"""


class Graphite(Server):
    """A carbon-cache and a graphite-web."""

    name = "graphite"
    targets = ("graphite",)
    version = "1.1.10"

    def __init__(self, **settings: str) -> None:
        """Take settings of carbon, as in `max_creates_per_minute="50"`."""
        super().__init__()
        self._settings = {name.upper(): value for name, value in settings.items()}

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.pypi(
            folder,
            *(f"{name}=={cls.version}" for name in ("whisper", "carbon", "graphite-web")),
            "gunicorn==27.0.1",
            "setuptools<80",  # removed in later versions
            environment={"GRAPHITE_NO_PREFIX": "True"},  # the default is /opt
        )

    @property
    def _python(self) -> Path:
        return self.home / "venv/bin/python"

    def environment(self) -> dict[str, str]:
        return {
            "DJANGO_SETTINGS_MODULE": "settings_of_tests",
            "GRAPHITE_SETTINGS_MODULE": "settings_of_tests",
            "GRAPHITE_ROOT": str(self.folder),
            "GRAPHITE_CONF_DIR": str(self.folder / "conf"),
            "GRAPHITE_STORAGE_DIR": str(self.folder / "storage"),
            "PYTHONPATH": str(self.folder / "settings"),
        }

    def prepare(self) -> None:
        storage = self.folder / "storage"
        for name in ("whisper", "log", "lists"):
            (storage / name).mkdir(parents=True)
        local = "127.0.0.1"
        carbon = {
            "STORAGE_DIR": f"{storage}/",
            "LOCAL_DATA_DIR": f"{storage}/whisper/",
            "CONF_DIR": f"{self.folder}/conf/",
            "LOG_DIR": f"{storage}/log/",
            "PID_DIR": f"{storage}/",
            "LINE_RECEIVER_INTERFACE": local,
            "LINE_RECEIVER_PORT": self.port("lines"),
            "PICKLE_RECEIVER_INTERFACE": local,
            "PICKLE_RECEIVER_PORT": self.port("pickles"),
            "CACHE_QUERY_INTERFACE": local,
            "CACHE_QUERY_PORT": self.port("cache"),
            "MAX_CACHE_SIZE": "inf",
            "MAX_UPDATES_PER_SECOND": "inf",
            "MAX_CREATES_PER_MINUTE": "inf",
            "WHISPER_SPARSE_CREATE": "True",
            "LOG_UPDATES": "False",
            "LOG_CREATES": "False",
            "ENABLE_TAGS": "False",
            **self._settings,
        }
        lines = "".join(f"{name} = {value}\n" for name, value in carbon.items())
        self.write("conf/carbon.conf", f"[cache]\n{lines}")
        schemas = {
            r"\.(created|dropped)\.\d+$": "60s:1d",
            r"^carbon\.": "60s:1d",
            r"^test_": f"1s:{_RETENTION_S}s",
            ".*": f"1s:{_LONG_S}s",
        }
        sections = (f"[schema{place}]\npattern = {pattern}\nretentions = {kept}\n"
                    for place, (pattern, kept) in enumerate(schemas.items()))  # fmt: skip
        self.write("conf/storage-schemas.conf", "\n".join(sections))
        self.write("conf/storage-aggregation.conf", _AGGREGATION)
        self.write("settings/settings_of_tests.py", self._django(storage))
        self.call([self._python, "-m", "django", "migrate", "--run-syncdb"])

    def _django(self, storage: Path) -> str:
        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(storage / "graphite.db")}
        whisper = str(storage / "whisper")
        settings = {
            "SECRET_KEY": secrets.token_hex(16),
            "ALLOWED_HOSTS": ["*"],
            "TIME_ZONE": "UTC",
            "LOG_DIR": str(storage / "log"),
            "STORAGE_DIR": str(storage),
            "CONF_DIR": str(self.folder / "conf"),
            "WHISPER_DIR": whisper,
            "STANDARD_DIRS": [whisper],
            "INDEX_FILE": str(storage / "index"),
            "CARBONLINK_HOSTS": [f"127.0.0.1:{self.port('cache')}"],
            "DATABASES": {
                "default": {**database, "USER": "", "PASSWORD": "", "HOST": "", "PORT": ""}
            },
        }
        lines = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
        return f"from graphite.settings import *\n{lines}"

    def programs(self) -> Iterator[list[Program]]:
        config = f"--config={self.folder / 'conf/carbon.conf'}"
        carbon = [
            self._python,
            self.home / "venv/bin/carbon-cache.py",
            config,
            "--nodaemon",
            "start",
        ]
        web = [self._python, "-m", "gunicorn", "--workers=2", f"--bind=127.0.0.1:{self.port()}",
               "--timeout=600", "graphite.wsgi:application"]  # fmt: skip
        yield [Program("carbon", carbon, self._carbon_listens), Program("web", web, self._find)]

    def _carbon_listens(self) -> None:
        for purpose in ("lines", "pickles", "cache"):
            listens(self.port(purpose))

    def _find(self) -> None:
        with urllib.request.urlopen(f"{self.url}/metrics/find?query=*", timeout=5) as reply:
            reply.read()

    def options(self, database: str) -> dict[str, Any]:
        return {
            "url": self.url,
            "line_port": self.port("lines"),
            "pickle_port": self.port("pickles"),
            "prefix": f"{database}.",
            "retention_s": _RETENTION_S,
            "quiet_s": 2,
        }
