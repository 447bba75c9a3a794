"""The commands `show`, `targets` and `calibrate`."""

import base64
import json
import zlib

import pytest
from click.testing import CliRunner
from hdrh.histogram import HdrHistogram

from iotbench.commands.main import commands
from iotbench.config.options.basic import FORMATS
from iotbench.output.terminal.notes import days_until_full
from iotbench.results import result_files
from simulator.errors import ConfigError
from simulator.modules import database_class
from tests.unit.output.terminal import made

OTHER_BOUNDS = HdrHistogram(1, 10**6, 2).encode().decode()
BOMB = base64.b64encode(bytes(8) + zlib.compress(bytes(10**8))).decode()


def stored(folder, latency):
    result = made.result([made.run(made.outcome(made.worker(0, latency=latency)))])
    path = folder / "r.json"
    result_files.write(path, result)
    return path


def show(path, form, *others):
    arguments = ["show", str(path), f"--format={form}", *others]
    return CliRunner().invoke(commands, arguments, catch_exceptions=False, standalone_mode=False)


def test_a_picture_stands_below_the_table_on_request(tmp_path):
    path = stored(tmp_path, made.SENDS)

    assert "1 worker ███" in show(path, "table", "--plot").stdout
    assert "█" not in show(path, "table").stdout
    with pytest.raises(ConfigError, match="--plot: adds to the table; use --format table"):
        show(path, "csv", "--plot")


def test_days_until_a_disk_is_full_stand_below_the_table(tmp_path):
    path = stored(tmp_path, made.SENDS)
    lines = show(path, "table", "--disk=180GB").stdout.splitlines()

    # 180e9 / (50 rows/s * 8192 bytes / 200 rows * 86,400 s)
    assert lines[-1] == ("days until 180,000,000,000 bytes are full: 1,017 at 50 rows/s (1 worker)")
    assert lines[:-1] == show(path, "table").stdout.splitlines()
    with pytest.raises(ConfigError, match="use --format table"):
        show(path, "json", "--disk=180GB")


def test_days_are_those_of_each_rate_and_need_a_size():
    two = made.run(made.outcome(made.worker(0), made.worker(1)))
    both = made.result([made.run(), two])
    line = days_until_full(both, 10**6)
    without = made.result([made.run(size_bytes=None)])

    assert line == (
        "days until 1,000,000 bytes are full: 0.00565 at 50 rows/s (1 worker),"
        " 0.00283 at 100 rows/s (2 workers)"
    )
    for other in (without, made.result([])):
        with pytest.raises(ConfigError, match="no rows/s or no size on disk"):
            days_until_full(other, 10**6)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "latency",
    ["HISTFAAA", "nobase64x", "=", made.SENDS[:-9], made.SENDS[9:], OTHER_BOUNDS, BOMB],
    ids=["frame", "text", "padding", "cut", "begun late", "bounds", "bomb"],
)
def test_a_result_with_a_damaged_histogram_is_named_as_damaged(tmp_path, form, latency):
    path = stored(tmp_path, made.SENDS)
    path.write_text(path.read_text().replace(made.SENDS, latency))

    with pytest.raises(ConfigError) as error:
        show(path, form)
    (problem,) = error.value.problems
    assert problem.startswith(f"{path}: is damaged, so it cannot be shown: ValueError: ")
    assert "a latency histogram" in problem
    assert len(problem) < 400


def reported(*words):
    done = CliRunner().invoke(commands, ["targets", *words], catch_exceptions=False)
    return done.stdout


def test_every_target_is_listed_with_the_servers_it_was_verified_on():
    listed = json.loads(reported("--format=json"))
    shown = reported()

    assert {"sqlite", "null", "postgresql"} <= {row["target"] for row in listed}
    for row in listed:
        assert row["target"].removesuffix("_advised") in shown
        assert row["verified_on"]
        assert row["draft"] == (row["verified_on"] == "draft")


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_name_is_split_and_no_line_is_too_long_whatever_the_width(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = reported().splitlines()
    lines = lines[: lines.index("", 1)]
    names = {row["target"] for row in json.loads(reported("--format=json"))}
    shown = {word.rstrip(",*") for line in lines for word in line.split()}
    marked = {word.rstrip(",*") + "_advised" for line in lines for word in line.split()
              if word.rstrip(",").endswith("*")}  # fmt: skip

    assert max(map(len, lines)) <= width
    assert names <= shown | marked
    assert marked <= names
    assert len(lines) < len(names)


def test_one_target_is_reported_with_its_modes_keys_and_options():
    text = " ".join(reported("postgresql").split())
    can = database_class("postgres").capabilities

    for word in (*can.modes, *can.modes.values(), *can.primary_keys, "connect_timeout_s"):
        assert str(word) in text
    assert "busy_timeout_s" not in text


def test_a_target_without_a_module_is_listed_as_broken(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("targets: {a: {module: sqlit}, b: {module: sqlite, runner: local, path: x}}")
    shown = " ".join(reported("--config", str(file)).split())

    assert " a broken cluster - " in shown
    assert "targets.a.module: unknown module (did you mean 'sqlite'?)" in shown
    rows = {row["target"]: row for row in json.loads(reported("--format=json", f"--config={file}"))}
    assert rows["b"]["module"] == "sqlite"
    assert rows["a"]["broken"].endswith("unknown module (did you mean 'sqlite'?)")
    with pytest.raises(ConfigError, match="unknown module"):
        reported("a", "--config", str(file))


@pytest.mark.parametrize(
    ("words", "problems"),
    [
        (
            ("--sweeps=3", "--duration=100ms", "--workers=0"),
            [
                "--workers: must be at least 1, got 0",
                "--sweeps: must be at least 5, got 3",
                "--duration: must be at least 0.5, got 0.1",
            ],
        ),
        (("--sweeps=101",), ["--sweeps: must be at most 100, got 101"]),
    ],
)
def test_what_measures_too_little_is_refused_at_once(words, problems):
    with pytest.raises(ConfigError) as error:
        CliRunner().invoke(
            commands, ["calibrate", "--targets=sqlite", *words], catch_exceptions=False
        )

    assert [*error.value.problems] == problems
