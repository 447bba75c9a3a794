"""Files for a database's own import: a worker writes its rows to them before the clock starts."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from simulator.data.block import Block, Rows
from simulator.modules.contract import IMPORT, Payload, Session


def write_files(
    session: Session, blocks: Iterable[Block], folder: Path
) -> list[tuple[Block, Payload, Rows]]:
    """Write blocks to a file for each physical table.

    Returns a block of each, the payload that names its file, and the numbers of all its rows.
    """
    files: dict[str, tuple[Block, tuple[Any, ...]]] = {}
    numbers: dict[str, list[Rows]] = defaultdict(list)
    for block in blocks:
        path = folder / str(len(files))
        if block.name in files:
            path = files[block.name][1][-1]
        with path.open("ab") as file:
            for payload in session.encode(block, IMPORT, len(block)):
                *head, content = payload.data
                file.write(content)
        files[block.name] = block, (*head, path)
        numbers[block.name].append(block.rows)
    found = []
    for name, (block, data) in files.items():
        rows = np.concatenate(numbers[name])
        payload = Payload(len(rows), IMPORT, data, session.size_of(data))
        found.append((block, payload, rows))
    return found
