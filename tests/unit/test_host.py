"""What a process learns of its machine, in the forms in which kernels show it."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from simulator import host
from tests import ROOT

V2 = """usage_usec 8712431
user_usec 6210003
system_usec 2502428
nr_periods 410
nr_throttled 97
throttled_usec 2500000
nr_bursts 0
burst_usec 0
"""
V1 = """nr_periods 410
nr_throttled 97
throttled_time 1250000000
"""


@pytest.fixture
def cgroup(tmp_path, monkeypatch):
    """The places of the kernel's files, which are still to be written."""
    stats = host._CPU_STATS
    paths = [tmp_path / name for name in ("v2", "v1")]
    moved = [(path, *rest) for path, (_, *rest) in zip(paths, stats, strict=True)]
    monkeypatch.setattr(host, "_CPU_STATS", moved)
    return paths


@pytest.mark.parametrize(
    ("version", "text", "throttled_s"),
    [(2, V2, 2.5), (1, V1, 1.25), (2, V2.partition("nr_periods")[0], 0.0), (2, "", 0.0)],
    ids=["v2", "v1", "without a limit", "empty"],
)
def test_throttling_is_read_as_the_kernel_shows_it(cgroup, version, text, throttled_s):
    cgroup[2 - version].write_text(text)

    assert host.read_throttled_s() == pytest.approx(throttled_s)


def test_without_a_readable_file_nothing_is_throttled(cgroup):
    assert host.read_throttled_s() == 0.0
    cgroup[0].mkdir()
    assert host.read_throttled_s() == 0.0


def test_the_kernels_files_are_where_containers_have_them():
    assert [str(path) for path, *_ in host._CPU_STATS] == [
        "/sys/fs/cgroup/cpu.stat",
        "/sys/fs/cgroup/cpu/cpu.stat",
    ]


def said_by_another_process(call, setup=""):
    code = f"from simulator.host import *\n{setup}\nprint({call})"
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
    )
    return done.stdout.strip()


def test_the_processes_of_a_machine_read_the_same_boot():
    assert host.boot_id() == said_by_another_process("boot_id()")
    assert len(host.boot_id()) > 8


def test_without_the_kernels_word_a_machine_is_reported_by_its_network_card(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda _: False)

    assert host.boot_id() == host.boot_id() == str(int(host.boot_id()))


def test_the_peak_counts_memory_that_was_given_back():
    mib = 1 << 20
    before = int(said_by_another_process("memory_peak_bytes()"))
    after = int(said_by_another_process("memory_peak_bytes()", f"x = bytearray({64 * mib}); del x"))

    assert 60 * mib < after - before < 100 * mib


def test_the_peak_is_this_processs_own_and_not_its_parents():
    ballast = bytearray(200 << 20)

    own = int(said_by_another_process("memory_peak_bytes()"))

    assert own < len(ballast) < host.memory_peak_bytes()


def test_without_the_kernels_file_the_system_is_asked_for_the_peak(monkeypatch):
    monkeypatch.setattr(host, "_read_number", lambda *_: None)

    assert host.memory_peak_bytes() > 1 << 20


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="only glibc has mallopt")
def test_freed_memory_is_kept_for_the_next_block():
    program = """
import resource, numpy as np
from simulator.host import keep_freed_memory
keep_freed_memory()
def faults():
    [np.ones(3 << 20, np.uint8) for _ in range(10)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
faults()
print(-faults() + faults())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert int(done.stdout) < 100
