"""The documentation as a site: links and anchors are checked, and nothing comes from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests import ROOT

_FETCHED = re.compile(r"""(?:\bsrc=|<link[^>]*\bhref=|url\(|@import )["']?(?:https?:)?//[^"')]*""")
SOURCE = "https://example.org/bench/blob/main"


def test_the_site_has_every_page_and_makes_no_request_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "tools", "docs"]
    environment = {**os.environ, "SOURCE": SOURCE}
    done = subprocess.run([*command, tmp_path], cwd=ROOT, env=environment, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr

    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert [page for page in pages if not (tmp_path / page).with_suffix(".html").is_file()] == []
    files = [path for path in tmp_path.rglob("*") if path.suffix in {".html", ".css"}]
    assert [found for path in files for found in _FETCHED.findall(path.read_text())] == []

    assert [*tmp_path.rglob("notebook.ipynb")]
    assert 'href="databases/README.html"' in (tmp_path / "index.html").read_text()
    page = (tmp_path / "databases/postgres.html").read_text()
    assert f'href="{SOURCE}/dbinstall/postgresql/README.md"' in page
