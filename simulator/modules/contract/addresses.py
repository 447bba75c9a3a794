"""The addresses among a target's options, and their replacement by the addresses of relays."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from simulator.errors import SetupError
from simulator.modules.contract.options import Options

Address: TypeAlias = tuple[str, int]
"""Host and port."""

_PORTS = {"http": 80, "https": 443, "mongodb": 27017, "postgres": 5432, "postgresql": 5432}
"""Scheme -> port of an address without one."""
_LIBPQ_PORT = 5432
_LIBPQ_SCHEMES = ("postgres", "postgresql")
_WORD = re.compile(r"\b(host|hostaddr|port)\s*=\s*(?:'([^']*)'|(\S+))")
_PAST = (
    "the driver asks these servers for further addresses, which lead past the relay; name one"
    " server, without replicaSet"
)
_TEXTS = ("connection_string", "url", "uri")


def addresses(options: Options) -> list[Address]:
    """Return the hosts and ports that a target's options name."""
    for name in _TEXTS:
        if text := _text(getattr(options, name, None)):
            return _parse_text(text)
    hosts = _text(getattr(options, "hosts", None) or getattr(options, "host", None))
    port = getattr(options, "port", None)
    return [(host, int(port)) for host in re.split(r"[\s,]+", hosts) if host and port]


def all_addresses(options: Options) -> list[Address]:
    """Return the addresses, with the additional ports of some databases."""
    found = addresses(options)
    for name, value in _others(options):
        if name.endswith("_url"):
            found += _parse_text(value)
        elif found:
            found.append((_host(options, found), value))
    return [*dict.fromkeys(found)]


def redirect(options: Options, places: Mapping[Address, Address]) -> Options:
    """Return the options with each address replaced by the one that `places` gives for it.

    SetupError if that is impossible, because the driver would ask the servers for addresses.
    """
    new: dict[str, Any] = {}
    found = addresses(options)
    for name in _TEXTS:
        value = getattr(options, name, None)
        if text := _text(value):
            other = _redirect_text(text, found, places)
            new[name] = SecretStr(other) if isinstance(value, SecretStr) else other
            break
    else:
        if len(found) > 1:
            raise SetupError(_PAST)
        ((host, port),) = (places[each] for each in found)
        new["hosts" if hasattr(options, "hosts") else "host"] = host
        new["port"] = port
    for name, value in _others(options):
        if name.endswith("_url"):
            new[name] = _redirect_text(value, _parse_text(value), places)
        else:
            host, new[name] = places[_host(options, found), value]
            new |= dict.fromkeys(_host_options(options), host)
    return options.model_copy(update=new)


def explain_unrelayed(options: Options) -> str:
    """Return why no relay can be placed before the servers; empty if one can."""
    found = all_addresses(options)
    if not found:
        return "the target's options contain no address, so no relay can be used"
    try:
        redirect(options, {each: each for each in found})
    except SetupError as error:
        return str(error)
    return ""


def _others(options: Options) -> list[tuple[str, Any]]:
    """Return the additional options that are addresses or ports."""
    names = [name for name in type(options).model_fields if name.endswith(("_url", "_port"))]
    return [(name, value) for name in names if (value := getattr(options, name))]


def _host(options: Options, found: Sequence[Address]) -> str:
    """Return the host of the additional ports: the option for it, or the host of the address."""
    named = (getattr(options, name) for name in _host_options(options))
    return next(filter(None, named), found[0][0])


def _host_options(options: Options) -> list[str]:
    return [name for name in type(options).model_fields if name.endswith("_host")]


def _text(value: Any) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value or "")


def _parse_text(text: str) -> list[Address]:
    with suppress(ValueError):  # no port
        return [*(_parse_url(text) if "://" in text else _parse_words(text))]
    return []


def _parse_url(text: str) -> Iterator[Address]:
    parts = urlsplit(text)
    for place in parts.netloc.rpartition("@")[2].split(","):
        one = urlsplit(f"//{place}")
        port = one.port or _PORTS.get(parts.scheme)
        if one.hostname and port:
            yield one.hostname, port


def _parse_words(text: str) -> Iterator[Address]:
    words = {key: quoted or plain for key, quoted, plain in _WORD.findall(text)}
    ports = [int(port) for port in words.get("port", "").split(",") if port.isdecimal()]
    hosts = words.get("hostaddr") or words.get("host") or "localhost"
    for place, host in enumerate(hosts.split(",")):
        port = ports[min(place, len(ports) - 1)] if ports else _LIBPQ_PORT
        yield ("localhost" if host.startswith(("/", "@")) else host), port  # a socket's folder


def _redirect_text(text: str, found: Sequence[Address], places: Mapping[Address, Address]) -> str:
    """Return a URL or connection string with other addresses; libpq keeps the name for TLS."""
    hosts, ports = zip(*(places[each] for each in found), strict=True)
    hostaddr, port = ",".join(hosts), ",".join(map(str, ports))
    if "://" not in text:
        return f"{text} hostaddr={hostaddr} port={port}"  # the last value of a key counts
    parts = urlsplit(text)
    if parts.scheme in _LIBPQ_SCHEMES:
        query = "&".join(filter(None, [parts.query, f"hostaddr={hostaddr}", f"port={port}"]))
        return urlunsplit(parts._replace(query=query))
    if "+srv" in parts.scheme or "replicaset" in parts.query.lower():
        raise SetupError(_PAST)
    login, at, _ = parts.netloc.rpartition("@")
    netloc = ",".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=True))
    return urlunsplit(parts._replace(netloc=f"{login}{at}{netloc}"))
