"""The input of a process: from the files of a pod, or through the pipe from the command line."""

import json
import os
import threading

import pytest

from simulator import __version__
from simulator.data.ranges import lane_range
from simulator.errors import ConfigError, Interrupted
from simulator.protocol.run_input import ParentPipe, RunInput, input_from_files
from simulator.protocol.spec import InsertTask
from tests.pods import mount
from tests.unit.specs import run_spec

SECRETS = {"password": "p w=\n ", "key": "", "ümlaut": "ß"}


@pytest.fixture
def given():
    spec = run_spec(workers=(InsertTask(timed=(lane_range(0, 0, 10),)),))
    return RunInput(spec=spec, token="token", credentials=SECRETS)


@pytest.fixture
def pipe():
    """The parent's end of a pipe, and the process's."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as ours, os.fdopen(writer, "wb", buffering=0) as theirs:
        yield theirs, ParentPipe(ours)


def test_the_input_is_one_line_and_arrives_as_it_was(given, pipe):
    parent, process = pipe
    line = given.line()
    parent.write(line)

    assert line.count(b"\n") == 1
    assert process.read_input() == given


def test_a_pod_and_a_pipe_give_the_same(given, pipe, tmp_path):
    parent, process = pipe
    parent.write(given.line())
    mount(tmp_path, given.spec.model_dump_json(), SECRETS)

    found = input_from_files(tmp_path / "spec.json", tmp_path / "secrets")
    assert {name: path.read_text() for name, path in found.credential_files.items()} == SECRETS
    assert found.model_copy(update={"credential_files": {}}) == process.read_input()


@pytest.mark.parametrize("part", [0, 1, 100])
def test_a_parent_that_is_gone_before_the_end_of_the_line_ends_the_process(given, pipe, part):
    parent, process = pipe
    parent.write(given.line()[:part])
    parent.close()

    with pytest.raises(Interrupted, match="the command line is gone"):
        process.read_input()


def test_the_error_for_a_wrong_input_omits_the_credentials(given, pipe):
    parent, process = pipe
    parent.write(given.line().replace(b'"token":"token"', b'"token":["hidden"]'))

    with pytest.raises(ConfigError, match="cannot read the run's input") as error:
        process.read_input()

    assert "hidden" not in str(error.value)
    assert "p w" not in str(error.value)


def test_later_lines_are_causes_and_the_end_is_noticed(given, pipe):
    parent, process = pipe
    causes, gone = [], threading.Event()
    parent.write(given.line() + b"worker 1 was killed\n")
    process.read_input()
    process.listen(causes.append, gone.set)
    parent.write(b"and more\n")
    parent.close()

    assert gone.wait(5)
    assert causes == ["worker 1 was killed", "and more"]


@pytest.fixture
def volume(tmp_path, given):
    """The secrets of a pod as the kubelet mounts them, beside its specification."""
    mount(tmp_path, given.spec.model_dump_json(), {"password": "p", "key": "k\n"})
    return tmp_path / "secrets"


def credentials_in(volume):
    found = input_from_files(volume.parent / "spec.json", volume)
    assert found.token == "token"
    return found.credentials


def test_secrets_are_read_from_a_pods_volume(volume):
    assert credentials_in(volume) == {"password": "p", "key": "k"}
    (volume / "options").unlink()
    assert credentials_in(volume) == {}


def test_of_a_secret_that_is_mounted_whole_only_the_keys_are_read(volume):
    inner = volume / "options-of-a-secret"
    content = inner / "..2026"
    content.mkdir(parents=True)
    (content / "password").write_text("p")
    (inner / "..data").symlink_to(content.name)
    (inner / "password").symlink_to("..data/password")
    (volume / "options").unlink()
    (volume / "options").symlink_to(inner.name)

    assert credentials_in(volume) == {"password": "p"}


def test_the_error_for_missing_secrets_names_their_place(volume):
    with pytest.raises(ConfigError, match=r"cannot read the run's secrets: .*nowhere/token"):
        input_from_files(volume.parent / "spec.json", volume / "nowhere")


def test_the_error_for_a_secret_that_is_not_text_omits_its_content(volume):
    secret = volume / "options" / "password"
    secret.unlink()
    secret.write_bytes(b"\xff\xfehidden")

    with pytest.raises(ConfigError, match="cannot read the run's secrets") as error:
        credentials_in(volume)

    assert "hidden" not in str(error.value)


def test_the_error_for_a_specification_of_another_version_names_both(volume, given):
    content = json.loads(given.spec.model_dump_json())
    content |= {"version": "0.0.9", "new": "a key that this version does not know"}
    (volume.parent / "spec.json").write_text(json.dumps(content))

    with pytest.raises(ConfigError) as error:
        credentials_in(volume)

    assert str(error.value).startswith(
        f"the command line is version 0.0.9 and the image is version {__version__}; use the image"
    )
    assert "make image" in str(error.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff\xfe", f'{{"version": "{__version__}", "unknown": 1}}'.encode(), None],
)
def test_garbage_is_no_specification(volume, content):
    spec = volume.parent / "spec.json"
    spec.unlink() if content is None else spec.write_bytes(content)

    with pytest.raises(ConfigError, match="cannot read the run's specification"):
        credentials_in(volume)
