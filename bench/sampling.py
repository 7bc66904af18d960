"""Running of one program, and its cost: time, processor time, memory of its process tree."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

# Time limit of one run, in seconds.
TIME_LIMIT = 90.0


class Hung(Exception):
    """A program did not end within the time limit."""


@dataclass
class Cost:
    """Cost of one run: seconds, seconds of processor time, bytes of memory at the peak (0 if not
    sampled), and how the run ended. `requests` are the samples taken at each request, if any, and
    `beside` is the value of the other part of a pair, if the run is part of one."""

    started: float
    wall: float
    cpu: float
    memory: int
    code: int
    output: bytes
    errors: bytes
    requests: list = field(default_factory=list)
    beside: float | None = None


def run(command, cwd, environment, *, limit=TIME_LIMIT, sampler=None):
    """Runs a program to its end and returns its cost. The processor time is that of the process and
    of all children that it waited for. The sampler, if there is one, watches the process tree; most
    runs have none, because sampling slows the program down."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    streams = {}
    readers = [
        threading.Thread(
            target=lambda n=name, s=stream: streams.__setitem__(n, s.read()), daemon=True
        )
        for name, stream in (("out", process.stdout), ("err", process.stderr))
    ]
    for reader in readers:
        reader.start()
    if sampler:
        sampler.watch(process.pid)
    hung = threading.Event()
    timer = threading.Timer(limit, lambda: (hung.set(), _kill(process.pid)))
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    _kill(process.pid)
    for reader in readers:
        reader.join(5)
    if hung.is_set():
        raise Hung(f"still running after {limit:.0f} s")
    return Cost(
        started,
        wall,
        usage.ru_utime + usage.ru_stime,
        sampler.end() if sampler else 0,
        process.returncode,
        streams.get("out", b""),
        streams.get("err", b""),
        getattr(sampler, "requests", []),
    )


def _kill(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Memory:
    """The peak memory of a process tree: the maximum over time of the resident memory summed over
    the tree, or the kernel's peak value of one process, whichever is larger. (The kernel's value
    includes everything before the last sample. `wait4` has such a value, too, but that one includes
    the program that started this one.)"""

    def __init__(self):
        self.peak = 0
        self._pid = None
        self._ended = threading.Event()
        self._thread = None

    def watch(self, pid):
        """Starts sampling, every millisecond at first, less often later."""
        self._pid = pid
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._thread.start()

    def end(self):
        """Stops sampling. Returns the peak in bytes."""
        self._ended.set()
        self._thread.join()
        return self.peak

    def look(self):
        """Takes one sample now."""
        if self._pid is None:
            return
        whole = 0
        for pid in tree(self._pid):
            now, highest = resident(pid)
            whole += now
            self.peak = max(self.peak, highest)
        self.peak = max(self.peak, whole)

    def _look_on(self):
        begin = time.perf_counter()
        while not self._ended.is_set():
            self.look()
            self._ended.wait(0.001 if time.perf_counter() - begin < 0.2 else 0.01)


@dataclass(frozen=True)
class Sample:
    """State of a process tree at one request: bytes of memory, seconds of processor time, and bytes
    written so far."""

    memory: int
    cpu: float
    written: int


class Requests:
    """A sampler that only looks at a request, while the program waits for the reply, so that it
    does not slow the program down."""

    def __init__(self):
        self.requests = []
        self._pid = None
        self._started = threading.Event()

    def watch(self, pid):
        self._pid = pid
        self._started.set()

    def end(self):
        return 0

    def look(self):
        """Takes one sample now."""
        self._started.wait(5)
        pids = tree(self._pid)
        self.requests.append(
            Sample(
                sum(resident(pid)[0] for pid in pids),
                sum(processor(pid) for pid in pids),
                sum(written(pid) for pid in pids),
            )
        )


def tree(root):
    """Returns the process and all its descendants."""
    found, ahead = [], [root]
    while ahead:
        pid = ahead.pop()
        found.append(pid)
        # A process or thread may end at any moment; then it has no children either.
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            try:
                children = Path(f"/proc/{pid}/task/{thread}/children").read_text()
            except OSError:
                continue
            ahead.extend(int(child) for child in children.split())
    return found


def resident(pid):
    """Returns resident memory now and at its peak, in bytes; 0 for a process that has ended."""
    try:
        fields = dict(
            line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        )
    except OSError:
        return 0, 0
    # Between fork and exec a process still has the memory of its parent.
    if fields.get("Name", "").strip().startswith("python"):
        return 0, 0
    now, highest = (int(fields.get(name, "0 kB").split()[0]) for name in ("VmRSS", "VmHWM"))
    return now * 1024, highest * 1024


def processor(pid):
    """Returns the processor time of a process with all its threads, also those that have ended, in
    seconds; 0 after its end."""
    # The kernel's id of the processor clock of a process (CPUCLOCK_SCHED), which has nanoseconds.
    clock = (~pid << 3) | 2
    try:
        return time.clock_gettime(clock)
    except OSError:
        return 0.0


def written(pid):
    """Returns the bytes that a process has written to the device, or will write; 0 after its
    end."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("write_bytes")), 0)
