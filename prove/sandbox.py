"""Tries to get out of the levels of confinement. Started by `cargo xtask prove sandbox`. Python 3.11, standard library
only; Linux.

Each attempt is a script that ends with 0 when it has reached what it was after. It runs at every level, as root (if
the proof does) and as a user without rights, in a home and a project of its own. A level that promises to refuse the
attempt must refuse it; where a level promises nothing, the table says why. Without confinement the attempt must work
for at least one of the users, or it proves nothing.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sandbox_attempts import ATTEMPTS, service_address

LEVELS = ("inspect", "workspace-write", "protect")
OTHER_USER = 54321


class Place:
    """Home and project of one user, and a process of the same user outside of every level."""

    def __init__(self, user):
        self.user = user
        self.folder = Path(tempfile.mkdtemp(prefix="pollux-prove-", dir="/var/tmp"))
        os.chmod(self.folder, 0o755)
        for name in ("home/.ssh", "home/.gemini", "home/.config/systemd/user", "project/.gemini"):
            (self.folder / name).mkdir(parents=True)
        project = self.folder / "project"
        git = ["git", "-c", "init.defaultBranch=main", "-c", "user.name=A", "-c", "user.email=a@b", "-C", project]
        subprocess.run([*git, "init", "-q"], check=True)
        for name, text in {
            "home/.bashrc": "# mine\n",
            "home/.ssh/id": "SECRET\n",
            "home/.ssh/known_hosts": "host\n",
            "home/.netrc": "SECRET\n",
            "home/.gemini/oauth_creds.json": "SECRET\n",
            "home/.gemini/settings.json": "{}\n",
            "project/.env": "SECRET\n",
            "project/file": "text\n",
            "outside": "text\n",
        }.items():
            (self.folder / name).write_text(text)
        (project / "link-to-env").symlink_to(".env")
        subprocess.run([*git, "add", "file"], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True)
        if user is not None:
            subprocess.run(["chown", "-R", f"{user}:{user}", self.folder], check=True)
        self.environment = {
            "HOME": str(self.folder / "home"),
            "PATH": os.environ["PATH"],
            "SECRET_IN_ENVIRONMENT": "SECRET",
        }
        self.victim = subprocess.Popen([*self.prefix(), "sleep", "600"], env=self.environment, cwd=project)
        # Root without capabilities: whoever has some may trace it, unless something else is in the way.
        weak = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if user is None and os.geteuid() == 0 else []
        self.weak_victim = subprocess.Popen([*self.prefix(), *weak, "sleep", "600"], env=self.environment, cwd=project)
        self.environment.pop("SECRET_IN_ENVIRONMENT")
        self.environment["WEAK_VICTIM"] = str(self.weak_victim.pid)
        self.environment["VICTIM"] = str(self.victim.pid)
        self.environment["SERVICE"] = str(service_address(self.folder))

    def prefix(self):
        if self.user is None:
            return []
        return ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups"]

    def run(self, binary, level, script):
        command = [*self.prefix(), binary, "sandbox", "run", "--level", level, "--", "bash", "-c", script]
        project = self.folder / "project"
        return subprocess.run(
            command, env=self.environment, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )

    def close(self):
        for victim in (self.victim, self.weak_victim):
            victim.kill()
            victim.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def tried(binary, user, level, script):
    """True if the script reached what it was after."""
    place = Place(user)
    try:
        return place.run(binary, level, script).returncode == 0
    finally:
        place.close()


def levels_that_hold(binary):
    """The levels that this system offers; each other one is named with the reason."""
    status = subprocess.run([binary, "sandbox", "status", "--json"], capture_output=True, check=True)
    found = {level["level"]: level for level in json.loads(status.stdout)["levels"]}
    for name in LEVELS:
        if not found[name]["holds"]:
            print(f"sandbox: {name} is not tried here: {found[name]['reason']}")
    return [name for name in LEVELS if found[name]["holds"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    users = [None, OTHER_USER] if os.geteuid() == 0 else [None]
    levels = levels_that_hold(options.binary)
    counts = {"refused": 0, "out of the promise": 0, "escaped": 0, "proves nothing": 0}
    width = max(len(attempt.name) for attempt in ATTEMPTS)
    for attempt in ATTEMPTS:
        if options.only not in attempt.name:
            continue
        works = any([tried(options.binary, user, "none", attempt.script) for user in users])
        row = []
        for level in levels:
            reached = any([tried(options.binary, user, level, attempt.script) for user in users])
            if level not in attempt.refused_at:
                result = "out of the promise"
            else:
                result = "escaped" if reached else "refused"
            counts[result] += 1
            row.append(f"{level}: {result}")
        if not works and attempt.must_work:
            counts["proves nothing"] += 1
            row.append("none: PROVES NOTHING")
        print(f"{attempt.name:<{width}}  {'; '.join(row)}  {attempt.reason}".rstrip(), flush=True)
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return 1 if counts["escaped"] or counts["proves nothing"] else 0


if __name__ == "__main__":
    sys.exit(main())
