"""What the user says about the cluster: images, values, and files that have to be there."""

from pathlib import Path

import pytest

from iotbench.config.options.choice import ClusterOptions

DIGEST = "sha256:" + "0123456789abcdef" * 4


def image(text):
    return ClusterOptions(image=text).image_values()["image"]


# --- the image ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "tag", "digest"),
    [
        ("bench", "bench", "", ""),
        ("bench:1.2", "bench", "1.2", ""),
        ("localhost:5000/bench", "localhost:5000/bench", "", ""),
        ("registry.test:5000/a/bench:A_b-c.1", "registry.test:5000/a/bench", "A_b-c.1", ""),
        (f"bench@{DIGEST}", "bench", "", DIGEST),
        (f"localhost:5000/bench:1@{DIGEST}", "localhost:5000/bench", "", DIGEST),
    ],
)
def test_an_image_is_split_into_what_the_chart_takes(text, name, tag, digest):
    assert ClusterOptions(image=text).problems() == []
    assert image(text) == {"name": name, "tag": tag, "digest": digest}


@pytest.mark.parametrize(
    "text", ["", "@", "a b", f"bench@{DIGEST}0", "bench@md5:00", "bench:", ":1", "bench:1:2"]
)
def test_what_is_no_image_is_reported_with_the_form_it_must_have(text):
    (problem,) = ClusterOptions(image=text).problems()

    assert problem == f"--image: expected NAME[:TAG][@sha256:DIGEST], got {text!r}"


def test_without_an_image_the_charts_own_is_taken():
    assert ClusterOptions().image_values() == {}


# --- --set --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("run=", "run"),
        ("run[0]=x", "run[0]"),
        ("run.spec=a=b", "run.spec"),
        ("a=1,workers=3", "workers"),
    ],
)
def test_what_every_run_sets_itself_cannot_be_set(word, name):
    (problem,) = ClusterOptions(sets=(word,)).problems()

    assert problem == f"--set: {name} is set by the command line for every run"


@pytest.mark.parametrize("word", ["workersOwn=1", "runner=x", "a.run.id=1", "a.workers=", "a=b=c"])
def test_other_values_can_be_set(word):
    assert ClusterOptions(sets=(word,)).problems() == []


@pytest.mark.parametrize("word", ["", "a", "=b"])
def test_what_is_no_pair_is_reported(word):
    assert ClusterOptions(sets=(word,)).problems() == [f"--set: expected KEY=VALUE, got {word!r}"]


# --- files --------------------------------------------------------------------------------------


def test_missing_files_are_all_reported_at_once(tmp_path):
    there, missing = tmp_path / "there.yaml", tmp_path / "missing.yaml"
    there.touch()
    options = ClusterOptions(
        kubeconfig=tmp_path / "config", values=(there, missing, tmp_path), sets=("a",), image="@"
    )

    assert options.problems() == [
        f"--values: {missing}: the file does not exist",
        f"--values: {tmp_path}: the file does not exist",
        f"--kubeconfig: {tmp_path / 'config'}: the file does not exist",
        "--set: expected KEY=VALUE, got 'a'",
        "--image: expected NAME[:TAG][@sha256:DIGEST], got '@'",
    ]


def test_files_that_are_there_are_no_problem(tmp_path):
    file = tmp_path / "file"
    file.touch()

    assert ClusterOptions(kubeconfig=file, values=(file,)).problems() == []


def test_the_options_that_were_given_are_named_as_they_are_written():
    options = ClusterOptions(
        namespace="n", kubeconfig=Path("k"), context="c", image="i", values=(Path("v"),),
        sets=("a=b",), keep=True,
    )  # fmt: skip

    assert [*ClusterOptions().given] == []
    assert [*options.given] == [
        "--namespace",
        "--kubeconfig",
        "--context",
        "--image",
        "--values",
        "--set",
        "--keep",
    ]
