"""What collector and workers read from files: the run's specification, and its secrets."""

import json

import pytest

from simulator import __version__
from simulator.data.ranges import lane_range
from simulator.errors import ConfigError
from simulator.protocol.run_input import read_secrets, read_spec
from simulator.protocol.spec import InsertTask
from tests.pods import mount
from tests.unit.specs import run_spec

SECRETS = {"password": "p w=\n ", "key": "", "ümlaut": "ß"}


def spec():
    return run_spec(
        options={"encode": "csv"},
        workers=(InsertTask(timed=(lane_range(0, 0, 10),)),),
    )


# --- secrets ------------------------------------------------------------------------------------


def test_a_target_without_credentials_has_only_the_token(tmp_path):
    mount(tmp_path, "")

    assert read_secrets(tmp_path / "secrets") == ("token", {})


@pytest.fixture
def projected(tmp_path):
    """A projected volume as the kubelet makes it: links into a folder that is swapped whole.

    https://pkg.go.dev/k8s.io/kubernetes/pkg/volume/util#AtomicWriter
    """
    volume = tmp_path / "volume"
    content = volume / "..2026_11_21_09_31_35.1234567890"
    (content / "options").mkdir(parents=True)
    (content / "token").write_text("token")
    (content / "options" / "password").write_text("p")
    (content / "options" / "key").write_text("k\n")
    (volume / "..data").symlink_to(content.name)
    (volume / "token").symlink_to("..data/token")
    (volume / "options").symlink_to("..data/options")
    return volume


def test_secrets_are_read_from_a_pods_volume(projected):
    assert read_secrets(projected) == ("token", {"password": "p", "key": "k"})


def test_a_volume_without_credentials_has_no_folder_of_them(projected):
    (projected / "options").unlink()

    assert read_secrets(projected) == ("token", {})


def test_of_a_secret_that_is_mounted_whole_only_the_keys_are_read(projected):
    inner = projected / "options-of-a-secret"
    content = inner / "..2026"
    content.mkdir(parents=True)
    (content / "password").write_text("p")
    (inner / "..data").symlink_to(content.name)
    (inner / "password").symlink_to("..data/password")
    (projected / "options").unlink()
    (projected / "options").symlink_to(inner.name)

    assert read_secrets(projected) == ("token", {"password": "p"})


def test_the_error_for_missing_secrets_names_their_place(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read the run's secrets: .*nowhere/token"):
        read_secrets(tmp_path / "nowhere")


def test_the_error_for_a_secret_that_is_not_text_omits_its_content(projected):
    (projected / "options" / "password").write_bytes(b"\xff\xfehidden")

    with pytest.raises(ConfigError, match="cannot read the run's secrets") as error:
        read_secrets(projected)

    assert "hidden" not in str(error.value)


# --- the specification --------------------------------------------------------------------------


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_the_error_for_a_specification_of_another_version_names_both(tmp_path):
    content = json.loads(spec().model_dump_json())
    content["version"] = "0.0.9"
    content["new"] = "a key that this version does not know"
    path = written(tmp_path / "spec.json", json.dumps(content))

    with pytest.raises(ConfigError) as error:
        read_spec(path)

    assert str(error.value).startswith(
        f"the command line is version 0.0.9 and the image is version {__version__}; use the image"
    )
    assert "make image" in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        b"\xff\xfe",
        f'{{"version": "{__version__}"}}',
        f'{{"version": "{__version__}", "unknown": 1}}',
    ],
)
def test_garbage_is_no_specification(tmp_path, content):
    with pytest.raises(ConfigError, match="cannot read the run's specification"):
        read_spec(written(tmp_path / "spec.json", content))
