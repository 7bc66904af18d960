"""Real terminals that keep what has left the top of the screen: tmux, and screen inside of tmux.

tmux folds rows that are too wide when it becomes narrower; screen cuts them."""

import itertools
import os
import shlex
import subprocess
import time
from pathlib import Path

from at_terminal import SOON, Missing

_NUMBERS = itertools.count()


class Tmux:
    """A program in a tmux of its own, without a status line. `output` is what the program prints."""

    folds = True

    def __init__(self, command, folder, environment, size=(24, 80), work=Path("/tmp")):
        self.work = work
        self.socket = work / f"tmux-{os.getpid()}-{next(_NUMBERS)}"
        recording = self.raw = work / f"{self.socket.name}.raw"
        rows, columns = size
        variables = {name: value for name, value in environment.items() if name not in ("TERM", "TMUX")}
        words = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
        # tmux sets TERM and TMUX itself; `env -i` would remove them.
        wrapped = shlex.join(words) + ' TERM="$TERM" TMUX="$TMUX" ' + shlex.join(self.wrapped(command, folder))
        # The output is recorded before the program starts.
        wait = work / f"{self.socket.name}.go"
        script = f"while [ ! -e {wait} ]; do sleep 0.02; done; {wrapped}; echo code $?; exec sleep 1000"
        settings = work / f"{self.socket.name}.conf"
        settings.write_text(
            "set -g history-limit 100000\nset -g status off\n"
            "set -g default-terminal tmux-256color\nset -g escape-time 0\nset -g remain-on-exit on\n"
        )
        self.tmux(
            "-f", str(settings), "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder), script
        )
        self.tmux("pipe-pane", f"cat >> {recording}")
        wait.touch()

    def wrapped(self, command, _folder):
        return [str(word) for word in command]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-S", self.socket, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout

    @property
    def output(self):
        return self.raw.read_bytes() if self.raw.exists() else b""

    def send(self, data):
        data = data.encode() if isinstance(data, str) else data
        for at in range(0, len(data), 500):
            self.tmux("send-keys", "-H", *(f"{byte:02x}" for byte in data[at:at + 500]))

    def enter(self):
        time.sleep(0.06)
        self.send(b"\r")

    def line(self, text):
        self.send(text)
        self.wait_for(text[-20:])
        self.enter()

    def resize(self, rows, columns):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def size(self):
        return tuple(map(int, self.tmux("display-message", "-p", "#{window_height} #{window_width}").split()))

    def cursor(self):
        """Returns the row and the column of the cursor."""
        return tuple(map(int, self.tmux("display-message", "-p", "#{cursor_y} #{cursor_x}").split()))

    def screen(self):
        """Returns the rows on the screen."""
        return [row.rstrip() for row in self.tmux("capture-pane", "-p").split("\n")[:-1]]

    def all_rows(self):
        """Returns all rows, those above the screen included; folded rows are joined again."""
        return [row.rstrip() for row in self.tmux("capture-pane", "-p", "-J", "-S", "-").split("\n")]

    def wait_for(self, text, seconds=SOON):
        self.wait(lambda: any(text in row for row in self.screen()), f"{text!r}", seconds)

    def wait(self, condition, about, seconds=SOON):
        end = time.perf_counter() + seconds
        while not condition():
            if time.perf_counter() > end:
                raise Missing(f"{about} did not come within {seconds:g} s; the screen is:\n" + "\n".join(self.screen()))
            time.sleep(0.02)

    def quiet(self, seconds=0.3, limit=SOON):
        end = time.perf_counter() + limit
        while time.perf_counter() < end:
            before = self.output
            time.sleep(seconds)
            if self.output == before:
                return
        raise Missing(f"the program still prints after {limit:g} s")


class Screen(Tmux):
    """A program in GNU screen, which itself is in tmux so that its size can change."""

    folds = False

    def wrapped(self, command, folder):
        self.name = f"prove-{os.getpid()}-{next(_NUMBERS)}"
        settings = self.work / f"{self.name}.screenrc"
        settings.write_text("defscrollback 5000\nstartup_message off\nvbell off\ndefutf8 on\nmaptimeout 0\nlogfile flush 1\n")
        self.raw = self.work / f"{self.name}.raw"
        script = shlex.join([str(word) for word in command]) + "; echo code $?; exec sleep 1000"
        return ["screen", "-c", str(settings), "-L", "-Logfile", str(self.raw), "-U", "-S", self.name, "sh", "-c", script]

    def __exit__(self, *_):
        subprocess.run(["screen", "-S", self.name, "-X", "quit"], capture_output=True, check=False)
        super().__exit__()

    def all_rows(self):
        """Returns all rows of screen, those above included."""
        file = self.work / f"{self.name}.copy"
        file.unlink(missing_ok=True)
        subprocess.run(["screen", "-S", self.name, "-X", "hardcopy", "-h", file], check=True)
        end = time.perf_counter() + SOON
        while not file.exists() or not file.stat().st_size:
            if time.perf_counter() > end:
                raise Missing("a copy of what screen keeps")
            time.sleep(0.05)
        time.sleep(0.1)
        return [row.rstrip() for row in file.read_text(errors="replace").split("\n")]
