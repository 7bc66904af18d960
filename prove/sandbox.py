"""Tries to escape from the levels of confinement, and does everyday jobs in them.

Started by `cargo xtask prove sandbox`. Python 3.11, standard library only; Linux.

Each attempt is a script that ends with 0 if it succeeded. It runs at every level, as root (if the
proof does) and as a user without rights, in a separate home and project. A level that guarantees to
refuse the attempt must refuse it; for the other levels the table gives the reason. Without
confinement the attempt must succeed for at least one of the users, or it proves nothing.

Each job must work at `protect`, at `workspace-write` and without confinement, for each user. A job
is reported as not tried if a user lacks one of its programs; at least one user must have them. A
system without one of the levels proves nothing about it, so the proof fails there.
"""

import argparse
import concurrent.futures
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import needs

import samples
import sandbox_jobs
from sandbox_attempts import ATTEMPTS, service_address
from sandbox_jobs import JOBS

LEVELS = ("inspect", "workspace-write", "protect")
OTHER_USER = 54321
# Most of the time is spent waiting for programs to start.
AT_ONCE = 2 + (os.cpu_count() or 2)


def as_user(user):
    """Returns the prefix of a command that runs as this user."""
    if user is None:
        return []
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]


def given_to(user, folder):
    """Gives a folder to a user."""
    if user is not None:
        subprocess.run(["chown", "-R", f"{user}:{user}", folder], check=True)


class Place:
    """Home and project of one user, and a process of the same user outside every level."""

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
        given_to(user, self.folder)
        self.environment = {
            "HOME": str(self.folder / "home"),
            "PATH": os.environ["PATH"],
            "SECRET_IN_ENVIRONMENT": "SECRET",
        }
        self.victim = subprocess.Popen([*as_user(self.user), "sleep", "600"], env=self.environment, cwd=project)
        # A root process without capabilities: a process with capabilities may trace it unless
        # another mechanism prevents it.
        weak = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if user is None and os.geteuid() == 0 else []
        self.weak_victim = subprocess.Popen([*as_user(self.user), *weak, "sleep", "600"], env=self.environment, cwd=project)
        self.environment.pop("SECRET_IN_ENVIRONMENT")
        self.environment["WEAK_VICTIM"] = str(self.weak_victim.pid)
        self.environment["VICTIM"] = str(self.victim.pid)
        self.environment["SERVICE"] = str(service_address(self.folder))

    def run(self, binary, level, script):
        command = [*as_user(self.user), binary, "sandbox", "run", "--level", level, "--", "bash", "-c", script]
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
    """Returns true if the script succeeded."""
    place = Place(user)
    try:
        return place.run(binary, level, script).returncode == 0
    finally:
        place.close()


def levels_that_hold(binary):
    """Returns the levels that this system offers, and prints the reason for each missing one."""
    status = subprocess.run([binary, "sandbox", "status", "--json"], capture_output=True, check=True)
    found = {level["level"]: level for level in json.loads(status.stdout)["levels"]}
    for name in LEVELS:
        if not found[name]["holds"]:
            print(f"sandbox: {name} IS NOT TRIED here: {found[name]['reason']}")
    return [name for name in LEVELS if found[name]["holds"]]


def attempt_row(binary, users, levels, attempt):
    """Returns the results of an attempt, and the text to print."""
    works = any([tried(binary, user, "none", attempt.script) for user in users])
    results, row = [], []
    for level in levels:
        reached = any([tried(binary, user, level, attempt.script) for user in users])
        if level not in attempt.refused_at:
            result = "out of the promise"
        else:
            result = "escaped" if reached else "refused"
        results.append(result)
        row.append(f"{level}: {result}")
    if not works and attempt.must_work:
        results.append("proves nothing")
        row.append("none: PROVES NOTHING")
    return results, f"{'; '.join(row)}  {attempt.reason}".rstrip()


