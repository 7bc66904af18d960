"""A program at a pseudo-terminal: what it prints with the times of arrival, its keys, the modes of
its terminal, and its end."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time

# Time limit of a wait, in seconds.
SOON = 15.0
# Queries of a terminal, and the answers of xterm.
ANSWERS = (
    (re.compile(rb"\x1b\[6n"), b"\x1b[1;1R"),
    (re.compile(rb"\x1b\[5n"), b"\x1b[0n"),
    (re.compile(rb"\x1b\[0?c"), b"\x1b[?62;22c"),
    (re.compile(rb"\x1b\[>0?q"), b"\x1bP>|XTerm(390)\x1b\\"),
    (re.compile(rb"\x1b\[\?u"), b"\x1b[?0u"),
    (re.compile(rb"\x1b\]11;\?(?:\x07|\x1b\\)"), b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
)


class Missing(Exception):
    """Something did not happen within its time limit."""


class Terminal:
    """A program in a terminal of its own.

    `arrivals` has the time of each read and the length of the output after it. `answer` gets the
    bytes of each read and the terminal, and may send an answer; without it, queries get no answer.
    """

    def __init__(self, command, folder, environment, size=(24, 80), answer=None):
        self.output, self.arrivals = bytearray(), []
        self._changed = threading.Condition()
        self._answer = answer
        self.master, self.slave = pty.openpty()
        self.resize(*size)
        self.original = termios.tcgetattr(self.slave)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._reading, self._closed = threading.Event(), threading.Event()
        self._reading.set()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read(self):
        # A read that waits would keep the terminal open after `hang_up`.
        while not self._closed.is_set():
            self._reading.wait()
            try:
                if not select.select([self.master], [], [], 0.05)[0]:
                    continue
                data = os.read(self.master, 1 << 16)
            except (OSError, ValueError):
                return
            with self._changed:
                self.output += data
                self.arrivals.append((time.perf_counter(), len(self.output)))
                self._changed.notify_all()
            if self._answer:
                self._answer(data, self)

    def hold(self):
        """Reads no output until `go_on`, as a terminal whose output is stopped."""
        self._reading.clear()

    def go_on(self):
        self._reading.set()

    def send(self, data):
        """Types bytes."""
        data = data.encode() if isinstance(data, str) else data
        while data:
            data = data[os.write(self.master, data):]

    def enter(self):
        """Presses the Enter key, later than a pasted line end."""
        time.sleep(0.06)
        self.send(b"\r")

    def line(self, text):
        """Types a line, waits until it is shown, and presses the Enter key."""
        begin = len(self.output)
        self.send(text)
        self.wait_for(text[-20:], begin)
        self.enter()

    def wait_for(self, wanted, begin=0, seconds=SOON):
        """Waits until the output after `begin` contains a text; returns the length of the output up
        to its end."""
        wanted = wanted.encode() if isinstance(wanted, str) else wanted
        return self.wait(lambda: self.output.find(wanted, begin) + 1, repr(wanted), seconds) - 1 + len(wanted)

    def wait(self, condition, about, seconds=SOON):
        """Waits until a condition on the output is true; returns its value."""
        end = time.perf_counter() + seconds
        with self._changed:
            while not (value := condition()):
                left = end - time.perf_counter()
                if left <= 0:
                    last = bytes(self.output[-300:])
                    raise Missing(f"{about} did not come within {seconds:g} s; the last output is {last!r}")
                self._changed.wait(min(left, 0.1))
            return value

    def quiet(self, seconds=0.3, limit=SOON):
        """Waits until nothing was printed for some time."""
        end = time.perf_counter() + limit
        while time.perf_counter() < end:
            length = len(self.output)
            time.sleep(seconds)
            if len(self.output) == length:
                return
        raise Missing(f"the program still prints after {limit:g} s")

    def at(self, length):
        """Returns the time at which the output reached a length."""
        return next(when for when, total in self.arrivals if total >= length)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        """Returns the modes of the terminal as `stty` prints them."""
        done = subprocess.run(["stty", "-a"], stdin=self.slave, capture_output=True, text=True, check=True)
        # The size is no mode.
        return done.stdout.partition(";")[0].partition(" baud")[0] + done.stdout.partition("columns")[2].partition(";")[2]

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, seconds=SOON):
        """Waits for the end of the program; returns its exit code, as a shell does."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Missing(f"the program did not end within {seconds:g} s") from None
        length = -1
        while length != len(self.output):
            length = len(self.output)
            time.sleep(0.05)
        return code if code >= 0 else 128 - code

    def hang_up(self):
        """Closes the terminal, as the user closes a window."""
        self._closed.set()
        self._reading.set()
        self._thread.join()
        os.close(self.slave)
        os.close(self.master)
        self.slave = self.master = -1

    def close(self):
        """Ends the program and closes the terminal."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.master >= 0:
            self.hang_up()


def answer_as_xterm(data, terminal):
    """Answers the queries of a program."""
    for query, answer in ANSWERS:
        if query.search(data):
            terminal.send(answer)
