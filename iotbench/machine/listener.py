"""The process of this machine that listens at a database's address: its server."""

import math
import socket
from contextlib import suppress
from ipaddress import ip_address

import psutil

from simulator.modules.contract import Database, addresses

_FORWARDERS = {"docker-proxy", "kubectl", "pasta", "rootlessport", "slirp4netns", "socat", "ssh"}
"""Processes that listen in place of a server which is in a container or on another machine."""


def elsewhere(database: Database) -> str:
    """Return why the server is not known to be on this machine; empty: it is."""
    known = addresses(database.options)
    if database.capabilities.embedded or any(_is_here(host) for host, _ in known):
        return ""
    return "the server is on another host" if known else "the target's options have no address"


def server_of(database: Database) -> psutil.Process | str:
    """Return the server's process, or why it is not known."""
    if database.capabilities.embedded:
        return "the database is part of the workers"
    if reason := elsewhere(database):
        return reason
    local = [(host, port) for host, port in addresses(database.options) if _is_here(host)]
    for _, port in local:
        with suppress(psutil.NoSuchProcess):
            if pid := _listening(port):
                found = psutil.Process(pid)
                return _explain_forwarding(found.name(), port) or found
    places = ", ".join(f"{host}:{port}" for host, port in local)
    return (
        f"this user sees no process of this machine that listens at {places}; run as the server's"
        " user or as root"
    )


def _explain_forwarding(name: str, port: int) -> str:
    """Return why a process that listens is not the server; empty: it is."""
    if name not in _FORWARDERS:
        return ""
    return f"{name} listens at port {port}, and forwards to a server whose processes are not known"


def servers_here(database: Database) -> list[psutil.Process] | None:
    """Return the server's process if it is on this machine; None: it is not known."""
    known = addresses(database.options)
    is_elsewhere = known and not any(_is_here(host) for host, _ in known)
    if database.capabilities.embedded or is_elsewhere:
        return []
    found = server_of(database)
    return [found] if isinstance(found, psutil.Process) else None


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
