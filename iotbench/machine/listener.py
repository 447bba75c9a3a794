"""Finds the server of a database: the local process that listens at the database's address."""

import socket
from contextlib import suppress
from ipaddress import ip_address

import psutil

from simulator.modules.contract import Database, addresses

_FORWARDERS = {"docker-proxy", "kubectl", "pasta", "rootlessport", "slirp4netns", "socat", "ssh"}
"""Names of processes that listen on behalf of a server in a container or on another machine."""


def elsewhere(database: Database) -> str:
    """Return why the server is not known to be on this machine; empty if it is on this machine."""
    known = addresses(database.options)
    if database.capabilities.embedded or any(_is_here(host) for host, _ in known):
        return ""
    return "the server is on another host" if known else "the target's options have no address"


def server_of(database: Database) -> psutil.Process | str:
    """Return the process of the server, or the reason why the process is not known."""
    if database.capabilities.embedded:
        return "the database is part of the workers"
    if reason := elsewhere(database):
        return reason
    local = [(host, port) for host, port in addresses(database.options) if _is_here(host)]
    for _, port in local:
        found = _find_listener(port)
        with suppress(psutil.NoSuchProcess):
            if found and found.name() in _FORWARDERS:
                return (
                    f"{found.name()} listens at port {port}, and forwards to a server whose"
                    " processes are not known"
                )
            if found:
                return found
    places = ", ".join(f"{host}:{port}" for host, port in local)
    return (
        f"this user sees no process of this machine that listens at {places}; run as the server's"
        " user or as root"
    )


def servers_here(database: Database) -> list[psutil.Process] | None:
    """Return the server's process; empty if it is on another machine, None if it is not known."""
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


def _find_listener(port: int) -> psutil.Process | None:
    """Return the process that listens on a port; if several listen, return the oldest."""
    connections, processes = [], []
    with suppress(psutil.Error):
        connections = psutil.net_connections("tcp")
    for each in connections:
        is_at_port = each.laddr and each.laddr.port == port
        if each.pid and is_at_port and each.status == psutil.CONN_LISTEN:
            with suppress(psutil.Error):
                processes.append(psutil.Process(each.pid))
    return min(processes, key=psutil.Process.create_time, default=None)
