"""Temporary folders: gone after use, and found if their command line was killed."""

import os
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from iotbench.machine.owner import Owner
from iotbench.machine.scratch import find_left_folders, scratch_folder
from tests import ROOT


def abandoned_folders():
    return list(find_left_folders().abandoned)


NOBODY = 65534
KILLED = """
import os
from iotbench.machine.scratch import scratch_folder
with scratch_folder("test") as folder:
    (folder / "content").mkdir()
    (folder / "content" / "file").touch()
    print(folder, flush=True)
    os._exit(9)
"""


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """A folder of temporary files that no other test and no command line uses."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def left_by_a_killed_process():
    done = subprocess.run(
        [sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT
    )
    return Path(done.stdout.strip())


def test_a_folder_is_private_and_gone_even_after_an_error(folders):
    with suppress(KeyError), scratch_folder("values") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.parent == folders
        assert folder.name.startswith("iot-bench-values-")
        raise KeyError

    assert list(folders.iterdir()) == []


def test_the_folders_of_the_dead_are_found_beside_those_of_the_living():
    dead = {left_by_a_killed_process(), left_by_a_killed_process()}
    with scratch_folder("values") as mine:
        found = abandoned_folders()

    assert set(found) == dead
    assert mine not in found


def test_the_folder_of_an_earlier_process_with_this_number_is_found(folders):
    folder = folders / "iot-bench-values-earlier"
    folder.mkdir()
    earlier = replace(Owner.this(), created_s=1)
    (folder / ".owner").write_text(str(earlier))

    assert abandoned_folders() == [folder]


@pytest.mark.parametrize(
    ("changes", "is_abandoned"), [({"namespace": "0a1b2c"}, False), ({"boot": "0a1b2c"}, True)]
)
def test_a_folder_of_another_process_namespace_is_kept_and_one_of_before_the_boot_is_not(
    folders, changes, is_abandoned
):
    folder = folders / "iot-bench-values-elsewhere"
    folder.mkdir()
    (folder / ".owner").write_text(str(replace(Owner.this(), pid=4194305, **changes)))

    assert abandoned_folders() == [folder] * is_abandoned


@pytest.mark.parametrize(("name", "is_listed"), [("iot-bench-values-x", True), ("other-x", False)])
def test_a_folder_without_an_owner_is_listed_and_not_removed(folders, name, is_listed):
    (folders / name).mkdir()

    assert find_left_folders().abandoned == ()
    assert find_left_folders().unknown == ((folders / name,) if is_listed else ())


def with_owner(folders, name, put):
    folder = folders / f"iot-bench-{name}"
    folder.mkdir()
    put(folder / ".owner")
    return folder


BAD_OWNERS = {
    "fifo": os.mkfifo,
    "folder": Path.mkdir,
    "link": lambda path: path.symlink_to("/proc/1/stat"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "other bytes": lambda path: path.write_bytes(b"\xff\xfe.1"),
    "long number": lambda path: path.write_text("9" * 5000 + ".1"),
    "large number": lambda path: path.write_text("9" * 40 + ".1"),
    "other digits": lambda path: path.write_text("\u0661\u0662.1"),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "large": lambda path: path.write_bytes(b"1" * (1 << 20)),
    "empty": Path.touch,
    "words": lambda path: path.write_text("no number"),
    "cut": lambda path: path.write_text("12."),
    "more": lambda path: path.write_text("12.1.5"),
}


@pytest.mark.timeout(10)
def test_no_owner_blocks_or_stops_the_search(folders):
    bad = {with_owner(folders, name, put) for name, put in BAD_OWNERS.items()}
    (folders / "iot-bench-zz-link").symlink_to("/")
    (folders / "iot-bench-zz-fifo").mkdir()
    (folders / "iot-bench-log").touch()
    dead = left_by_a_killed_process()

    found = find_left_folders()

    assert found.abandoned == (dead,)
    assert set(found.unknown) == {*bad, folders / "iot-bench-zz-fifo"}


@pytest.mark.usefixtures("folders")
def test_an_owner_is_never_half_written(monkeypatch):
    seen = []
    write = Path.write_text

    def watched(path, text):
        seen.append(find_left_folders().unknown)
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", watched)
    with scratch_folder("values") as folder:
        assert seen == [(folder,)]
        assert find_left_folders().unknown == ()
        assert [path.name for path in folder.iterdir()] == [".owner"]


@pytest.fixture
def _temporary_folder_of_all(monkeypatch):
    """A folder of temporary files that every user may read."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield


@contextmanager
def no_right_to_read(folder):
    """Be another user than the folder's, or have it closed."""
    if os.getuid() == 0:
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        folder.chmod(0)
        try:
            yield
        finally:
            folder.chmod(0o700)


@pytest.mark.usefixtures("_temporary_folder_of_all")
def test_a_folder_of_another_user_is_passed_over():
    theirs = left_by_a_killed_process()
    assert abandoned_folders() == [theirs]

    with no_right_to_read(theirs):
        assert abandoned_folders() == []
