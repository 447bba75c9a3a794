"""A result is repeated by the command that it holds, and published for others to check."""

import subprocess

from tests.integration.conftest import CommandLine

_VARIES = ("start_ms",)


def test_a_result_is_repeated_and_published(cli: CommandLine) -> None:
    database = f"path={cli.folder / 'a.db'}"
    done = cli.run(
        "insert", "--target=sqlite", "--extra-option", database, "-w1", "-r1",
        "--num-inserts=1k", "--batch=500", "-q",
    )  # fmt: skip
    assert done.code == 0, done.err
    (first,) = cli.results()
    assert first["command"]["options"]["batch"] == ["500"]

    words = ("repeat", "last", f"--output={cli.output}", "--tag=again", "-q")
    refused = cli.refuse(*words)
    assert f"add `--extra-option {database}`" in refused  # the file may be a stranger's
    done = cli.run(*words, "--extra-option", database)
    assert done.code == 0, done.err
    assert f"compare 'last~1' last --output {cli.output}" in done.err
    assert "not as it was" not in done.err
    _, second = cli.results()
    assert second["command"] == first["command"]
    assert second["target_options"] == first["target_options"]
    begins = {"start_ms": second["dataset"]["start_ms"]}
    assert second["dataset"] == first["dataset"] | begins
    assert second["tags"] == ["again"]
    same = {key: value for key, value in first["configuration"].items() if key not in _VARIES}
    assert same == {key: second["configuration"][key] for key in same}

    done = cli.run("publish", "last", f"--output={cli.output}", "-o", "bundle")
    assert done.code == 0, done.err
    bundle = cli.folder / "bundle"
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=bundle, check=True)
    (command,) = [
        line.strip() for line in (bundle / "README.md").read_text().splitlines()
        if line.startswith("    iotbench insert ")
    ]  # fmt: skip
    assert command.split()[1:6] == ["insert", "--config", "config.yaml", "--target", "sqlite"]
    assert database not in command  # it stands in the configuration
    assert str(cli.folder / "a.db") in (bundle / "config.yaml").read_text()