class Workshop:
    """Programs and fixtures of the jobs, for all users."""

    def __init__(self, binary, users, with_pytest):
        self.binary = binary
        self.users = users
        self.folder = Path(tempfile.mkdtemp(prefix="pollux-prove-", dir="/var/tmp"))
        os.chmod(self.folder, 0o755)
        self.template = self.folder / "template"
        # Wrapper scripts of version managers search for their programs in the user's home.
        path = [entry for entry in os.environ["PATH"].split(":") if "shims" not in entry]
        self.path = ":".join([*self.toolchain(), *path])
        self.make_template()
        self.libraries = self.folder / "libraries"
        if with_pytest:
            pip = ["python3", "-m", "pip", "install", "-q", "--target", self.libraries, "pytest"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(pip, env={**os.environ, "PATH": self.path}, capture_output=True, timeout=60)

    def toolchain(self):
        """Returns a folder of Rust's programs that all users can start: hard links, as it is
        large."""
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            found = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True)
            sysroot, target = Path(found.stdout.strip()), self.folder / "rust"
            for name in ("bin", "lib", "libexec"):
                if (sysroot / name).exists():
                    shutil.copytree(sysroot / name, target / name, copy_function=os.link, symlinks=True)
            return [str(target / "bin")]
        return []

    def make_template(self):
        """Creates the home, project and remote repository that each job gets a copy of."""
        caches = ("home/.cache", "home/.npm", "home/.cargo/registry", "home/.cargo/git")
        for name in (*caches, "home/.ssh", "home/.gemini", "project"):
            (self.template / name).mkdir(parents=True)
        (self.template / "home/.ssh/known_hosts").write_text("host\n")
        (self.template / "home/.bashrc").write_text("# mine\n")
        shutil.copy(Path(__file__).parent / "sandbox_services.py", self.template / "services.py")
        script = """
            git init -q -b main . && git config user.name A && git config user.email a@b
            for text in first second third; do echo $text >> file; git add file; git commit -qm $text; done
            git checkout -q -b topic HEAD~1 && echo x > topic-file && git add topic-file && git commit -qm topic
            git checkout -q main && git init -q --bare -b main ../remote.git && git remote add origin ../remote.git
            git push -q origin main topic && git fetch -q && git branch -q -D topic
            git config branch.main.remote origin && git config branch.main.merge refs/heads/main
        """
        environment = {"HOME": str(self.template / "home"), "PATH": self.path}
        subprocess.run(["bash", "-ec", script], cwd=self.template / "project", env=environment, check=True)

    def environment(self, place):
        return {
            "HOME": str(place / "home"),
            "PATH": self.path,
            "PLACE": str(place),
            "POLLUX": self.binary,
            "PYTHONPATH": str(self.libraries),
        }

    @functools.cache
    def lacks(self, user, program):
        """Returns true if the machine has no such program for this user."""
        check = "python3 -c 'import pytest'" if program == "pytest" else f"command -v {program}"
        environment = self.environment(self.folder)
        run = subprocess.run([*as_user(user), "bash", "-c", check], env=environment, cwd="/", capture_output=True)
        return run.returncode != 0

    def fault(self, user, level, job):
        """Does a job at a level. Returns the problem, if there is one."""
        place = Path(tempfile.mkdtemp(prefix="pollux-prove-", dir="/var/tmp"))
        try:
            subprocess.run(["cp", "-a", f"{self.template}/.", place], check=True)
            os.chmod(place, 0o755)
            given_to(user, place)
            words = ["sandbox", "run", "--level", level]
            words += ["--git-config"] if job.configures_git else []
            words += ["--network"] if job.network else []
            confined = [self.binary, *words, "--"]
            steps = [([], job.prepare), *((confined, line) for line in job.lines), ([], job.check)]
            for start, script in steps:
                run = subprocess.run(
                    [*as_user(user), *start, "bash", "-ec", script],
                    env=self.environment(place),
                    cwd=place / "project",
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=120,
                )
                message = run.stderr.decode(errors="replace").strip()
                if run.returncode != 0:
                    return f"{script}: exit code {run.returncode}: {message[-800:]}"
                if "reverted" in message or "moved to" in message:
                    return f"{script}: undone: {message[-800:]}"
            return None
        except subprocess.TimeoutExpired as late:
            return str(late)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def row(self, levels, job):
        """Returns the results of a job, and the text to print."""
        results, row, faults, tried_by, reasons = [], [], [], [], []
        for user in self.users:
            name = "another user" if user is not None else "root" if os.geteuid() == 0 else "this user"
            missing = [program for program in job.needs if self.lacks(user, program)]
            if missing:
                reasons.append(f"{name}: NOT TRIED, no {', '.join(missing)}")
                results.append("not tried")
            elif job.root_only and name != "root":
                reasons.append(f"{name}: no job, {job.root_only}")
            elif job.named_only and user is not None:
                reasons.append(f"{name}: no job, {job.named_only}")
            else:
                tried_by.append((user, name))
        # A job that some user tried is not missing: programs in the home of one are not for others.
        if not tried_by and "not tried" in results:
            results.append("tried by nobody")
        for level in (*levels, "none"):
            if level in job.except_at:
                row.append(f"{level}: no job, {job.except_at[level]}")
                continue
            found = [(name, self.fault(user, level, job)) for user, name in tried_by]
            broken = [f"    {level}, {name}: {fault}" for name, fault in found if fault]
            faults += broken
            if level == "none":
                results += ["proves nothing"] if broken else []
            elif found:
                results.append("fails" if broken else "works")
            if broken or (found and level != "none"):
                row.append(f"{level}: {'FAILS' if broken else 'works'}")
        return results, "\n".join(["; ".join(row + reasons), *faults])

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def counted(rows, width, kinds):
    """Prints rows as they arrive. Returns the number of results of each kind."""
    counts = dict.fromkeys(kinds, 0)
    for name, row in rows:
        results, shown = row.result()
        for result in results:
            counts[result] += 1
        print(f"{name:<{width}}  {shown}".rstrip(), flush=True)
    print(", ".join(f"{name}: {count}" for name, count in counts.items()), flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=lambda path: str(Path(path).resolve()))
    samples.add_options(parser, "attempts, and half as many jobs")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    needs.programs("sandbox", "bash", "git", "python3", "cp", "setpriv", "chown", "sleep")
    users = [None, OTHER_USER] if os.geteuid() == 0 else [None]
    levels = levels_that_hold(options.binary)
    missing = len(LEVELS) - len(levels)
    sample = samples.from_options(options)
    attempts = sample.of([attempt for attempt in ATTEMPTS if options.only in attempt.name])
    jobs = sample.of([job for job in JOBS if options.only in job.name], (sample.count + 1) // 2)
    print(f"sandbox: {sample}: {len(attempts)} attempts, {len(jobs)} jobs", flush=True)
    width = max((len(row.name) for row in (*attempts, *jobs)), default=0)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        rows = [(one.name, pool.submit(attempt_row, options.binary, users, levels, one)) for one in attempts]
        attempted = counted(rows, width, ("refused", "out of the promise", "escaped", "proves nothing"))
        if not jobs:
            return 1 if missing or attempted["escaped"] or attempted["proves nothing"] else 0
        with_pytest = any("pytest" in job.needs for job in jobs)
        with contextlib.closing(Workshop(options.binary, users, with_pytest)) as workshop:
            job_levels = [level for level in sandbox_jobs.LEVELS if level in levels]
            rows = [(job.name, pool.submit(workshop.row, job_levels, job)) for job in jobs]
            done = counted(rows, width, ("works", "fails", "not tried", "tried by nobody", "proves nothing"))
    failed = sum(counts[kind] for counts in (attempted, done) for kind in ("escaped", "fails", "tried by nobody", "proves nothing") if kind in counts)
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
