"""Options of targets with the names of reference document 1: translated, or refused with a hint.

docs/benchmarks.md lists the names of all documents.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Name:
    """Keys of config.yaml or --extra-option in reference document 1, and their replacement."""

    keys: tuple[str, ...]
    here: str
    """Text of the replacement, for messages."""
    modules: tuple[str, ...] = ()
    """Modules that had the keys; empty: all modules."""
    option: str = ""
    """Option that takes the value; empty if there is no such option."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Original value -> value of our option, if the values differ."""
    needless: str = ""
    """Value for which the key is ignored, because the value is the default."""


_SEARCH = ("elasticsearch",)
NAMES = (
    Name(("queries",), "query --types a,b"),
    Name(
        ("install_extensions",),
        "install_extensions: true, which creates pgcrypto",
        option="install_extensions",
        values=MappingProxyType({"pgcrypto": True}),
    ),
    Name(
        ("endpoint",),
        "url",
        ("arangodb", "influxdb", "influxdb1", "influxdb3", *_SEARCH),
        option="url",
    ),
    Name(("username",), "user", ("arangodb",), option="user"),
    Name(("sync",), "wait_for_sync", ("arangodb",), option="wait_for_sync"),
    Name(("contact_points",), "hosts, and port", ("cassandra",), option="hosts"),
    Name(
        ("consistency_level",),
        "consistency, and read_consistency",
        ("cassandra",),
        option="consistency",
    ),
    Name(("device_spread",), "the option --devices, on every target", needless="1"),
    Name(("bucket",), "prefix, such as benchmark_: the bucket is benchmark_events", ("influxdb",)),
    Name(
        ("number_of_shards", "number_of_replicas"),
        "shards and replicas; the server's own unless set",
        _SEARCH,
    ),
    Name(("verify_certs",), "verified; ca_file, ca or insecure: true", _SEARCH),
)


def find_name(key: str, module: str) -> Name | None:
    """Return the entry for a key of reference document 1; None if there was no such key."""
    for row in NAMES:
        if key in row.keys and (not row.modules or module in row.modules):
            return row
    return None


@dataclass(frozen=True, slots=True)
class Translated:
    """Options of a target, with our names."""

    options: Mapping[str, Any]
    there: Mapping[str, str]
    """Our name -> the original name that the user gave."""
    problems: Mapping[str, str]
    """Key that cannot be translated -> the reason and the replacement."""


def translate(module: str, known: Mapping[str, Any], given: Mapping[str, Any]) -> Translated:
    """Return the options with our names.

    `known`: options of the module.
    """
    options: dict[str, Any] = {}
    there: dict[str, str] = {}
    problems: dict[str, str] = {}
    for key, value in given.items():
        row = find_name(key, module)
        if not row or (key in known and key != row.option):
            options[key] = value
        elif row.needless and str(value) == row.needless:
            continue
        elif row.option not in known:
            problems[key] = f"module {module} has no such option; here: {row.here}"
        elif key != row.option and row.option in given:
            problems[key] = f"is {row.option} here, which is given as well; leave out one of them"
        else:
            options[row.option] = row.values.get(str(value), value)
            there[row.option] = key
    return Translated(options, there, problems)
