"""`--data FILE`: the rows of an insert come from a user's CSV or Parquet file.

The file is read once before a sweep, into a folder of typed arrays (see the workload `file`).
Workers and verification draw rows from the arrays as from any workload. pyarrow reads the file, and
is imported only if a file is given.
"""
