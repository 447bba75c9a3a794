"""An archive of results: read like a folder; nothing in it leads out of it or beyond a limit."""

import contextlib
import struct
import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from iotbench.commands.main import commands
from iotbench.results import packed, result_files
from iotbench.results.names import results_in
from iotbench.store.index import entries
from iotbench.store.lookup import NAMES, find_results, path_of, paths_of
from simulator.errors import ConfigError
from tests.fuzzing import fuzzed
from tests.unit.store.made import id_of, store

NAME = "20261123T025010123Z-insert-lite-0000.json"
METHODS = {"bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}


@pytest.fixture(autouse=True)
def new_cache():
    packed._load.cache_clear()


@pytest.fixture
def pair(tmp_path):
    """A folder of three results, and an archive of the same."""
    folder, archive = tmp_path / "folder", tmp_path / "results.zip"
    folder.mkdir()
    for number in range(3):
        store(folder, number)
    archive.write_bytes(packed.pack({path.name: path.read_bytes() for path in folder.iterdir()}))
    return folder, archive


def run(*words):
    return CliRunner().invoke(commands, [*map(str, words)], standalone_mode=False)


def test_an_archive_is_read_like_the_folder_that_it_was_made_of(pair):
    folder, archive = pair

    assert [each.path.name for each in results_in(archive)] == [
        each.path.name for each in results_in(folder)
    ]
    assert list(entries(archive)) == list(entries(folder))
    for path in folder.glob("2*.json"):
        assert packed.read(archive / path.name) == path.read_bytes()
        assert result_files.read(archive / path.name) == result_files.read(path)
    assert [path.name for path, _ in result_files.inserts(archive, "lite")] == [
        path.name for path, _ in result_files.inserts(folder, "lite")
    ]


def test_equal_results_make_equal_archives_in_any_order_and_at_any_time(monkeypatch):
    files = {f"{number}.json": bytes([65 + number]) * 999 for number in range(9)}
    first = packed.pack(files)
    monkeypatch.setattr("time.time", lambda: 0.0)

    assert packed.pack(dict(reversed(files.items()))) == first
    assert zipfile.ZipFile(BytesIO(first)).testzip() is None
    assert len(first) < sum(map(len, files.values())) / 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("{0}/last", [2]),
        ("{0}/last~2", [0]),
        (f"{{0}}/{id_of(1)}", [1]),
        (f"{{0}}/{NAME}", [0]),
        ("{0}", [0, 1, 2]),
    ],
)
def test_a_result_in_an_archive_is_named_as_one_in_a_folder(pair, name, expected):
    folder, archive = pair
    paths = paths_of(Path("/nowhere"), [name.format(archive)])

    assert [path.parent for path in paths] == [archive] * len(paths)
    assert [path.name[-9:-5] for path in paths] == [f"{number:04x}" for number in expected]
    assert paths_of(archive, ["last"]) == [archive / paths_of(folder, ["last"])[0].name]


def test_a_wrong_name_in_an_archive_is_one_problem(pair, tmp_path):
    _, archive = pair
    empty = tmp_path / "empty.zip"
    empty.write_bytes(packed.pack({}))
    with pytest.raises(ConfigError) as error:
        find_results(tmp_path, [f"{archive}/last~3", f"{archive}/2025", str(empty)])
    assert error.value.problems == (
        f"last~3: {archive} has 3 results",
        f"2025: no such result in {archive}: expected {NAMES}",
        f"{empty}: has no results of sweeps",
    )
    with pytest.raises(ConfigError, match=rf"has 3 results; name one of them, such as {archive}/l"):
        path_of(tmp_path, str(archive))
    with pytest.raises(ConfigError, match="File name too long"):
        find_results(tmp_path, ["a" * 300 + ".zip/last"])
    with pytest.raises(ConfigError, match=r"cannot be read: .*results\.zip has no such file"):
        result_files.read(archive / "20261123T025010123Z-insert-lite-beef.json")


def test_commands_that_read_results_read_an_archive(pair, tmp_path):
    folder, archive = pair
    for words in (["show", "last"], ["results", "list"], ["compare", "last", "last~1"],
                  ["results", "export", id_of(0)]):  # fmt: skip
        of_folder, of_archive = (run(*words, "--output", place) for place in pair)
        assert of_archive.exception is None
        assert of_archive.output == of_folder.output.replace(str(folder), str(archive))
    every = run("results", "export", archive)
    assert {line.split(",")[0] for line in every.output.splitlines()[1:]} == {
        id_of(number) for number in range(3)
    }
    for words in (["report", archive, "--page", tmp_path / "page.html"],
                  ["publish", archive, "--folder", tmp_path / "bundle"],
                  ["publish", "--check", tmp_path / "bundle"]):  # fmt: skip
        assert run(*words).exception is None
    assert (tmp_path / "bundle/results.zip").read_bytes() == archive.read_bytes()


@pytest.mark.parametrize(
    "words", [["results", "tag", "{0}/last", "a"], ["results", "rm", "{0}", "--yes", "--force"]]
)
def test_an_archive_is_never_changed(pair, words):
    _, archive = pair
    before = archive.read_bytes()
    done = run(*(word.format(archive) for word in words))

    assert str(done.exception) == f"{archive}: is an archive, which is only read; unpack it first"
    assert archive.read_bytes() == before


