"""Servers over standard streams that hang, end or stay, see `mcp_faults`."""

import json
import os
import signal
import subprocess
import sys
import time

from mcp_server import LARGE, Server


# Servers that hang or end


class HangAtStart(Server):
    """Silence at `initialize`."""

    timeout = 1000
    result = "not found"
    says = "'bad' is not available: no connection within 1 s"
    offered = ()

    def initialize(self, number):
        time.sleep(1000)


class HangAtList(Server):
    """Silence at `tools/list`."""

    timeout = 1000
    result = "not found"
    says = "left out: bad|'bad': cannot list its tools"
    offered = ()

    def list(self, number, cursor):
        time.sleep(1000)


class HangAtCall(Server):
    """Silence at a call."""

    timeout = 1000
    result = "no answer within 1 s"

    def call(self, number, params):
        time.sleep(1000)


class ReadsNothing(Server):
    """A server that reads no more, and a call of 2 MB."""

    timeout = 1000
    result = "no answer within 1 s"
    memory, sent = LARGE, 5_000_000
    calls = (("mcp_bad_look", {"x": "1" * 2_000_000}),)

    def list(self, number, cursor):
        super().list(number, cursor)
        time.sleep(1000)


class CrashAtCall(Server):
    """A crash in a call."""

    result = "the server ended during the call"
    says = "'bad': .*exit code 7: why"

    def call(self, number, params):
        print("why", file=sys.stderr)
        sys.stderr.flush()
        os._exit(7)


class KilledAtCall(Server):
    """A server that is killed in a call."""

    result = "the server ended during the call"
    says = "'bad': .*(signal|killed)"

    def call(self, number, params):
        os.kill(os.getpid(), signal.SIGKILL)


class CrashAlways(Server):
    """A crash right after each start."""

    result = "not found"
    says = "'bad' is not available: .*exit code 4: no luck"
    offered = ()

    def begin(self):
        print("no luck", file=sys.stderr)
        sys.exit(4)


class CrashAfterList(Server):
    """A crash right after the list, at each start."""

    result = "the server ended during the call|not connected|not found"
    offered = None
    # A call waits for a server that is started again.
    seconds = 20.0

    def list(self, number, cursor):
        super().list(number, cursor)
        time.sleep(0.05)
        os._exit(5)


class ClosedOutput(Server):
    """A server that closes its output and stays."""

    result = "the server ended during the call"
    says = "'bad'"

    def call(self, number, params):
        os.close(1)
        time.sleep(1000)


# Servers that stay


class Stays(Server):
    """A server that ignores the end of its input and SIGTERM."""

    def begin(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)

    def end(self):
        while True:
            time.sleep(1000)


class Descendants(Stays):
    """Processes of the server that leave its group, and ignore SIGTERM."""

    def begin(self):
        super().begin()
        for command in ("trap '' TERM HUP; sleep 1000; sleep 1000", "(setsid sleep 1000 &)", "nohup sleep 1000 >/dev/null 2>&1 &"):
            subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)


class BehindShell(Stays):
    """A server behind `sh`, which passes on no signal."""

    wrapper = ("sh", "-c", '"$@"; exit $?', "sh")


class BehindLauncher(Stays):
    """A server behind two launchers that fork, as package runners do."""

    # The background command of a shell without job control gets no input, unless it is given.
    wrapper = ("sh", "-c", 'exec 3<&0; sh -c \'exec 4<&3; "$@" <&4 3<&- 4<&- & wait\' sh "$@" & wait', "sh")


class HoldsOutput(Server):
    """A process that keeps the output open after the server has ended."""

    result = "the server ended during the call|no answer within 2 s"
    timeout = 2000

    def call(self, number, params):
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        os._exit(6)
