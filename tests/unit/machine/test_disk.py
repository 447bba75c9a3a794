"""Disks of this machine that may be filled, and caches that are dropped."""

import os
from pathlib import Path

import pytest

from iotbench.machine import disk
from iotbench.machine.disk import DROPPED, drop_caches, fill, unfillable


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


def test_the_kernel_drops_everything_unless_the_server_is_elsewhere(tmp_path, monkeypatch):
    switch = tmp_path / "drop_caches"
    switch.write_text("")
    monkeypatch.setattr(disk, "_DROP", switch)

    assert drop_caches("the server is on another host") == "the server is on another host"
    assert not switch.read_text()
    assert drop_caches() == DROPPED
    assert switch.read_text() == "3"


def test_a_machine_that_does_not_allow_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_DROP", tmp_path / "missing")
    assert drop_caches() == f"{tmp_path / 'missing'}: No such file or directory"
    assert not (tmp_path / "missing").exists()
