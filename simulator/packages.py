"""Optional packages, and the command that installs each."""

import sys
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version

PROGRAM = "iotbench"
EXTRAS = {
    "arango": ("arangodb", "python-arango"),
    "bson": ("mongodb", "pymongo"),
    "cassandra": ("cassandra", "cassandra-driver"),
    "chdb": ("clickhouse_embedded", "chdb"),
    "duckdb": ("duckdb", "duckdb"),
    "elastic_transport": ("elasticsearch", "elastic-transport"),
    "elasticsearch": ("elasticsearch", "elasticsearch"),
    "influxdb_client": ("influxdb", "influxdb-client"),
    "iotdb": ("iotdb", "apache-iotdb"),
    "jinja2": ("pages", "Jinja2"),
    "kubernetes": ("kubernetes", "kubernetes"),
    "opentelemetry": ("otlp", "opentelemetry-exporter-otlp-proto-http"),
    "psycopg2": ("postgres", "psycopg2-binary"),
    "pyarrow": ("files", "pyarrow"),
    "pymongo": ("mongodb", "pymongo"),
    "pymysql": ("mysql", "PyMySQL"),
    "pytest": ("contract", "pytest"),
    "quasardb": ("quasardb", "quasardb"),
    "questdb": ("questdb", "questdb"),
    "ruptures": ("history", "ruptures"),
    "thrift": ("iotdb", "thrift"),
    "vl_convert": ("pages", "vl-convert-python"),
}
"""Imported package -> extra that installs the package, and name of the package in a registry."""


def describe_missing(names: Collection[str]) -> str:
    """Return the missing packages and the command that installs them, in one line."""
    word = "package" if len(names) == 1 else "packages"
    return f"the Python {word} {', '.join(names)} cannot be imported: {_suggest(names)}"


def describe(error: ModuleNotFoundError) -> str:
    """Return a failed import as one line; return an empty string if no extra has the package."""
    name = (error.name or "").partition(".")[0]
    return describe_missing([name]) if name in EXTRAS else ""


def _suggest(names: Collection[str]) -> str:
    if not EXTRAS.keys() >= {*names}:
        return "install what the documentation of the module names, with pip install"
    try:
        version(PROGRAM)
    except PackageNotFoundError:
        wanted = "-r requirements.txt"
    else:
        wanted = f"'{PROGRAM}[{','.join(sorted({EXTRAS[name][0] for name in names}))}]'"
    return f"run {sys.executable} -m pip install {wanted}"
