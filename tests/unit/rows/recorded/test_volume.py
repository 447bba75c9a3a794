"""Files in volume claims, as the user names them, and what is refused where."""

from pathlib import Path

import pytest

from iotbench.rows.recorded.request import RecordsRequest, in_volume, place_problems, volume_file
from simulator.errors import ConfigError
from simulator.protocol.records import RecordFormat, RecordsFile

FILE = Path("claim:data/days/a b.lp")


def request(file, manifest=None):
    return RecordsRequest(file, RecordFormat.INFLUX, manifest and Path(manifest), skip=False)


def test_a_name_has_the_claim_and_the_path_in_it():
    found = volume_file(FILE, "--data")

    assert (found.claim, found.path) == ("data", "days/a b.lp")
    assert found.in_pods == "/records/days/a b.lp"
    assert str(found) == str(FILE)
    file = RecordsFile(path=found.in_pods, format=RecordFormat.INFLUX, volume_claim=found.claim)
    assert file.name == str(FILE)


@pytest.mark.parametrize(
    "name",
    ["claim:", "claim:data", "claim:data/", "claim:/a.lp", "claim:Data/a.lp", "claim:-a/a.lp",
     "claim:data/../a.lp", "claim:data/days/../../a.lp", f"claim:{'a' * 254}/a.lp"],
)  # fmt: skip
def test_a_name_that_cannot_be_one_is_refused(name):
    assert in_volume(Path(name))
    with pytest.raises(ConfigError, match="expected claim:NAME/PATH"):
        volume_file(Path(name), "--data")
    (problem,) = place_problems(Path(name), None, "influx", "kubernetes")
    assert problem.startswith(f"--data: {Path(name)}: expected")


def test_a_manifest_is_beside_the_file_or_where_the_user_says():
    beside, named = request(FILE), request(FILE, "claim:data/m.json")
    here = request(FILE, "m.json")

    assert str(beside.manifest_volume) == f"{FILE}.json"
    assert str(named.manifest_volume) == "claim:data/m.json"
    assert here.manifest_volume is None
    assert (beside.manifest_file, named.manifest_file) == (None, None)
    assert here.manifest_file == Path("m.json")


@pytest.mark.parametrize(
    ("file", "manifest", "form", "runner", "problems"),
    [
        (FILE, None, "influx", "kubernetes", []),
        (FILE, "m.json", "influx", "kubernetes", []),
        ("a.csv", None, None, "local", []),
        ("a.lp", "m.json", "influx", "local", []),
        (FILE, None, "influx", "local", ["use --runner kubernetes"]),
        (FILE, None, None, "kubernetes", []),
        (FILE, None, None, "local", ["use --runner kubernetes"]),
        ("a.lp", None, "influx", "kubernetes", ["copy it to a volume claim"]),
        ("-", None, "influx", "kubernetes", ["copy it to a volume claim"]),
        (
            "a.csv",
            None,
            None,
            "kubernetes",
            ["convert it with `prepare`, copy the folder to a volume"],
        ),
        (FILE, "claim:other/m.json", "influx", "kubernetes", ["pods mount one volume claim"]),
        (FILE, "claim:../m", "influx", "kubernetes", ["--manifest: claim:../m: expected"]),
        ("a.lp", "claim:data/m.json", "influx", "local", ["--data is not in a volume claim"]),
    ],
)
def test_a_file_that_a_runner_cannot_read_is_refused_with_the_remedy(
    file, manifest, form, runner, problems
):
    found = place_problems(Path(file), manifest and Path(manifest), form, runner)

    assert len(found) == len(problems)
    for text, words in zip(found, problems, strict=True):
        assert words in text
