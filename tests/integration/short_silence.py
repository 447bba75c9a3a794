"""The command line with a silence limit of 5 s instead of 15 s, so that its tests are short."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotbench.commands.main import main
from simulator.protocol.spec import RunSpec

SILENCE_S = 5.0

if __name__ == "__main__":
    RunSpec.model_fields["silence_s"].default = SILENCE_S
    RunSpec.model_rebuild(force=True)
    main()
