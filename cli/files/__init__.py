"""`--data FILE`: a user's own CSV or Parquet file as the rows of an insert.

The file is read once, before a sweep, into a folder of typed arrays (see the workload `file`)
from which workers and verification draw rows as from any workload. pyarrow reads it, and is
imported only here and only when there is a file.
"""
