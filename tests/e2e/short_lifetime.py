"""The command line with runs that live for 12 s without it instead of half an hour."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from cli.cluster import lifetime, release
from cli.main import main

UNATTENDED_S = 12

if __name__ == "__main__":
    lifetime.UNATTENDED_S = release.UNATTENDED_S = UNATTENDED_S
    main()
