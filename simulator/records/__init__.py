"""Files of records: their formats, and the beginning and end of each record in a file."""
