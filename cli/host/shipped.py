"""Files that come with the program: in a checkout, or in the installed package."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(name: str) -> Path:
    """Return a file or folder of the checkout's root, such as config.yaml or deployment."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name
