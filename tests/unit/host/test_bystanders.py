"""What other processes do beside a run is measured; client and server are no others."""

import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import psutil
import pytest

from cli.host.bystanders import STOLEN, Bystanders

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


@contextmanager
def of_others(*arguments, script=BUSY):
    """Run a script in a process that this one has not started; yield what it prints first."""
    launch = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', *sys.argv[1:]], "
        " stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)\n"
        "print(child.pid, child.stdout.readline().decode() if 'print' in sys.argv[1] else '')"
    )
    made = subprocess.run(
        [sys.executable, "-c", launch, script, *arguments], check=True, capture_output=True
    )
    words = made.stdout.decode().split()
    try:
        yield [int(each) for each in words]
    finally:
        psutil.Process(int(words[0])).kill()


def measured(servers=list, while_it_runs=lambda: None):
    bystanders = Bystanders(servers)
    bystanders.begin()
    while_it_runs()
    time.sleep(1)
    return bystanders.work()


def cores_of_python(work):
    return sum(cores for name, cores in work.busiest.items() if name.startswith("python"))


def test_the_work_of_others_is_counted_and_named():
    with of_others() as (pid,):
        before_s = psutil.Process(pid).cpu_times().user
        work = measured()
        used_s = psutil.Process(pid).cpu_times().user - before_s

    assert used_s > 0.1
    assert cores_of_python(work) >= 0.7 * used_s  # over a little more than a second
    assert work.cores >= cores_of_python(work) - 0.01
    assert [*work.busiest.values()] == sorted(work.busiest.values(), reverse=True)
    assert len(work.busiest) <= 3


def test_a_process_that_begins_meanwhile_counts_whole():
    with ExitStack() as stack:
        work = measured(while_it_runs=lambda: stack.enter_context(of_others()))

    assert cores_of_python(work) > 0.1


def test_this_process_and_its_children_are_no_others():
    quiet = cores_of_python(measured())
    with subprocess.Popen([sys.executable, "-c", BUSY]) as child:
        busy = cores_of_python(measured())
        child.kill()

    assert busy < quiet + 0.2


def test_a_server_and_the_server_behind_it_are_no_others():
    with (
        of_others(script=SERVING) as (_, behind, port),
        of_others(str(port), script=SERVING) as (_, front, _),
    ):
        counted = cores_of_python(measured())
        left = cores_of_python(measured(lambda: [psutil.Process(front)]))
        half = cores_of_python(measured(lambda: [psutil.Process(behind)]))

    assert left < 0.5 * counted
    assert left < half


def test_without_the_servers_process_nothing_is_known():
    assert measured(lambda: None) is None
    assert Bystanders(list).work() is None


def test_what_the_hypervisor_gave_to_others_counts(monkeypatch):
    taken = iter([10.0, 10.9])

    class Times:
        def __init__(self):
            self.steal = next(taken)

    monkeypatch.setattr(psutil, "cpu_times", Times)
    work = measured()

    assert work.busiest[STOLEN] == pytest.approx(0.85, abs=0.15)
