"""Parquet files that tests make."""

import io

import pyarrow as pa
from pyarrow import parquet


def written(**columns):
    """Return the bytes of a Parquet file with these columns."""
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()
