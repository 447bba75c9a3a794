"""The index of a folder of results: right whatever happens to it, and quick."""

import json
import shutil
import threading
import time

import pytest

from iotbench.machine import outfile
from iotbench.results import result_files
from iotbench.store import index
from iotbench.store.index import FILE, entries
from tests.unit.output.terminal import made
from tests.unit.store.made import id_of, store


@pytest.fixture
def reads(monkeypatch):
    """The names of the files that are read."""
    found = []
    read = index.entry_of
    monkeypatch.setattr(index, "entry_of", lambda name: found.append(name.path.name) or read(name))
    return found


def ids(folder):
    return [entry.id for entry in entries(folder)]


def test_a_file_is_read_once_until_it_changes(tmp_path, reads):
    paths = [store(tmp_path, number) for number in range(3)]
    assert ids(tmp_path) == [id_of(2), id_of(1), id_of(0)]
    assert len(reads) == 3

    assert len(ids(tmp_path)) == 3
    assert len(reads) == 3

    result = result_files.read(paths[1])
    result_files.write(paths[1], result.model_copy(update={"tags": ["new"]}))
    assert [entry.tags for entry in entries(tmp_path)] == [(), ("new",), ()]
    assert reads[3:] == [paths[1].name]


def test_what_is_removed_is_forgotten(tmp_path):
    paths = [store(tmp_path, number) for number in range(2)]
    ids(tmp_path)
    paths[0].unlink()

    assert ids(tmp_path) == [id_of(1)]
    assert list(json.loads((tmp_path / FILE).read_text())["files"]) == [paths[1].name]


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: "",
        lambda text: text[:-50],
        lambda text: text.replace('"version": 3', '"version": 1'),
        lambda text: text.replace('"program_version": "', '"program_version": "0.0.'),
        lambda text: text.replace('"kind": "insert"', '"kind": 7'),
    ],
    ids=["empty", "cut", "version", "program", "type"],
)
def test_an_index_that_is_broken_or_of_another_version_is_made_again(tmp_path, reads, damage):
    store(tmp_path, 0)
    before = list(entries(tmp_path))
    text = (tmp_path / FILE).read_text()
    assert damage(text) != text
    (tmp_path / FILE).write_text(damage(text))

    assert list(entries(tmp_path)) == before
    assert len(reads) == 2
    assert (tmp_path / FILE).read_text() == text


def test_a_folder_that_cannot_be_written_is_listed(tmp_path, monkeypatch):
    store(tmp_path, 0)

    def refused(*_, **_named):
        raise PermissionError

    monkeypatch.setattr(outfile, "whole", refused)
    assert ids(tmp_path) == [id_of(0)]
    assert not (tmp_path / FILE).exists()


def test_only_what_is_asked_for_is_read(tmp_path, reads):
    for number in range(5):
        store(tmp_path, number)
    found = entries(tmp_path, lambda name: name.id != id_of(4))

    assert next(found).id == id_of(3)
    found.close()
    assert len(reads) == 1
    assert len(json.loads((tmp_path / FILE).read_text())["files"]) == 1


def test_a_damaged_file_has_its_problem_for_an_entry(tmp_path):
    store(tmp_path, 0)
    path = store(tmp_path, 1)
    path.write_text(path.read_text()[:-20])
    other = store(
        tmp_path, 2, found=made.result([made.run(made.outcome(made.worker(0, latency=made.SENDS)))])
    )
    other.write_text(other.read_text().replace(made.SENDS, made.SENDS[:-9]))

    found = list(entries(tmp_path))
    assert "is damaged, so it cannot be shown: ValueError" in found[0].problem
    assert "is not a result file of format 2" in found[1].problem
    assert (found[2].problem, found[2].verdict) == ("", "verified")


def test_two_commands_may_write_the_index_at_once(tmp_path):
    for number in range(20):
        store(tmp_path, number)
    seen, stop = [], threading.Event()

    def listing():
        while not stop.is_set():
            (tmp_path / FILE).unlink(missing_ok=True)
            seen.append(ids(tmp_path))

    others = [threading.Thread(target=listing) for _ in range(3)]
    for other in others:
        other.start()
    deadline = time.monotonic() + 3
    while len(seen) < 12 and time.monotonic() < deadline:
        time.sleep(0.02)
    stop.set()
    for other in others:
        other.join()

    assert len(seen) > 3
    assert all(each == [id_of(number) for number in reversed(range(20))] for each in seen)
    assert sorted(path.name for path in tmp_path.glob(".*")) in ([], [FILE])


@pytest.mark.rare
def test_ten_thousand_results_are_listed_in_a_second(tmp_path):
    """Best of five by processor time, twice as long at most: a busy core counts for half of one."""
    one = store(tmp_path, 0)
    content = one.read_bytes()
    entry = next(entries(tmp_path))
    files = {}
    for number in range(10_000):
        day = f"2026{number // 900 + 1:02d}{number // 25 % 28 + 1:02d}"
        name = f"{day}T000000{number % 1000:03d}Z-insert-lite-{number:04x}.json"
        (tmp_path / name).write_bytes(content)
        status = (tmp_path / name).stat()
        own = entry.model_copy(update={"file": name})
        files[name] = index._Read(
            size=status.st_size, inode=status.st_ino, changed_ns=status.st_ctime_ns, entry=own
        )
    one.unlink()
    result_files.write(tmp_path / FILE, index._Index(files=files))

    spent_s = []
    for _ in range(5):
        began_s = time.process_time()
        assert len(list(entries(tmp_path))) == 10_000
        spent_s.append(time.process_time() - began_s)
    assert min(spent_s) < 2.0
    shutil.rmtree(tmp_path)


def test_an_index_of_somebody_else_leads_to_no_other_file(tmp_path):
    path = store(tmp_path, 0)
    list(entries(tmp_path))
    known = json.loads((tmp_path / FILE).read_bytes())
    known["files"][path.name]["entry"]["file"] = "/elsewhere/20260101T000000000Z-insert-x-0000.json"
    (tmp_path / FILE).write_text(json.dumps(known))

    assert [entry.file for entry in entries(tmp_path)] == [path.name]


def test_an_index_that_came_with_its_files_is_made_again(tmp_path):
    """A stranger's archive has files with the sizes and times of its index, and shows the truth."""
    (mine := tmp_path / "mine").mkdir()
    path = store(mine, 0)
    truth = list(entries(mine))
    known = json.loads((mine / FILE).read_text())
    known["files"][path.name]["entry"] |= {"what": "a lie", "verdict": "verified", "tags": ["lie"]}
    (mine / FILE).write_text(json.dumps(known))
    archive = shutil.make_archive(str(tmp_path / "archive"), "tar", mine)
    shutil.unpack_archive(archive, theirs := tmp_path / "theirs", filter="data")

    was, now = path.stat(), (theirs / path.name).stat()
    assert (was.st_size, was.st_mtime_ns // 10**9) == (now.st_size, now.st_mtime_ns // 10**9)
    assert list(entries(theirs)) == truth
    assert list(entries(theirs)) == truth
