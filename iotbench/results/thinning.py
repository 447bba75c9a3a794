"""Limits of the series in the results of long runs: rows by second, and samples of resources."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from iotbench.machine.resources import Resources, Sample, Used
from simulator.protocol.messages import WorkerReport

MOST = 3_600
"""Maximum number of values in a series: one for each second of an hour."""


def thin_report(report: WorkerReport) -> WorkerReport:
    """Return a report in which rows of several seconds are joined, if there are too many seconds.

    Latencies by second are removed, because only the figures of outages need them.
    """
    kept: dict[str, Any] = {"waits_by_second": ()}
    rows = report.rows_by_second
    each_s = math.ceil(len(rows) / MOST)
    if each_s > 1:
        sums = np.add.reduceat(np.asarray(rows, np.int64), np.arange(0, len(rows), each_s))
        kept |= {"rows_by_second": tuple(sums.tolist()), "rows_each_s": each_s}
    return report.model_copy(update=kept)


def thin_resources(resources: Resources) -> Resources:
    """Return resources in which samples of a phase are joined, if there are too many samples."""
    together = math.ceil(len(resources.samples) / MOST)
    if together <= 1:
        return resources
    found = []
    for _, same in groupby(resources.samples, lambda sample: sample.phase):
        samples = [*same]
        found += [_join(samples[at : at + together]) for at in range(0, len(samples), together)]
    return resources.model_copy(update={"samples": tuple(found)})


def _join(samples: Sequence[Sample]) -> Sample:
    """Return one sample for several: the mean of the cores, and the last of all other values."""
    last, duration_s = samples[-1], sum(each.duration_s for each in samples)

    def mean(values: Iterator[float | None]) -> float | None:
        found = [*values]
        if any(each is None for each in found):
            return None
        weighted = zip(found, samples, strict=True)
        return sum((value or 0.0) * each.duration_s for value, each in weighted) / duration_s

    def measure_used(at_end: Used | None, all_of_them: Sequence[Used | None]) -> Used | None:
        cores = mean(each.cores if each else None for each in all_of_them)
        if at_end is None or cores is None:
            return None
        return Used(cores=cores, memory_bytes=at_end.memory_bytes)

    return last.model_copy(
        update={
            "duration_s": duration_s,
            "machine_cores": mean(each.machine_cores for each in samples),
            "client": measure_used(last.client, [each.client for each in samples]),
            "server": measure_used(last.server, [each.server for each in samples]),
        }
    )
