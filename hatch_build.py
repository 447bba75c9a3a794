"""The package's readme and addresses: hatchling reads them here.

SOURCE is the address of the source's files, such as https://example.org/bench/blob/main. Without
it, links of README that lead into the checkout become text.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:)([^)\s]+)\)")


class Metadata(MetadataHookInterface):
    """Fills in the dynamic fields of [project]."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme, with links that work on an index page, and the addresses."""
        source = os.environ.get("SOURCE", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": rewrite(text, source)}
        metadata["urls"] = {"Source": source} if source else {}


def rewrite(text: str, source: str) -> str:
    """Return a text whose relative links lead to the source, or are none."""

    def replaced(found: re.Match[str]) -> str:
        mark, words, path = found.groups()
        if source and not path.startswith("#"):
            return f"{mark}[{words}]({source}/{path})"
        return found[0] if path.startswith("#") else words

    return _LINK.sub(replaced, text)
