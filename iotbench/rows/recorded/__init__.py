"""Files of generated rows in the formats that databases read, each with a manifest.

`generate` writes them; `insert --data FILE --format F` cuts them into batches of whole records.
"""
