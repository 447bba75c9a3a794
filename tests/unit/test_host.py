"""What a process learns of its machine, in the forms in which kernels show it."""

import ctypes
import os
import shlex
import signal
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
    paths = [tmp_path / name for name in ("v2", "v1")]
    monkeypatch.setattr(host, "_CPU_STATS", paths)
    return paths


@pytest.mark.parametrize(
    ("version", "text", "periods"),
    [
        (2, V2, (410, 97)),
        (1, V1, (410, 97)),
        (2, V2.partition("nr_periods")[0], (0, 0)),
        (2, "", (0, 0)),
    ],
    ids=["v2", "v1", "without a limit", "empty"],
)
def test_periods_are_read_as_the_kernel_shows_them(cgroup, version, text, periods):
    cgroup[2 - version].write_text(text)

    assert host.read_cpu_periods() == periods


def test_without_a_readable_file_nothing_is_throttled(cgroup):
    assert host.read_cpu_periods() == (0, 0)
    cgroup[0].mkdir()
    assert host.read_cpu_periods() == (0, 0)


GROUPS = Path("/sys/fs/cgroup/cpu")
BUSY = """
import os, sys, threading, time
from simulator.host import read_cpu_periods
def work(pause_s, stop_s):
    while time.monotonic() < stop_s:
        sum(range(20_000))
        time.sleep(pause_s)
threads, pause_s = int(sys.argv[1]), float(sys.argv[2])
open("/sys/fs/cgroup/cpu/cgroup.procs", "w").write(str(os.getpid()))
before = read_cpu_periods()
given = (pause_s, time.monotonic() + 2)
running = [threading.Thread(target=work, args=given) for _ in range(threads)]
[each.start() for each in running], [each.join() for each in running]
print(*(now - then for now, then in zip(read_cpu_periods(), before)))
"""


@pytest.fixture
def group():
    """A group of processes that may run for 1 ms in 100 ms, little enough for a busy machine."""
    path = GROUPS / f"iotbench-test-{os.getpid()}"
    try:
        path.mkdir()
    except OSError:
        pytest.skip("needs root and cgroup v1")
    (path / "cpu.cfs_quota_us").write_text("1000")
    yield path
    path.rmdir()


@pytest.mark.parametrize(("threads", "pause_s"), [(1, 0), (1, 0.0005), (8, 0.0005)])
def test_a_container_that_always_wants_more_is_stopped_in_most_periods(group, threads, pause_s):
    """A throttled time is 0.4 to 1.6 of the time here, on one kernel."""
    python = [sys.executable, "-c", BUSY, str(threads), str(pause_s)]
    in_container = f"mount --bind {group} {GROUPS} && exec {shlex.join(python)}"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", in_container],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    periods, throttled = map(int, done.stdout.split())

    assert 5 <= periods <= 40
    assert throttled > 0.8 * periods


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


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no PR_SET_PDEATHSIG")
@pytest.mark.parametrize(
    ("parent", "code"), [(os.getpid(), 0), (1 << 30, -signal.SIGKILL)], ids=["alive", "gone"]
)
def test_a_process_whose_parent_exits_before_it_asks_to_end_with_it_ends_at_once(parent, code):
    program = f"from simulator.host import *\nend_with_parent({parent})"

    assert subprocess.run([sys.executable, "-c", program], check=False, cwd=ROOT).returncode == code


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
