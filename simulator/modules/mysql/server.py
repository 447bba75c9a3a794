"""Settings, counters and errors of MySQL and MariaDB, and the durability that settings imply."""

from collections.abc import Mapping

from simulator.modules.contract import EXISTS, MISSING

SHOWN = (
    "binlog_format",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "log_bin",
    "sync_binlog",
)
"""Settings in the result."""
WAITS = {
    "innodb_buffer_pool_wait_free": "waits for a free page",
    "innodb_log_waits": "waits for the log buffer",
}
"""Counter of InnoDB -> its name in the result."""
CHECK = "check that the server runs, and host and port"
_DENIED = "check user and password"
_EXPIRED = "check the user's password, which has expired: ALTER USER ... IDENTIFIED BY ..."
_LOCKED = "unlock the user's account: ALTER USER ... ACCOUNT UNLOCK"
_GRANT = "grant the permission: GRANT ALL ON database.* TO ..."
_TIME_LIMIT = "raise max_execution_time (MariaDB: max_statement_time) on the server"
_LIMIT = "use fewer workers, or raise max_connections"
REMEDIES: Mapping[object, str] = {
    1021: "free disk space on the server",
    1040: _LIMIT,
    1044: _GRANT,
    1045: _DENIED,
    1049: "create it (CREATE DATABASE), or name another",
    1050: EXISTS,
    1062: "rows with these keys are already stored; run with --clean, or use another --primary-key",
    1114: "free disk space on the server",
    1130: "allow this client: CREATE USER ...@'%'",
    1142: _GRANT,
    1146: MISSING,
    1153: "use a smaller --batch, or raise max_allowed_packet",
    1203: _LIMIT,
    1644: "look for triggers on the table",
    1698: _DENIED,
    1820: _EXPIRED,
    1862: _EXPIRED,
    1969: _TIME_LIMIT,
    2003: CHECK,
    2013: "look at the server's log",
    2006: "the server ended the connection: it stops, or a statement is larger than its "
    "max_allowed_packet",
    3024: _TIME_LIMIT,
    3118: _LOCKED,
    4151: _LOCKED,
}
"""Error number -> remedy."""

_NOT_KEPT = {
    "MEMORY": "is in the server's memory, and lost when it ends",
    "BLACKHOLE": "is not stored",
}


def durability(settings: dict[str, str], *, transactional: bool) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence."""
    engine = settings["engine"]
    if engine.upper() in _NOT_KEPT:
        return False, f"an acknowledged row {_NOT_KEPT[engine.upper()]} ({engine})"
    if not transactional:
        meaning = "is in the operating system's cache: it survives a crash of the server (the table"
        return (
            False,
            f"an acknowledged row {meaning} may need repair), not of the machine ({engine})",
        )
    if engine.lower() != "innodb":
        return None, f"an acknowledged row is committed by {engine}, whose settings are unknown"
    names = ("innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog", "innodb_flush_method")
    shown = ", ".join(f"{name}={settings[name]}" for name in names if name in settings)
    flushed = settings.get("innodb_flush_log_at_trx_commit")
    if settings.get("innodb_redo_log_enabled") == "OFF":
        return False, "an acknowledged row does not survive a crash: there is no redo log"
    if settings.get("innodb_flush_method") in ("nosync", "littlesync"):
        return False, f"an acknowledged row may be lost with the machine: no sync ({shown})"
    if flushed == "0":
        return False, f"an acknowledged row may be lost in a crash: it is written later ({shown})"
    if flushed != "1":
        meaning = "survives a crash of the server, but not of the machine: it is synced later"
        return False, f"an acknowledged row {meaning} ({shown})"
    if settings.get("log_bin") == "ON" and settings.get("sync_binlog") != "1":
        # Recovery rolls back transactions that the binary log does not contain.
        meaning = "may be lost with the machine: the binary log is synced later"
        return False, f"an acknowledged row {meaning} ({shown})"
    return True, f"an acknowledged row is in the redo log on disk ({shown})"
