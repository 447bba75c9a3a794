"""A page -> HTML in one file, which replaces an earlier one at once."""

import os
import tempfile
from pathlib import Path

from cli.page.content import Page
from simulator.errors import ConfigError

_MARK = "iotbench-report"
"""Stands at the beginning of every page: a file without it is not replaced."""
_LOOKED_AT = 400
SYMBOLS = {
    "verified": "✓",
    "mismatch": "✗",
    "failed": "✗",
    "incomplete": "!",
    "interrupted": "!",
    "running": "!",
    "unknown": "?",
    "not checked": "-",
    "not verified": "-",
}
"""Status of a verdict -> what stands before it."""


def rendered(page: Page) -> str:
    """Return a page as HTML."""
    import jinja2  # noqa: PLC0415 - only a page needs it

    folder = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["status"] = _status
    style = (folder / "page.css").read_text(encoding="utf-8")
    template = environment.get_template("page.html")
    return template.render(page=page, style=style, mark=_MARK, symbols=SYMBOLS)


def _status(verdict: str) -> str:
    """Return the first known status in a verdict: `verified` of `verified, tuned`."""
    return next((word for word in SYMBOLS if verdict.startswith(word)), "unknown")


def expect_replaceable(path: Path) -> None:
    """Raise ConfigError if a page cannot be written to a file, before anything is computed."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; name a file, such as {path / 'report.html'}")
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: is a pipe or device, expected a regular file")
    try:
        if path.exists() and _MARK.encode() not in _beginning(path):
            raise ConfigError(
                f"{path}: exists and is not a page of this program; remove it, or use another name"
            )
        with tempfile.TemporaryFile(dir=path.parent):
            return
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LOOKED_AT)


def write(path: Path, text: str) -> None:
    """Write a page so that its file is always whole; ConfigError if that is not possible."""
    name = ""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException as error:  # also Ctrl-C: no half file remains
        if name:
            Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
        raise
