"""Input that `insert` refuses: each problem is a line, nothing starts, nothing is left."""

import shlex

import pytest

from tests.integration.conftest import CommandLine

KILL = "--fault=kill-database --duration=9s"
ELSEWHERE = "'--extra-option=connection_string=host=192.0.2.1 dbname=x'"
MANY = "--target=sqlite --workers=1"
POSTGRES = "--target=postgresql --runner=local"
REFUSED = {
    "unknown target": ("--target=sqlit", ["did you mean 'sqlite'?"]),
    "unknown option": (
        "--target=sqlite --extra-option=pth=x",
        ["--extra-option pth: module sqlite has no such option (did you mean 'path'?)"],
    ),
    "a wrong value": ("--target=sqlite --extra-option=synchronous=maybe", ["'normal'"]),
    "no equals sign": ("--target=sqlite --extra-option=path", ["KEY=VALUE"]),
    "worker counts": ("--target=sqlite --workers=2,-1", ["--workers: must be at least 1"]),
    "no worker counts": ("--target=sqlite --workers=many", ["--workers: ", "whole numbers"]),
    "no number": (
        "--target=sqlite --num-inserts=many --timeout=soon --start-time=today",
        ["--num-inserts: expected a whole", "--timeout: expected a dur", "--start-time: expected"],
    ),
    "several problems at once": (
        "--target=sqlite --workers=0 --batch=-1 --primary-key=sql --devices=0",
        ["--workers: must", "--batch: must", "--primary-key: sqlite has no sql", "--devices: must"],
    ),
    "a file on a cluster": ("--target=sqlite --runner=kubernetes", ["use --runner local"]),
    "options of the other runner": (
        "--target=sqlite --keep --set=a=b",
        ["--set, --keep: only for the kubernetes runner"],
    ),
    "a file for pods": (
        "--target=postgresql --data=config.yaml",
        ["--data: pods cannot read a file of this machine"],
    ),
    "a file of records for pods": (
        "--target=influxdb --data=config.yaml --data-format=influx",
        ["--data: pods cannot read a file of this machine; copy it to a volume claim"],
    ),
    "a file in a volume claim without a cluster": (
        "--target=null --runner=local --data=claim:Data/a --data-format=influx",
        ["only pods mount volume claims", "--data: claim:Data/a: expected claim:NAME/PATH"],
    ),
    "an import for pods": ("--target=postgresql --import", ["--import: writes files, for which"]),
    "wrong words for the chart": (
        "--target=postgresql --set=x --set=run.id=1 --values=no.yaml '--image=a b'",
        ["--set: expected KEY=VALUE", "--set: run.id", "--values: no.yaml", "--image: expected"],
    ),
    "more workers than this machine can run": (
        "--target=sqlite --workers=1,100000",
        ["--workers: must be at most 10,000", "--workers: 100,000 workers are too many for the"],
    ),
    "an unset variable": (
        "--target=postgresql --runner=local --extra-option=password=${NO_SUCH}",
        ["NO_SUCH"],
    ),
    "an end without the start that it continues": (
        "--target=sqlite --workload=devops --no-clean --end=2026-11-01T00:00:00Z",
        ["--end: give --start-time as well"],
    ),
    "a walk that the database cannot store exactly": (
        "--target=victoriametrics --runner=local --workload=devops --workers=1 --precision=full",
        ["victoriametrics: cpu: column usage_", "more than 6 decimals", "victoriametrics: mem: "],
    ),
    "tags that the database cannot store": (
        "--target=graphite --runner=local --workload=trucks --workers=1",
        ["graphite: readings: column fleet: a tag cannot be NULL"],
    ),
    "more tags than the server allows": (
        "--target=opentsdb --runner=local --workload=cpu --workers=1 --extra-option=max_tags=8",
        ["opentsdb: cpu: a row has 10 tags, and this server allows 8; set tsd.storage.max_tags"],
    ),
    "texts that the database cannot store": (
        "--target=opentsdb --runner=local --workload=homes --workers=1",
        [
            "opentsdb: home_state: column state_string: is text",
            "opentsdb: home_config: column config_string: is text",
            "opentsdb: camera_detection: column object_type: is text",
        ],
    ),
    "times that the database cannot store": (
        "--target=graphite --runner=local --workers=1 --tick-ms=1000 --start-time=2020-01-01",
        ["graphite: events: column timestamp: 2020-01-01", "use a later --start-time"],
    ),
    "rows whose values would be mixed": (
        "--target=victoriametrics --runner=local --workload=light",
        [
            "--workload light: several rows of light have the same time",
            "in victoriametrics each field is stored apart: such rows mix their values",
        ],
    ),
    "rows that would replace each other": (
        "--target=opentsdb --runner=local --workload=slim",
        ["in opentsdb a row replaces another one with the same tags and time"],
    ),
    "a window without a point": (
        "--target=sqlite --workload=devops --start=2026-01-01 --end=2026-01-01T00:00:05",
        ["--workload devops: from start to end are 5000 ms, less than an interval"],
    ),
    "options of another workload": (
        "--target=sqlite --workload=devops --devices=3 --tick-ms=5 --num-inserts=10",
        ["--devices: is an option of workload iot", "--tick-ms: is", "--num-inserts: "],
    ),
    "an empty fleet": (
        "--target=sqlite --workload=devops --scale=0 --interval=0s", ["--scale: ", "--interval: "],
    ),
    "an end before the start": (
        "--target=sqlite --workload=devops --start=2026-01-02 --end=2026-01-01", ["--end: "],
    ),
    "a fleet that is none": (
        "--target=sqlite --scale=3 --split=series",
        ["--scale: is an option of workload devops", "--split"],
    ),
    "steps by time": (
        "--target=sqlite --duration=1s --steps=2 --workers=1 --limit=0", ["--steps: ", "--limit: "],
    ),
    "series in several tables": (
        "--target=sqlite --workload=devops --scale=6 --split=series --tables=multiple", ["--split"],
    ),
    "too few series": (
        "--target=sqlite --workload=devops --cardinality=8",
        ["--workload devops: cardinality 8 is less than"],
    ),
    "series of trucks": (
        "--target=sqlite --workload=trucks --cardinality=8",
        ["--cardinality: is an option of workload devops"],
    ),
    "series that do not take turns": (
        "--target=sqlite --workload=metaquery --split=series",
        ["--split series: the series of workload meta"],
    ),
    "a key of columns that are not unique": (
        "--target=sqlite --workload=light --primary-key=client",
        ["--primary-key client: is made of columns"],
    ),
    "no row before the end of time": (
        "--target=sqlite --workload=slim --start=2039-01-01",
        ["--workload slim: with these options it has 0"],
    ),
    "symbols without bars": (
        "--target=sqlite --workload=slim --symbols=2",
        ["--symbols: is an option of workload ohlcv"],
    ),
    "rows of bars": (
        "--target=sqlite --workload=ohlcv --num-inserts=5",
        ["--num-inserts: the rows of workload ohlcv have"],
    ),
    "years after all years": (
        "--target=sqlite --workload=ohlcv --years=8000",
        ["--start-time: the last rows would be after"],
    ),
    "no year": ("--target=sqlite --workload=ohlcv --years=0", ["--years: "]),
    "no row a second": (
        "--target=sqlite --workload=large --rows-per-second=0", ["--rows-per-second: "],
    ),
    "no table": (
        f"{MANY} --tables=0 --batch=-1", ["--batch: must", "--tables: must be at least 1"],
    ),
    "257 tables": (f"{MANY} --tables=257", ["--tables: must be at most 256, got 257"]),
    "some tables": (
        f"{MANY} --tables=some", ["--tables: expected single, multiple or a number of tables"],
    ),
    "one table for several workers": (
        f"{MANY} --tables-by=worker", ["--tables-by worker: needs several tables"],
    ),
    "a large batch for each of many tables": (
        f"{MANY} --tables=100 --batch=1M",
        ["--tables, --batch: each worker holds a batch for every table, 100,000,000 rows"],
    ),
    "a fleet in the tables of workers": (
        f"{MANY} --workload=devops --tables=3 --tables-by=worker --split=series",
        ["--split series: 3 tables", "--tables-by worker: the workers of workload devops"],
    ),
    "late rows without a time": (
        "--target=sqlite --out-of-order=5", ["--out-of-order: expected SHARE:DURATION"],
    ),
    "too many late rows": ("--target=sqlite --out-of-order=60%:1m", ["0.1% to 50%"]),
    "late rows of trucks": (
        "--target=sqlite --workload=trucks --out-of-order=5%:1h",
        ["in another order than that of time"],
    ),
    "a short delay": (
        "--target=sqlite --out-of-order=5%:1s", ["table events: has fewer than the 60 rows"],
    ),
    "a long delay": (
        "--target=sqlite --out-of-order=5%:9h", ["these rows end before the first late one"],
    ),
    "a delay longer than the fleet": (
        "--target=sqlite --workload=cpu --out-of-order=5%:30h",
        ["all of them in about that time"],
    ),
    "late rows of series": (
        "--target=sqlite --workload=cpu --split=series --out-of-order=5%:3h", ["batch by batch"],
    ),
    "an embedded database that fails": (f"{MANY} {KILL}", ["is part of the workers"]),
    "nothing that fails": (f"--target=null --workers=1 {KILL}", ["stores nothing"]),
    "workers that fail for nothing": (
        "--target=null --workers=1 --fault=kill-worker --duration=9s", ["stores nothing"],
    ),
    "an import that fails": (
        f"{POSTGRES} --workers=1 --fault=kill-worker --duration=9s --import",
        ["leave --import out"],
    ),
    "a file of records that fails": (
        f"{POSTGRES} --workers=1 {KILL} --data=x --data-format=influx",
        ["which rows a file leaves"],
    ),
    "a server elsewhere that fails": (
        f"{POSTGRES} --workers=1 {KILL} {ELSEWHERE}", ["is on another host"],
    ),
    "a name to replace that is not needed": (
        f"{MANY} --replace-table=evens", ["--replace-table evens: this insert needs no such name"],
    ),
    "a name to replace and to add to": (
        f"{MANY} --replace-table=events --no-clean", ["--no-clean adds to the tables"],
    ),
    "a prefix that is not a name": (
        f"{MANY} --table-prefix=Bench-", ["--table-prefix: expected a letter"],
    ),
    "a prefix of this program": (
        f"{MANY} --table-prefix=iotbench_", ["the beginning of this program's own tables"],
    ),
    "a driver that is needless": (
        "--target=sqlite --client=driver",
        ["--client driver: sqlite: its rows go through the driver anyway"],
    ),
    "thresholds of nothing": (
        "--target=sqlite --fail-if='p98ms > 1' --fail-if='p99_ms > 1 at workers=99' --batch=-1",
        ["did you mean 'p99_ms'?", "workers=99 is not measured", "--batch: must"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_input_is_refused_before_anything_starts(cli: CommandLine, case: str) -> None:
    words, problems = REFUSED[case]
    said = cli.refuse("insert", *shlex.split(words))
    assert [problem for problem in problems if problem not in said] == []
    assert {line.partition(":")[0] for line in said.splitlines()} == {"error"}
    assert not cli.output.exists()
    assert {*cli.folder.iterdir()} == {cli.temporary}
