"""The rows that an insert left in a target's tables, from its result file."""

from pathlib import Path

from cli import results
from cli.host.program import program
from simulator.data.dataset import Dataset
from simulator.errors import ConfigError


def inserted(output: Path, target: str, file: Path | None) -> Dataset:
    """Return the dataset of `file`, or of the target's last insert; ConfigError if unknown."""
    if file:
        manifest, path = results.read(file).manifest, file
        if manifest is None:
            raise ConfigError(f"--dataset: {file} is not the result of an insert that wrote rows")
    else:
        last = results.last_insert(output, target)
        if last is None:
            raise ConfigError(
                f"no insert of {target} in {output}: run `{program()} insert --target {target}`"
                " first, or name its result file with --dataset"
            )
        path, manifest = last
    if not manifest.complete:
        raise ConfigError(
            f"the insert of {target} ({path}) did not finish or not all of its rows are stored, so"
            " the contents of the tables are not known; run insert again"
        )
    return manifest.dataset
