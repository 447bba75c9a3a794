"""No credential is visible outside of Secrets, during a run or after it."""

import os
import shlex
import shutil
import stat
from base64 import b64decode, b64encode
from pathlib import Path
from urllib.parse import quote

import psutil

from tests.e2e.harness import ClusterLine, Namespace, waited

_SEEN = "pods,jobs,configmaps,services,events"


def spelt(secret: str) -> set[str]:
    """Return the encodings of a secret."""
    return {secret, quote(secret), b64encode(secret.encode()).decode()}


def recording_helm(path: str, folder: Path) -> tuple[Path, Path]:
    """Create a helm that records arguments and values files; return its folder and the record."""
    real = shutil.which("helm", path=path)
    assert real
    notes = folder / "notes"
    notes.touch()
    place = folder / "bin"
    place.mkdir()
    helm = place / "helm"
    note = shlex.quote(str(notes))
    helm.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$@" >>{note}\n'
        f'for word; do case $word in --values=*) cat "${{word#--values=}}" >>{note} ;; esac; done\n'
        f'exec {shlex.quote(real)} "$@"\n'
    )
    helm.chmod(helm.stat().st_mode | stat.S_IXUSR)
    return place, notes


def seen_in_cluster(namespace: Namespace) -> dict[str, str]:
    """Return everything that can be read about a run without reading Secrets."""
    seen = {"objects": namespace.kubectl("get", _SEEN, "--output=yaml")}
    for pod in namespace.pods():
        name = pod["metadata"]["name"]
        seen[f"log of {name}"] = namespace.log(name)
    releases = namespace.kube.run("helm", "list", f"--namespace={namespace.name}", "--short")
    for release in releases.stdout.split():
        shown = namespace.kube.run("helm", "get", "all", release, f"--namespace={namespace.name}")
        seen[f"helm get all {release}"] = shown.stdout
        shown = namespace.kube.run(
            "helm", "get", "values", "--all", release, f"--namespace={namespace.name}"
        )
        seen[f"helm get values {release}"] = shown.stdout
    return seen


def words_of(pid: int) -> str:
    processes = [psutil.Process(pid)]
    processes += processes[0].children(recursive=True)
    return "\n".join(" ".join(process.cmdline()) for process in processes)


def assert_unseen(secrets: dict[str, str], seen: dict[str, str]) -> None:
    for name, secret in secrets.items():
        assert len(secret) >= 8
        for place, text in seen.items():
            for spelling in spelt(secret):
                assert spelling not in text, f"{name} is in {place}"


def test_no_secret_is_seen(cli: ClusterLine, tmp_path: Path) -> None:
    """The password is the command line's own; it never reads those in Secrets."""
    path = cli.namespace.kube.environment.get("PATH", os.environ["PATH"])
    place, notes = recording_helm(path, tmp_path)
    cli.environment = {
        "PATH": f"{place}:{path}",
        "BENCH_PASSWORD": cli.namespace.password,
    }
    cli.write_config(
        {
            "postgresql": {
                "module": "postgres",
                "connection_string": "host=postgres-rw dbname=app user=app",
                "password": "${BENCH_PASSWORD}",
            }
        }
    )
    process = cli.inserting("--num-inserts=20000")
    own = cli.namespace.json("secret", "--selector=iot-bench/run,owner!=helm")["items"]
    (secret,) = own
    content = {key: b64decode(value).decode() for key, value in secret["data"].items()}
    secrets = {"the password": cli.namespace.password, "the run's token": content["run-token"]}
    assert content["option.password"] == cli.namespace.password
    seen = seen_in_cluster(cli.namespace)
    assert {name.split()[0] for name in seen} == {"objects", "log", "helm"}
    seen["argv"] = words_of(process.pid)
    assert "run.py" in seen["argv"]
    assert_unseen(secrets, seen)
    done = cli.finish(process)
    assert done.code == 0, done.err
    words = notes.read_text()
    assert "--values=" in words
    results = "".join(path.read_text() for path in cli.output.iterdir())
    assert "postgres-rw" in results
    after = {"output": done.out, "progress": done.err, "helm's words": words, "result": results}
    assert_unseen(secrets, {**after, **seen_in_cluster(cli.namespace)})


def test_no_secret_is_seen_when_it_is_refused(cli: ClusterLine) -> None:
    """Databases repeat what they refuse, and the message reaches log and result."""
    wrong = "wr0ng-pa55word-indeed"
    dsn = f"host=postgres-rw dbname=app user=app password={wrong}"
    cli.environment = {"BENCH_DSN": dsn}
    cli.write_config({"postgresql": {"module": "postgres", "connection_string": "${BENCH_DSN}"}})
    done = cli.insert("--target=postgresql", "--workers=1", "--runs=1", "--keep")
    assert done.code == 1
    seen = seen_in_cluster(cli.namespace)
    results = "".join(path.read_text() for path in cli.output.iterdir())
    seen |= {"output": done.out, "progress": done.err, "result": results}
    assert_unseen({"the password": wrong}, seen)
    assert cli.run("cleanup", "--all").code == 0
    assert waited("nothing is left", lambda: not cli.namespace.leftovers())


def test_no_secret_is_printed_by_a_dry_run(cli: ClusterLine) -> None:
    secret = "pa55word-of-the-dry-run"
    done = cli.insert("--target=postgresql", "--dry-run", f"--extra-option=password={secret}")
    assert done.code == 0, done.err
    assert "option.password" in done.out
    assert_unseen({"the password": secret}, {"output": done.out, "progress": done.err})