def written(place: Path, files: dict[str, bytes], **fields) -> Path:
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in files.items():
            about = zipfile.ZipInfo(name)
            about.compress_type = zipfile.ZIP_DEFLATED
            for field, value in fields.items():
                setattr(about, field, value)
            archive.writestr(about, content)
    return place


def declared(place: Path, size: int) -> Path:
    """Declare another size of the first file in the archive's list."""
    content = bytearray(place.read_bytes())
    struct.pack_into("<L", content, content.index(b"PK\1\2") + 24, size)
    place.write_bytes(content)
    return place


def encrypted(place: Path) -> Path:
    content = bytearray(place.read_bytes())
    content[content.index(b"PK\1\2") + 8] |= 1
    place.write_bytes(content)
    return place


@pytest.mark.parametrize(
    "name", [f"../{NAME}", f"/etc/{NAME}", f"a/{NAME}", f"..\\{NAME}", f"\x1b[2J{NAME}", "a/"]
)
def test_no_name_leads_out_of_an_archive_or_to_a_terminal(tmp_path, name):
    written(tmp_path / "results.zip", {name: b"{}"})
    done = run("show", tmp_path / "results.zip/last")

    assert "expected files without folders" in str(done.exception)
    assert str(done.exception).isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["results.zip"]


def test_a_link_in_an_archive_is_a_file_with_the_text_of_its_target(tmp_path):
    written(tmp_path / "a.zip", {NAME: b"/etc/passwd"}, external_attr=0o120777 << 16)

    assert packed.read(tmp_path / "a.zip" / NAME) == b"/etc/passwd"


def test_an_archive_that_would_unpack_beyond_a_limit_is_refused_before_it_is_unpacked(tmp_path):
    large, many = b" " * 1000, {f"{number}.json": b" " for number in range(5)}
    one = declared(written(tmp_path / "one.zip", {NAME: large}), packed.MAX_FILE_BYTES + 1)
    together = written(tmp_path / "together.zip", many)
    content = bytearray(together.read_bytes())
    at = -1
    while (at := content.find(b"PK\1\2", at + 1)) >= 0:
        struct.pack_into("<L", content, at + 24, packed.MAX_FILE_BYTES)
    together.write_bytes(content)

    for place, expected in ((one, "is larger than 268 MB"), (together, "have 1.34 GB, more than")):
        with pytest.raises(ConfigError, match=expected):
            packed.find_files(place, "*")


def test_a_file_is_never_unpacked_beyond_its_declared_size(tmp_path):
    place = declared(written(tmp_path / "a.zip", {NAME: b" " * (64 << 20)}), 1000)
    packed.find_files(place, "*")
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="is damaged"):
            packed.read(place / NAME)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_the_list_of_files_is_bounded_before_it_is_read(tmp_path):
    place = written(tmp_path / "a.zip", {NAME: b"{}"})
    sound = place.read_bytes()
    end = bytearray(sound)
    struct.pack_into("<L", end, len(end) - 10, 9 << 20)
    locator = b"PK\6\7" + bytes(16)
    for content in (bytes(end), sound[:-22] + locator + sound[-22:]):
        place.write_bytes(content)
        packed._load.cache_clear()
        with pytest.raises(ConfigError, match=r"its list of files is larger than 8\.39 MB"):
            packed.find_files(place, "*")


@pytest.mark.parametrize("method", METHODS)
def test_only_deflate_is_unpacked(tmp_path, method):
    written(tmp_path / "a.zip", {NAME: b"{}"}, compress_type=METHODS[method])

    with pytest.raises(ConfigError, match=r"is compressed by method \d+; expected deflate"):
        packed.read(tmp_path / "a.zip" / NAME)


def test_what_is_no_archive_of_results_is_refused(tmp_path):
    place = tmp_path / "a.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr(NAME, "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(NAME, "2")
    with pytest.raises(ConfigError, match="twice"):
        packed.read(place / NAME)
    with pytest.raises(ConfigError, match="is encrypted"):
        packed.read(encrypted(written(tmp_path / "b.zip", {NAME: b"{}"})) / NAME)
    for number, content in enumerate((b"", b"PK", b"{}" * 50, packed.pack({NAME: b"1"})[:-1])):
        (place := tmp_path / f"{number}.zip").write_bytes(content)
        with pytest.raises(ConfigError, match="expected a ZIP file without a comment"):
            packed.read(place / NAME)


@fuzzed(2)
@given(data=st.data())
def test_no_damaged_archive_causes_a_traceback(tmp_path_factory, data):
    sound = packed.pack({NAME: b'{"a": 1}' * 20, "plan-a-0000.json": b"{}"})
    at = data.draw(st.integers(0, len(sound)))
    patch = data.draw(st.binary(max_size=8))
    length = data.draw(st.integers(0, 12))
    place = tmp_path_factory.getbasetemp() / "damaged.zip"
    place.write_bytes(sound[:at] + patch + sound[at + length :])
    packed._load.cache_clear()
    with contextlib.suppress(ConfigError):
        for path in packed.find_files(place, "*"):
            assert len(packed.read(path)) <= packed.MAX_FILE_BYTES
