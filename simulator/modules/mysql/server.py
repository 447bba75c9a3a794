"""What a MySQL or MariaDB server says of itself and of errors, and what it means."""

import re

SHOWN = (
    "binlog_format",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "log_bin",
    "sync_binlog",
)


def version(told: str) -> tuple[str, tuple[int, ...]]:
    """Return who wrote the server and its version, as it tells at the door.

    MariaDB before 11 says 5.5.5- in front, for the sake of old clients.
    """
    kind = "MariaDB" if "MariaDB" in told else "MySQL"
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", told.removeprefix("5.5.5-"))
    return kind, tuple(map(int, found.groups())) if found else (0, 0, 0)


def durability(settings: dict[str, str], *, transactional: bool) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence."""
    engine = settings["engine"]
    if not transactional:
        meaning = "is with the operating system: it survives a crash of the server (the table may"
        return False, f"an acknowledged row {meaning} need repair), not of the machine ({engine})"
    if engine.lower() != "innodb":
        return None, f"an acknowledged row is committed by {engine}, whose settings are not known"
    names = ("innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog", "innodb_flush_method")
    told = ", ".join(f"{name}={settings[name]}" for name in names if name in settings)
    flushed = settings.get("innodb_flush_log_at_trx_commit")
    if settings.get("innodb_redo_log_enabled") == "OFF":
        return False, "an acknowledged row does not survive a crash: there is no redo log"
    if settings.get("innodb_flush_method") in ("nosync", "littlesync"):
        return (
            False,
            f"an acknowledged row may be lost with the machine: no sync ({told})",
        )
    if flushed == "0":
        return False, f"an acknowledged row may be lost in a crash: it is written later ({told})"
    if flushed != "1":
        meaning = "survives a crash of the server, but not of the machine: it is synced later"
        return False, f"an acknowledged row {meaning} ({told})"
    if settings.get("log_bin") == "ON" and settings.get("sync_binlog") != "1":
        # Recovery undoes what the binary log does not have.
        meaning = "may be lost with the machine: the binary log is synced later"
        return False, f"an acknowledged row {meaning} ({told})"
    return True, f"an acknowledged row is in the redo log on disk ({told})"


CHECK = "check that the server runs, and host and port"

_CAUSES = {
    "CERTIFICATE_VERIFY_FAILED": "name its authority's certificate in ca_file, or say "
    "insecure=true",
    "SSL is required but": "leave tls, ca_file, ca and insecure away, or let the server have TLS",
    "ocal infile|oading local data": "let the server take it (SET GLOBAL local_infile = ON), or "
    "say use_values_lists=true",
    "timed out": CHECK,
    "crashed|repair": "REPAIR TABLE ..., or let the server do so (myisam_recover_options)",
}
"""A pattern of the words -> what to try."""

_DENIED = "check user and password: --extra-option password=..., or the target's options"
_GRANT = "let the user do this: GRANT ALL ON database.* TO ..."
_LIMIT = "use fewer workers, or raise max_connections"
_REMEDIES = {
    1021: "make room on the server",
    1040: _LIMIT,
    1044: _GRANT,
    1045: _DENIED,
    1049: "create it (CREATE DATABASE), or name another in database",
    1050: "drop it, or run with --clean",
    1062: "rows like these are stored already; run with --clean, or use another --primary-key",
    1114: "make room on the server",
    1130: "let this client in: CREATE USER ...@'%'",
    1142: _GRANT,
    1146: "run an insert first",
    1153: "use a smaller --batch, or raise max_allowed_packet",
    1203: _LIMIT,
    1698: _DENIED,
    2003: CHECK,
    2013: "the server's log tells why",
    2006: "the server ended the connection, as it does when it stops, or when a statement is "
    "larger than its max_allowed_packet",
}
"""An error's number -> what to try."""


def remedy(code: object, words: str) -> str | None:
    """Return what to try about an error."""
    found = next((what for cause, what in _CAUSES.items() if re.search(cause, words)), None)
    return found or (_REMEDIES.get(code) if isinstance(code, int) else None)
