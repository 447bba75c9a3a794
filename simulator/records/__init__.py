"""Files of records: the formats, and where in a file each record begins and ends."""
