"""The command line with runs that live for 12 s without it instead of half an hour."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotbench.commands.main import main
from iotbench.execution.kubernetes import lifetime, release

UNATTENDED_S = 12

if __name__ == "__main__":
    lifetime.UNATTENDED_S = release.UNATTENDED_S = UNATTENDED_S
    main()
