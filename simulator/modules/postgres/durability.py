"""The meaning of an acknowledgement on PostgreSQL, from its settings."""


def is_synchronous(settings: dict[str, str]) -> bool:
    """Return whether commits wait for standbys."""
    waits = settings.get("synchronous_commit") not in ("off", "local")
    return bool(settings.get("synchronous_standby_names")) and waits


def durability(settings: dict[str, str]) -> tuple[bool, str]:
    """Return whether an acknowledged row survives a power cut, and why, in a sentence."""
    shown = ("fsync", "synchronous_commit", "full_page_writes", "wal_sync_method")
    found = ", ".join(f"{name}={settings[name]}" for name in shown if name in settings)
    commit = settings.get("synchronous_commit")
    if settings.get("fsync") == "off":
        meaning = "survives a crash of the server, but not of the machine: nothing is synced"
        return False, f"an acknowledged row {meaning} ({found})"
    if commit == "off":
        return False, f"an acknowledged row may be lost in a crash: it is synced later ({found})"
    with_standbys = "on disk here and with the synchronous standbys"
    where = with_standbys if is_synchronous(settings) else "on disk"
    return True, f"an acknowledged row is in the write-ahead log {where} ({found})"
