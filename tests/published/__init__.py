"""The published results: measurements of every database server, and their tables.

    python -m tests.published measure [--plan questions] [--only TARGET] [--hours 2]
    python -m tests.published measure --document iot [--hours 2]
    python -m tests.published left [--plan questions]
    python -m tests.published publish
    python -m tests.published table

`measure` runs results/plan.yaml on one target after the other. It starts, measures and stops the
server of each target, with both sets of settings if the vendor advises others than the installed
ones (dbinstall/settings.yaml). It stops after `--hours`, and the same command continues, also after
an interruption. `--only` measures a single target, again if it is done. A target is also done if
this plan and version published it from equal hardware, and its search has ended. `left` shows what
is done and what is left.

Once nothing is left, and with `publish`, new rows replace earlier rows of the same targets in
results/published/ by the command `publish`. The tables of README.md and results/README.md and the
picture are then written from all rows. `table` only prints the table of all figures.

`--plan questions` does the same with results/questions.yaml: what the pages of the site about
cardinality, growth, freshness, faults and drivers show. Its results are published beside the rows,
which stay as they are. Only settings as installed are measured, and `restart_with` starts a killed
server again.

`--document iot` runs `reproduce iot` at demo size instead, on the databases of this document that
the tests run, with their servers side by side. The site has a page for each document.

With `--address TARGET=URL` or `--addresses FILE`, targets are measured on servers that run
elsewhere, in new databases that are dropped at the end. The words are the same as for the contract
suite.
"""

from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS, QUESTIONS = "published", "questions"
"""Names of the plans of the tables and of the site's questions."""
PLANS = {
    ROWS: ROOT / "results" / "plan.yaml",
    QUESTIONS: ROOT / "results" / "questions.yaml",
}
DOCUMENTS = {
    "iot": ("postgresql", "timescaledb", "influxdb", "cassandra_sync", "elasticsearch"),
    "devops": ("influxdb1", "timescaledb", "elasticsearch", "cassandra_sync", "mongodb"),
    "ingress": ("influxdb1", "timescaledb", "clickhouse_embedded"),
    "nosql": ("mysql_myisam", "mysql_innodb", "postgresql", "mongodb", "influxdb", "sqlite"),
    "cratedb": ("postgresql", "elasticsearch"),
}
"""Reference document -> the targets that `reproduce` measures: those of its databases that the
tests run, without OpenTSDB, which takes four minutes for an insert of document 2. They do not run
the database of document 5, and too old a server of ClickHouse: other databases show the settings.
"""
MEASURED = ROOT / "results" / "measured"
"""A folder for each target; not tracked."""
BUNDLE = ROOT / "results" / "published"
ARCHIVE = BUNDLE / "results.zip"
README = ROOT / "README.md"
"""File with the short table."""
TABLE = ROOT / "results" / "README.md"
"""File with the table of all figures."""
PICTURE = ROOT / "results" / "published.svg"
LEFT_OUT = {
    "graphite": "it stores whole seconds, and the rows have milliseconds",
    "cassandra_async": "120 batches of 1,000 rows in flight exhaust the heap as installed",
    "opentsdb_advised": "with acknowledged requests of 50 points, 1, 2 and 4 workers reached 791,"
    " 1,510 and 3,035 rows/s, so each data set of the queries takes more than ten minutes",
}
"""Target -> reason why the plan does not measure it."""
NOTES = {
    "clickhouse_embedded": (
        date(2026, 11, 28),
        (
            "single rows and batches of 1,000 were inserted at one of two speeds: each INSERT"
            " creates files, which takes longer on this machine (ext4 without a journal) for some"
            " minutes after many files were deleted, such as the files of the run before"
        ),
    ),
    "iotdb": (
        date(2026, 11, 27),
        (
            "one insert had the verdict mismatch and was measured again: the server had restored"
            " rows of a table that was dropped before"
        ),
    ),
}
"""Target -> the day on which its row was finished, and a note for the reader of that row."""
BEGIN, END = "<!-- published -->\n", "<!-- end of published -->\n"
