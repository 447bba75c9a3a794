"""Which disks may be filled."""

import os
from pathlib import Path

import pytest

from iotbench.machine.disk import fill, unfillable


def test_what_is_no_folder_is_not_filled(tmp_path):
    (tmp_path / "file").touch()

    assert "expected a folder" in unfillable(tmp_path / "nowhere")
    assert "expected a folder" in unfillable(tmp_path / "file")


def test_the_disk_that_this_program_uses_is_not_filled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert "which this program needs itself" in unfillable(tmp_path)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")
def test_another_disk_may_be_filled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert unfillable(Path("/dev/shm")) == ""


def test_a_disk_takes_pieces_that_get_smaller_until_none_is_left(tmp_path, monkeypatch):
    left, taken = 3 * (1 << 30) + 12_345, []

    def allocate(_, at, size):
        nonlocal left
        if size > left:
            raise OSError(28, "No space left on device")
        assert at == sum(taken)
        taken.append(size)
        left -= size

    monkeypatch.setattr(os, "posix_fallocate", allocate)
    fill(tmp_path / "fill")

    assert left < 1 << 12
    assert sorted(taken, reverse=True) == taken


def test_another_error_is_raised(tmp_path, monkeypatch):
    def allocate(*_):
        raise OSError(122 + 1000, "odd")

    monkeypatch.setattr(os, "posix_fallocate", allocate)
    with pytest.raises(OSError, match="odd"):
        fill(tmp_path / "fill")
