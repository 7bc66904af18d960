"""A program in a home of its own, whose only service is a server on loopback."""

import os
import subprocess


def own_home(home, path=None):
    """Returns the variables of a separate home. `path` is the search path."""
    return {
        "PATH": path or os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "NO_COLOR": "1",
    }


def gemini_at(port):
    """Returns the variables for the Gemini API on loopback, in a trusted folder."""
    return {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def environment(home, port):
    """Returns the whole environment of Pollux."""
    return own_home(home) | gemini_at(port)


def start(command, folder, environment, errors, pipe=subprocess.DEVNULL, output=None):
    """Starts a program in a session of its own. Standard error is appended to the file `errors`;
    standard output goes to `output`, or to the same as the input comes from."""
    with errors.open("ab") as stream:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=pipe,
            stdout=pipe if output is None else output,
            stderr=stream,
            start_new_session=True,
        )
