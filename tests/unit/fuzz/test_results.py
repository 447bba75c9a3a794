"""Any result file, and any manifest in it: printed, used, or refused in a line."""

import json
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import ROOT
from tests.fuzzing import fuzzed

SOUND = {path.stem: path.read_bytes() for path in (ROOT / "tests/files/results").glob("*.json")}
NAME = "20260101T000000000Z-insert-lite-abcd.json"
CONFIG = "targets: {lite: {module: sqlite, runner: local, path: x.db}}\n"
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.text(max_size=8),
    st.integers(-(2**70), 2**70) | st.sampled_from([10**400, -1, 0, 2**62, 2**63]),
    st.sampled_from(["\x1b[2J", "insert", "query", "verify", "iot", "file", "x" * 3000, "\ud800"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(content, path=()):
    """Every place in a JSON document."""
    yield path
    items = content.items() if isinstance(content, dict) else ()
    items = enumerate(content[:3]) if isinstance(content, list) else items
    for key, value in items:
        yield from places(value, (*path, key))


PLACES = {
    name: [path for path in places(json.loads(content)) if path] for name, content in SOUND.items()
}
MANIFEST = [path for path in PLACES["insert"] if path[0] in ("manifest", "dataset")]


def changed(name, path, value, *, remove=False):
    content = json.loads(SOUND[name])
    parent = content
    for key in path[:-1]:
        parent = parent[key]
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return json.dumps(content).encode()


@pytest.fixture(scope="module")
def check(run, folder):
    (folder / "c.yaml").write_text(CONFIG)
    (folder / "results").mkdir()
    file = folder / "results" / NAME
    numbers = count()

    def check(content: bytes) -> None:
        file.write_bytes(content)
        number = next(numbers)
        form = ("table", "json", "csv")[number % 3]
        run("show", f"results/{NAME}", f"--format={form}")
        target = ("--target=lite", "-c", "c.yaml", "--dry-run")
        others = (
            ("query", *target, f"--dataset=results/{NAME}"),
            ("verify", *target),
            ("insert", *target, "--no-clean", "--workers=1"),
            ("cleanup", "--tables"),
        )
        run(*others[number % 4])

    return check


@fuzzed(3)
@given(data=st.data(), name=st.sampled_from(sorted(SOUND)), value=VALUES, remove=st.booleans())
def test_a_result_with_another_value(check, data, name, value, remove):
    path = data.draw(st.sampled_from(PLACES[name]))

    check(changed(name, path, value, remove=remove))


@fuzzed()
@given(path=st.sampled_from(MANIFEST), value=VALUES)
def test_a_manifest_with_another_value(check, path, value):
    check(changed("insert", path, value))


@fuzzed(3)
@given(
    name=st.sampled_from(sorted(SOUND)),
    start=st.floats(0, 1),
    length=st.integers(0, 30),
    patch=st.binary(max_size=8),
)
def test_no_damaged_result_causes_a_traceback(check, name, start, length, patch):
    sound = SOUND[name]
    at = int(start * len(sound))

    check(sound[:at] + patch + sound[at + length :])


@fuzzed(3)
@given(content=st.binary(max_size=100))
@example(content=b"[" * 100_000)
@example(content=b'{"format_version": ' + b"9" * 100_000)
@example(content=b"NaN")
def test_no_bytes_cause_a_traceback(check, content):
    check(content)
