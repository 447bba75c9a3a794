"""What other processes do beside a run is measured; client and server are no others."""

import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress

import psutil
import pytest

from iotbench.machine import bystanders
from iotbench.machine.bystanders import STOLEN, Bystanders

NAME = "a-bystander"
BUSY = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
"""It ends by itself if the test is killed."""
SERVING = """
import os, socket, sys, threading, time
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: [listener.accept(), time.sleep(20)], daemon=True).start()
behind = socket.create_connection(("127.0.0.1", int(sys.argv[1]))) if len(sys.argv) > 1 else None
print(os.getpid(), listener.getsockname()[1], flush=True)
end = time.monotonic() + 20
while time.monotonic() < end: pass
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return an interpreter whose processes have a name that nobody else's have."""
    path = tmp_path_factory.mktemp("bystander") / NAME
    path.symlink_to(sys.executable)
    return path


@pytest.fixture(autouse=True)
def every_name(monkeypatch):
    monkeypatch.setattr(bystanders, "_NAMED", 1000)


@contextmanager
def of_others(program, *arguments, script=BUSY):
    """Run a script in a process that this one has not started; yield what it prints first."""
    launch = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.argv[1], '-c', *sys.argv[2:]], "
        " stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)\n"
        "print(child.pid, child.stdout.readline().decode() if 'print' in sys.argv[2] else '')"
    )
    made = subprocess.run(
        [sys.executable, "-c", launch, program, script, *arguments], check=True, capture_output=True
    )
    words = made.stdout.decode().split()
    try:
        yield [int(each) for each in words]
    finally:
        psutil.Process(int(words[0])).kill()


def measured(servers=list, while_it_runs=lambda: None):
    meter = Bystanders(servers)
    meter.begin()
    while_it_runs()
    time.sleep(0.5)
    return meter.work()


def cores_of(work):
    return work.busiest.get(NAME, 0.0)


CHILD = """
import os, subprocess, sys, time
busy = "import time\\nend = time.process_time() + 0.8\\nwhile time.process_time() < end: pass"
child = subprocess.Popen([sys.executable, "-c", busy + "\\nprint(0, flush=True); input()"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(os.getpid(), child.pid, flush=True)
time.sleep(0.2)
child.stdin.close()
child.wait()
time.sleep(20)
"""


def test_a_child_that_ends_leaves_its_earlier_life_out_of_the_work(program):
    """Its parent inherits the CPU time of its whole life, of which most was before the run."""
    with of_others(program, script=CHILD) as (_, _, child):
        lived_s = sum(psutil.Process(child).cpu_times()[:2])
        work = measured()
        assert not psutil.pid_exists(child)

    assert lived_s > 0.7
    assert cores_of(work) < 0.5


ADOPTED = """
import ctypes, os, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: it adopts descendants
begin = '''import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stdout=subprocess.PIPE)
print(child.stdout.readline(), flush=True)
'''
busy = '''import time
end = time.process_time() + 0.8
while time.process_time() < end: pass
print(0, flush=True)
time.sleep(0.25)
'''
parents = [begin + "time.sleep(20)", begin + "time.sleep(0.1)"]
first = subprocess.Popen([sys.executable, "-c", *parents, busy], stdout=subprocess.PIPE)
first.stdout.readline()
print(os.getpid(), first.pid, flush=True)
os.wait()
first.kill()
time.sleep(20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_a_child_whose_parent_ends_leaves_its_life_to_the_process_that_waits_for_it(program):
    """Neither its parent nor the parent's parent does: the first has ended, the second goes on."""
    with of_others(program, script=ADOPTED) as (adopter, _, between):
        before_s = sum(psutil.Process(adopter).cpu_times()[2:4])
        work = measured()
        inherited_s = sum(psutil.Process(adopter).cpu_times()[2:4]) - before_s
        with suppress(psutil.Error):
            psutil.Process(between).kill()

    assert inherited_s > 0.7
    assert cores_of(work) < 0.5


def test_other_work_never_takes_more_cores_than_the_machine_has():
    def reading(at_s, cpu_s):
        return bystanders._Reading(
            at_s, 0.0, {n: bystanders._Process(f"p{n}", 1, 0.0, cpu_s) for n in (5, 6)}, set()
        )

    work = bystanders._compare(reading(0.0, 0.0), reading(2.0, 98.1), set())

    assert max(work.cores, *work.busiest.values()) <= psutil.cpu_count()


def test_a_child_that_ends_may_be_the_last_of_its_family():
    def reading(at_s, *pids):
        return bystanders._Reading(
            at_s, 0.0, {n: bystanders._Process(f"p{n}", n - 1, 0.0, 0.01) for n in pids}, set()
        )

    work = bystanders._compare(reading(0.0, 5, 6, 7), reading(2.0, 9), set())

    assert work.cores == pytest.approx(0.005, abs=0.001)


def test_the_work_of_others_is_counted_and_named(program):
    with of_others(program) as (pid,):
        before_s = psutil.Process(pid).cpu_times().user
        work = measured()
        used_s = psutil.Process(pid).cpu_times().user - before_s

    assert used_s > 0.1
    assert cores_of(work) >= 0.7 * used_s  # over about half a second
    assert work.cores >= cores_of(work) - 0.01
    assert [*work.busiest.values()] == sorted(work.busiest.values(), reverse=True)


def test_a_process_that_begins_meanwhile_counts_whole(program):
    with ExitStack() as stack:
        work = measured(while_it_runs=lambda: stack.enter_context(of_others(program)))

    assert cores_of(work) > 0.1


def test_this_process_and_its_children_are_no_others(program):
    with subprocess.Popen([program, "-c", BUSY]) as child:
        busy = cores_of(measured())
        child.kill()

    assert busy == 0


def test_a_server_and_the_server_behind_it_are_no_others(program):
    with (
        of_others(program, script=SERVING) as (_, behind, port),
        of_others(program, str(port), script=SERVING) as (_, front, _),
    ):
        counted = cores_of(measured())
        left = cores_of(measured(lambda: [psutil.Process(front)]))
        half = cores_of(measured(lambda: [psutil.Process(behind)]))

    assert min(counted, half) > 0
    assert left == 0


def test_without_the_servers_process_nothing_is_known():
    assert measured(lambda: None) is None
    assert Bystanders(list).work() is None


def test_what_the_hypervisor_gave_to_others_counts(monkeypatch):
    taken = iter([10.0, 10.45])

    class Times:
        def __init__(self):
            self.steal = next(taken)

    monkeypatch.setattr(psutil, "cpu_times", Times)
    work = measured()

    assert 0.2 < work.busiest[STOLEN] <= 0.9  # 0.45 s of at least half a second
