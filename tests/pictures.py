"""The tutorial's pictures: from the pages that its commands write, in both colour schemes."""

import re
from pathlib import Path

from tests import ROOT

FOLDER = ROOT / "docs" / "pictures"
PICTURES = {
    "tutorial-rates.svg": ("insert", "Rate over workers"),
    "tutorial-waits.svg": ("query", "Wait by query type, 1 worker"),
}
"""File -> the command that wrote the page, and the title of the picture there."""


def write_pictures(results: Path, folder: Path) -> None:
    """Write the pictures of the pages in a folder of results."""
    folder.mkdir(exist_ok=True)
    css = (ROOT / "iotbench/output/page/page.css").read_text()
    light, dark, _ = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    style = f"svg {{{light} background: var(--paper); font: 10px sans-serif}}"
    style += f" @media (prefers-color-scheme: dark) {{svg {{{dark}}}}}"
    for name, (command, title) in PICTURES.items():
        page = min(results.glob(f"plan-{command}-*.html"))  # names begin with the time
        figure = re.compile(rf"<figcaption>{title}<.*?<svg(.*?>)(.*?</svg>)", re.DOTALL)
        found = figure.search(page.read_text())
        assert found, f"{page}: no picture {title!r}"
        svg = f'<svg width="620"{found[1]}<style>{" ".join(style.split())}</style>{found[2]}\n'
        (folder / name).write_text(svg)
