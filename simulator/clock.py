"""Which clock a process reads: processes of one machine since its boot read the same."""

import uuid
from pathlib import Path


def boot_id() -> str:
    """Return what identifies this machine's clock since it booted."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else str(uuid.getnode())
