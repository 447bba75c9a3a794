"""The meaning of an acknowledgement on MySQL and MariaDB, from their settings."""

_NOT_KEPT = {
    "MEMORY": "is in the server's memory, and lost when it ends",
    "BLACKHOLE": "is not stored",
}


def durability(settings: dict[str, str], *, transactional: bool) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and why, in a sentence."""
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
