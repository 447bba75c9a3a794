"""The command line with runs that live for 12 s without it, and in a queue, instead of minutes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotbench.commands.main import main
from iotbench.execution.kubernetes import diagnosis, lifetime, release

UNATTENDED_S = 12

if __name__ == "__main__":
    lifetime.UNATTENDED_S = release.UNATTENDED_S = UNATTENDED_S
    diagnosis.QUEUE_S = float(UNATTENDED_S)
    main()
