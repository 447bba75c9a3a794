"""`--data FILE`: a user's own CSV or Parquet file as the rows of an insert.

The file is read once before a sweep, into a folder of typed arrays (see the workload `file`).
Workers and verification draw rows from the arrays as from any workload. pyarrow reads the file, and
is imported only if a file is given.
"""
