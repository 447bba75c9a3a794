"""The process of this machine that listens at a target's address: the database server."""

import math
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import psutil
from pydantic import SecretStr

from simulator.modules.options import Options

_PORTS = {"http": 80, "https": 443, "mongodb": 27017, "postgres": 5432, "postgresql": 5432}
"""Scheme -> port of an address without one."""
_LIBPQ_PORT = 5432
_WORD = re.compile(r"\b(host|hostaddr|port)\s*=\s*(?:'([^']*)'|(\S+))")


def addresses(options: Options) -> list[tuple[str, int]]:
    """Return hosts and ports of a target's servers, as far as its options name them."""
    for name in ("connection_string", "url", "uri"):
        if text := _text(getattr(options, name, None)):
            with suppress(ValueError):  # no port
                return [*(_of_url(text) if "://" in text else _of_words(text))]
            return []
    hosts = _text(getattr(options, "hosts", None) or getattr(options, "host", None))
    port = getattr(options, "port", None)
    return [(host, int(port)) for host in re.split(r"[\s,]+", hosts) if host and port]


def _text(value: Any) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value or "")


def _of_url(text: str) -> Iterator[tuple[str, int]]:
    parts = urlsplit(text)
    for place in parts.netloc.rpartition("@")[2].split(","):
        one = urlsplit(f"//{place}")
        port = one.port or _PORTS.get(parts.scheme)
        if one.hostname and port:
            yield one.hostname, port


def _of_words(text: str) -> Iterator[tuple[str, int]]:
    words = {key: quoted or plain for key, quoted, plain in _WORD.findall(text)}
    ports = [int(port) for port in words.get("port", "").split(",") if port.isdecimal()]
    hosts = words.get("hostaddr") or words.get("host") or "localhost"
    for place, host in enumerate(hosts.split(",")):
        port = ports[min(place, len(ports) - 1)] if ports else _LIBPQ_PORT
        yield ("localhost" if host.startswith(("/", "@")) else host), port  # a socket's folder


def elsewhere(options: Options, *, embedded: bool) -> str:
    """Return why the server is not known to be on this machine; empty: it is."""
    known = [] if embedded else addresses(options)
    if embedded or any(_is_here(host) for host, _ in known):
        return ""
    return "the server is on another host" if known else "the target's options have no address"


def server_of(options: Options, *, embedded: bool) -> psutil.Process | str:
    """Return the server's process, or why it is not measured."""
    if embedded:
        return "not measured: the database is part of the workers"
    if reason := elsewhere(options, embedded=embedded):
        return f"not measured: {reason}"
    local = [(host, port) for host, port in addresses(options) if _is_here(host)]
    for _, port in local:
        pid = _listening(port)
        if pid is not None:
            return psutil.Process(pid)
    places = ", ".join(f"{host}:{port}" for host, port in local)
    return (
        f"not measured: this user sees no process of this machine that listens at {places}; run as"
        " the server's user or as root"
    )


def _is_here(host: str) -> bool:
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    own = {each.address for every in psutil.net_if_addrs().values() for each in every}
    return any(ip_address(each.partition("%")[0]).is_loopback or each in own for each in found)


def _listening(port: int) -> int | None:
    """Return the process that listens at a port; the oldest, if it shares it with its children."""
    try:
        connections = psutil.net_connections("tcp")
    except psutil.Error:
        return None
    pids = {
        each.pid
        for each in connections
        if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port
    }
    return min((pid for pid in pids if pid is not None), key=_age, default=None)


def _age(pid: int) -> float:
    with suppress(psutil.Error):
        return psutil.Process(pid).create_time()
    return math.inf
