"""Pages as HTML in one file."""

import re
from pathlib import Path

from iotbench.machine.cleaning import plain
from iotbench.output.page.content import Page

_MARK = "iotbench-report"
OWN = re.compile(rb"(?s).{0,400}" + _MARK.encode())
"""The beginning of every page."""
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
"""Status of a verdict -> its symbol."""


def render(page: Page) -> str:
    """Return a page as HTML."""
    import jinja2  # noqa: PLC0415 - only a page needs it

    folder = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        finalize=_clean,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["status"] = _status
    style = (folder / "page.css").read_text(encoding="utf-8")
    template = environment.get_template("page.html")
    return template.render(page=page, style=style, mark=_MARK, symbols=SYMBOLS)


def _clean(value: object) -> object:
    """Return a value escaped for display, since it may come from elsewhere."""
    return plain(value) if type(value) is str else value


def _status(verdict: str) -> str:
    """Return the status at the beginning of a verdict, such as `verified` in `verified, tuned`."""
    return next((word for word in SYMBOLS if verdict.startswith(word)), "unknown")
