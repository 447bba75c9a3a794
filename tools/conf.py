"""The documentation as a site, by Sphinx: `make docs-site` writes the pages of docs/ to site/.

The pages stay Markdown as a forge shows it: this file adds the table of contents. SOURCE is the
address of the source's files, as for the package; without it, links out of docs/ become text.
"""

import os
import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

from hatch_build import rewrite

project = "iotbench"
extensions = ["myst_parser"]
root_doc = "README"
html_title = "iotbench"
html_theme = "furo"
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_sphinx = False
smartquotes = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # CQL is highlighted as SQL

_SECTIONS = {
    "First steps": ["tutorial"],
    "Measure": [
        "workloads", "queries", "own-queries", "data-files", "changes", "aggregates", "faults",
        "plans", "benchmarks",
    ],
    "Results": ["results", "method", "statistics", "performance"],
    "Reference": ["databases/README", "options", "cluster", "security"],
}  # fmt: skip
_OUT = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)\s]*)\)")


def _make_tree(caption: str, pages: list[str]) -> str:
    head = f"\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n"
    return head + "\n".join(pages) + "\n```\n"


def _prepare(_: object, page: str, source: list[str]) -> None:
    """Add the table of contents to the two indices, and lead links out of docs/ to the source."""
    folder = posixpath.dirname(f"docs/{page}")

    def lead(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        if path.startswith("docs/"):
            return found[0]
        return rewrite(f"[{found[1]}]({path})", os.environ.get("SOURCE", "").rstrip("/"))

    source[0] = _OUT.sub(lead, source[0])
    if page == root_doc:
        source[0] += "".join(_make_tree(*each) for each in _SECTIONS.items())
    if page == "databases/README":
        source[0] += _make_tree("Modules", ["[a-z]*"])


def _index(app: Any, _: object) -> None:
    """Give each folder the page that a server shows for it."""
    for page in Path(app.outdir).rglob("README.html"):
        shutil.copyfile(page, page.with_name("index.html"))


def setup(app: Any) -> None:
    """Connect the functions above with Sphinx."""
    app.connect("source-read", _prepare)
    app.connect("build-finished", _index)
