"""The published results: measured on every database server, and the tables of them.

    python -m tests.published measure [--only TARGET] [--hours 2] [--address TARGET=URL ...]
    python -m tests.published left
    python -m tests.published publish
    python -m tests.published table

`measure` carries out results/plan.yaml on one target after the other, in both sets of settings
where a vendor advises others (dbinstall/settings.yaml): its server is started, measured and
stopped. It ends in time; the same command goes on where it stopped, also after an interruption.
`--only` measures one target, again if it is done. `left` shows what is done and what is not; what
was published by this plan and version from equal hardware, with a search that has ended, is done.
Once nothing is left, or by `publish`, rows that were measured replace their own in
results/published/, as the command `publish` writes it, and the tables of README.md and
results/README.md and the picture are made of all. `table` only prints that of all figures. With
`--address`, or `--addresses FILE`, the targets named there are measured on servers that run
elsewhere, in databases of their own, which are dropped at the end; the words are those of the
contract suite.
"""

from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAN = ROOT / "results" / "plan.yaml"
MEASURED = ROOT / "results" / "measured"
"""A folder for each target; not tracked."""
BUNDLE = ROOT / "results" / "published"
ARCHIVE = BUNDLE / "results.zip"
README = ROOT / "README.md"
"""It has the short table."""
TABLE = ROOT / "results" / "README.md"
"""It has all figures."""
PICTURE = ROOT / "results" / "published.svg"
LEFT_OUT = {
    "graphite": "it stores whole seconds, and the rows have milliseconds",
    "cassandra_async": "120 batches of 1,000 rows in flight exhaust the heap as installed",
    "opentsdb_advised": "with acknowledged requests of 50 points, 1, 2 and 4 workers reached 791,"
    " 1,510 and 3,035 rows/s, so each data set of the queries takes more than ten minutes",
}
"""Target -> why the plan is not for it."""
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
