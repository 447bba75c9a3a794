"""Images for the test cluster, built by its script and kept as archives."""

import contextlib
import functools
import hashlib
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.integration.conftest import ROOT
from tests.servers import packages

SCRIPT = ROOT / "tests" / "cluster" / "cluster.sh"
_FOLDERS = ROOT / "tests" / "cluster" / "images"
_UNUSED_S = 3600
_DOCKERFILE = ROOT / "simulator" / "Dockerfile"
_CONTEXT = [
    ROOT / line.removeprefix("!")
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line.startswith("!")
]


def script(*words: str) -> str:
    """Run cluster.sh; return what it prints."""
    done = subprocess.run(
        [str(SCRIPT), *words], stdout=subprocess.PIPE, text=True, check=False, timeout=1800
    )
    if done.returncode:
        pytest.fail(f"cluster.sh {' '.join(words)} failed: see above")
    return done.stdout.strip()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Keep other processes from building images: checkouts share the archives."""
    with packages.locked(packages.cache() / "images"):
        yield


@_alone()
def base_image(*names: str) -> Path:
    """Return the archive of an image with Debian packages, named after the first."""
    return Path(script("image", names[0], *names))


def image_folder(name: str) -> Path:
    """Return the folder of a database's Dockerfile."""
    return _FOLDERS / name


def app_image() -> Path:
    """Return the archive of the image of the program, built from the checkout."""
    tag = f"docker.io/library/iot-database-benchmark:{version()}"
    with _alone():
        base = Path(script("python"))
    arguments = (f"--file={_DOCKERFILE}", f"--build-arg=VERSION={version()}", helm_option())
    return built(tag, ROOT, base, *arguments, parts=_CONTEXT)


@_alone()
def helm_option() -> str:
    """Return the option with which a Dockerfile copies the cluster's helm from an image."""
    program = Path(script("helm"))
    archive = program.parent / "helm.tar"
    if not archive.exists():
        options = f"--file={image_folder('helm') / 'Dockerfile'}"
        script("bud", "localhost/helm:e2e", str(program.parent), str(archive), options)
    return f"--build-arg=HELM=docker-archive:{archive}"


@functools.cache
def version() -> str:
    """Return the version of the checkout."""
    text = (ROOT / "simulator" / "__init__.py").read_text()
    found = re.search(r'__version__ = "(.+)"', text)
    assert found
    return found[1]


@_alone()
def built(
    tag: str,
    folder: Path,
    base: Path,
    *options: str,
    version: str = "",
    parts: Sequence[Path] | None = None,
) -> Path:
    """Build a folder's Dockerfile on a base; return the archive.

    An earlier archive of the same files, base and version is returned as it is. Others are removed,
    unless another checkout may be loading them.
    `parts` are the files and folders that the image is built from, if not the whole folder.
    """
    digest = hashlib.sha256(f"{base}\0{version}\0".encode())
    found = [path for part in parts or [folder] for path in (part, *part.rglob("*"))]
    for path in sorted(found):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    name = "e2e-" + re.sub(r"\W", "-", tag.rpartition("/")[2].partition(":")[0])
    archive = base.parent / f"{name}-{digest.hexdigest()[:12]}.tar"
    if archive.exists():
        archive.touch()
    else:
        for old in base.parent.glob(f"{name}-*.tar"):
            if time.time() - old.stat().st_mtime > _UNUSED_S:
                old.unlink()
        print(f"e2e: building {tag}", flush=True)
        base_option = f"--build-arg=BASE=docker-archive:{base}"
        script("bud", tag, str(folder), str(archive), base_option, *options)
    return archive
