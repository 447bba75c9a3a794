"""A disk that can lose its power: what a server has not synced is gone, as after a power cut.

It is an ext4 file system in a file. Its shutdown without a flush, as xfstests have it, discards
what is in memory; the next mount replays the journal. It takes root and loop devices.
"""

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import psutil

from tests.servers.base import Server

_SHUTDOWN = 0x8004587D
"""FS_IOC_SHUTDOWN, of the kernel's include/uapi/linux/fs.h."""
_WITHOUT_FLUSH = 2
_FREE_WITHIN_S = 20.0


def problem() -> str:
    """Return why there can be no such disk here; empty: there can."""
    if os.geteuid() != 0:
        return "only root mounts a file system, and shuts it down"
    missing = [name for name in ("mkfs.ext4", "mount", "umount") if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)}: not installed"
    return "" if Path("/dev/loop-control").exists() else "this kernel has no loop devices"


class Disk:
    """A context that mounts the disk; servers go into `folder`."""

    def __init__(self, size_mib: int = 4096) -> None:
        self._size_mib = size_mib

    def __enter__(self) -> Self:
        self._home = Path(tempfile.mkdtemp(prefix="bench-disk-"))
        self._image, self.folder = self._home / "image", self._home / "mounted"
        self._home.chmod(0o755)  # servers are users of their own
        self.folder.mkdir()
        with self._image.open("wb") as image:
            image.truncate(self._size_mib << 20)  # takes space as it is used
        try:
            _run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", str(self._image)])
            self._mount()
        except BaseException:
            shutil.rmtree(self._home, ignore_errors=True)
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._unmount()
        shutil.rmtree(self._home, ignore_errors=True)

    def _mount(self) -> None:
        _run(["mount", "-o", "loop", str(self._image), str(self.folder)])
        self.folder.chmod(0o755)

    def _unmount(self) -> None:
        deadline_s = time.monotonic() + _FREE_WITHIN_S
        while True:
            try:
                return _run(["umount", str(self.folder)])
            except RuntimeError:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(0.1)  # killed processes end one after the other

    def sync(self) -> None:
        """Write everything to the disk, as the system does after a while."""
        with self._opened() as number:
            os.fsync(number)
        os.sync()

    def lose_power(self) -> None:
        """Stop the disk at once; what is in memory is never written."""
        with self._opened() as number:
            fcntl.ioctl(number, _SHUTDOWN, struct.pack("I", _WITHOUT_FLUSH))

    def start(self) -> None:
        """Mount it again, once nothing uses it any more."""
        self._unmount()
        self._mount()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        number = os.open(self.folder, os.O_RDONLY)
        try:
            yield number
        finally:
            os.close(number)


def cut(disk: Disk, server: Server) -> None:
    """Take the power from a server and its disk, and start both again."""
    for process in server.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()  # nobody hears that the disk is gone
    disk.lose_power()
    server.kill()
    disk.start()
    server.start()


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
