import tempfile
from contextlib import ExitStack

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from iotbench.rows.files import delimited
from iotbench.rows.files.prepare import prepare_file
from iotbench.rows.files.request import FilesRequest
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import File, FileReading
from simulator.errors import ConfigError


@pytest.fixture(autouse=True)
def _short_files_have_several_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1 << 18)


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Every test checks that no prepared folder is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


class Prepared:
    """A prepared file: its parameters, and its values by column."""

    def __init__(self, params):
        self.params = params
        self.types = {column.name: column.type.value for column in params.columns}
        self.workload = File(params, 0, 0)
        self.values = self.draw(range(params.rows))

    def draw(self, rows):
        """Draw some rows, as a list for each column."""
        data = self.workload.draw(self.workload.tables[0], np.asarray(rows))
        return {name: _listed(column) for name, column in data.items()}


def _listed(column):
    values = [v.decode() if isinstance(v, bytes) else v for v in column.values().tolist()]
    valid = [True] * len(values) if column.valid is None else column.valid.tolist()
    return [v if ok else None for v, ok in zip(values, valid, strict=True)]


@pytest.fixture
def prepare(tmp_path):
    """Prepare a text, bytes or a table as a file; it is gone when the test ends."""
    with ExitStack() as stack:

        def start(content, *, name="", time="", primary_key=PrimaryKey.NONE, **said):
            name = name or f"bars.{'parquet' if isinstance(content, pa.Table) else 'csv'}"
            files = content if isinstance(content, dict) else {name: content}
            for each, text in files.items():
                path = tmp_path / each
                path.parent.mkdir(exist_ok=True)
                if isinstance(text, pa.Table):
                    parquet.write_table(text, path)
                    continue
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
            request = FilesRequest(
                tuple(tmp_path / each for each in files),
                FileReading(time_column=time, **said),
                primary_key,
            )
            request.check()
            return Prepared(stack.enter_context(prepare_file(request, quiet=True)))

        yield start


@pytest.fixture
def refused(prepare):
    """Prepare a file that is refused; return the message."""

    def start(*content, **options):
        with pytest.raises(ConfigError) as caught:
            prepare(*content, **options)
        return "\n".join(caught.value.problems)

    return start
