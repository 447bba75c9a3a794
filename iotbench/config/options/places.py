"""Names of places for results: folders, and URLs of an object store or a database."""

import re
from pathlib import Path

from iotbench.machine.program import command_line
from iotbench.results.names import parse_name
from iotbench.results.places import (
    FolderPlace,
    ObjectPlace,
    PlacePath,
    ResultPlace,
    find_place,
    name_place,
)
from simulator.errors import ConfigError
from simulator.redaction import hide_urls

FORMS = "s3://BUCKET/PREFIX, postgresql://USER@HOST/DATABASE or sqlite:FILE"
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://|sqlite:", re.IGNORECASE)
_SERVERS = ("postgres", "postgresql")


def is_url(text: str) -> bool:
    """Return whether a text is a URL, and not the path of a file."""
    return _URL.match(text) is not None


def parse_folder(text: str) -> Path:
    """Return a folder of results, or the place of a URL; ConfigError if it is neither."""
    found = _URL.match(text)
    if not found:
        return Path(text)
    scheme = (found[1] or "sqlite").lower()
    if scheme == "s3" and not {*"@?#"} & {*text} and text[5:].strip("/"):
        path = PlacePath(text)
        if parse_name(path):
            return name_place(str(path.parent), ObjectPlace) / path.name
        return name_place(text, ObjectPlace)
    if scheme == "sqlite":
        return _name_tables(*_split_file(text))
    if scheme in _SERVERS:
        return _name_tables(*_split_server(text))
    raise ConfigError(f"{hide_urls(text)[:200]}: expected a folder, {FORMS}, without a credential")


def parse_written(text: str) -> Path:
    """Return a folder in which a command writes or changes results; ValueError for a URL."""
    if is_url(text):
        copy = command_line(["results", "copy", "FOLDER", "URL"])
        raise ValueError(f"expected a folder, got a URL, which is only read; use `{copy}` then")
    return Path(text)


def place_at(path: Path) -> tuple[ResultPlace, str]:
    """Return the place to which results can be copied, and the folder in it."""
    return find_place(path) or (FolderPlace(path), "")


def _split_file(text: str) -> tuple[str, str]:
    """Return the URL of an SQLite file, and the folder in it."""
    scheme, _, name = text.partition(":")
    for each in Path(name).parents:
        if each.is_file():
            return f"{scheme.lower()}:{each}", Path(name).relative_to(each).as_posix()
    return f"{scheme.lower()}:{name}", ""


def _split_server(text: str) -> tuple[str, str]:
    """Return the URL of a database, and the folder in it, which may be before or after a query."""
    address, mark, query = text.partition("?")
    query, _, after = query.partition("/")
    scheme, _, rest = address.partition("://")
    host, _, path = rest.partition("/")
    database, _, before = path.partition("/")
    url = f"{scheme.lower()}://{host}" + f"/{database}" * bool(database) + mark + query
    return url, f"{before}/{after}".strip("/")


def _name_tables(url: str, folder: str) -> PlacePath:
    """Return the path of a folder in a database; ConfigError if the URL is not valid."""
    from iotbench.config.targets.config import load_for  # noqa: PLC0415 - imports all modules
    from iotbench.results.tables import TablePlace  # noqa: PLC0415

    try:
        config, (name,) = load_for([url])
        target = config.resolve(name, {"synchronous": "full"} if url.startswith("sqlite:") else {})
    except ConfigError as error:
        raise ConfigError([each.removeprefix("--target ") for each in error.problems]) from None
    path = name_place(url, lambda place: TablePlace(place, target.open(), target.explain))
    return path / folder if folder else path
