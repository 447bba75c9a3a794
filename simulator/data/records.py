"""The formats of files with records that databases accept unchanged."""

from enum import StrEnum


class RecordFormat(StrEnum):
    """A format of files of records; a record is a row, which may be several points."""

    INFLUX = "influx"
    ES_BULK = "es-bulk"
    CSV = "csv"
    TSV = "tsv"
    PGCOPY = "pgcopy"
    PGCOPY_BINARY = "pgcopy-binary"
    SPLUNK = "splunk"
    BSON = "bson"
    OPENTSDB = "opentsdb"
    GRAPHITE = "graphite"
