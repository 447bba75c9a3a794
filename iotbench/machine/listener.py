"""The process of this machine that listens at a target's address: the database server."""

import math
import socket
from contextlib import suppress
from ipaddress import ip_address

import psutil

from simulator.modules.contract import Options, addresses

_FORWARDERS = {"docker-proxy", "kubectl", "pasta", "rootlessport", "slirp4netns", "socat", "ssh"}
"""Processes that listen in place of a server which is in a container or on another machine."""


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
        with suppress(psutil.NoSuchProcess):
            if pid := _listening(port):
                return _server(psutil.Process(pid), port)
    places = ", ".join(f"{host}:{port}" for host, port in local)
    return (
        f"not measured: this user sees no process of this machine that listens at {places}; run as"
        " the server's user or as root"
    )


def _server(found: psutil.Process, port: int) -> psutil.Process | str:
    name = found.name()
    if name in _FORWARDERS:
        return (
            f"not measured: {name} listens at port {port}, and forwards to a server whose processes"
            " are not known"
        )
    return found


def servers_here(options: Options, *, embedded: bool) -> list[psutil.Process] | None:
    """Return the server's process, if it is on this machine; None: which it is, is not known."""
    known = addresses(options)
    if embedded or (known and not any(_is_here(host) for host, _ in known)):
        return []
    found = server_of(options, embedded=embedded)
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
