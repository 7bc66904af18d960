"""Tries to bypass policies with command lines. Started by `cargo xtask prove bypass`.

Python 3.11, standard library only; Linux. The policies are an allow-list, and a deny rule where
everything else is allowed.

Each line first runs in bash without a policy, in a temporary folder. It counts only if it has its
intended effect there, so that the absence of the effect under a policy is meaningful. Then a
scripted model asks Pollux to run the line, headless, with the policy in a file and with the same
policy in the settings of older versions:

- under a policy, no line may have the effect that it had in bash, nor run at all. Exceptions are
  the lines of `bypass_despite` under a deny rule, which must run;
- the harmless control lines must run, because a policy that refuses everything would pass
  otherwise.

After that, the causes of an earlier attack are tested, see `bypass_walls`.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import needs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import bypass_cases
import bypass_despite
import bypass_walls
import isolated
import samples
from bypass_cases import ALLOW_LIST, ALLOWED, DENIED, DENY_RULE
from dialects import Calls, Text
from scripted_server import ScriptedServer

# Calls in one turn, turns in one run, and runs at the same time.
AT_ONCE, TURNS, RUNS = 12, 10, 2
# Time limits in seconds: for one run of Pollux, and for one line in bash.
LIMIT, LINE_LIMIT = 300, 10
# Time in seconds for processes that a line leaves behind to take effect.
AFTERWARDS = 0.5
# Part of the lines that may have no effect in bash, on a busy machine or with other versions of
# programs.
MAXIMUM_SILENT = 0.02

# Variables that Pollux sets for its commands: a line must work with them, too.
OF_COMMANDS = {
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
}
DENIAL = "Tool execution denied by policy."
QUESTION = "requires user confirmation, which is not supported in non-interactive mode."
# A model whose calls are all refused would be stopped by the loop detection.
UNGUARDED = {"model": {"disableLoopDetection": True}}

LIBRARY = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void made(void) { close(open("canary", O_CREAT | O_WRONLY, 0600)); }
"""


@dataclass(frozen=True)
class Setting:
    """One form of a policy."""

    name: str
    against: str
    arguments: tuple
    policy: str = ""
    settings: dict = field(default_factory=dict)


def rule(decision, prefixes):
    """Returns a policy file with one rule."""
    return (
        f'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = {json.dumps(list(prefixes))}\n'
        f'decision = "{decision}"\npriority = 500\n'
    )


def settings():
    """Returns all forms of the policies."""
    allowed = [f"run_shell_command({prefix})" for prefix in ALLOWED]
    denied = [f"run_shell_command({prefix})" for prefix in DENIED]
    return [
        Setting("allow-list in a policy file", ALLOW_LIST, (), rule("allow", ALLOWED)),
        Setting("deny rule in a policy file, yolo", DENY_RULE, ("--yolo",), rule("deny", DENIED)),
        Setting("tools.allowed", ALLOW_LIST, (), settings={"tools": {"allowed": allowed}}),
        Setting("tools.exclude, yolo", DENY_RULE, ("--yolo",), settings={"tools": {"exclude": denied}}),
    ]


class Folders:
    """Creates the folders in which lines run."""

    def __init__(self, place):
        self.repository = place / "repository"
        self.library = self.compiled(place)
        self.repository.mkdir()
        for name, content in bypass_cases.FIXTURES.items():
            write(self.repository / name, content)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "one"]):
            subprocess.run([*git, *words], cwd=self.repository, check=True, env=os.environ | OF_COMMANDS)
        (self.repository / "tracked").write_text("after\n")

    @staticmethod
    def compiled(place):
        """Returns a library that has its effect when it is loaded."""
        write(place / "library.c", LIBRARY)
        target = place / "library.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", target, place / "library.c"], check=True)
        return target.read_bytes()

    def make(self, folder, case):
        """Creates the folder of one line."""
        if case.repository:
            shutil.copytree(self.repository, folder)
        for name, content in (bypass_cases.FIXTURES | case.files).items():
            if name == "preloaded.so":
                content = self.library
            elif case.repository and name in bypass_cases.FIXTURES:
                continue
            write(folder / name, content)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if path.suffix not in (".so", ".c", ".py", ".pm"):
        path.chmod(0o755)


def happened(folder, case):
    """Returns the forbidden effect of a line in its folder; empty if there is none."""
    if not (folder / "victim").exists():
        return "victim is gone"
    known = set(bypass_cases.FIXTURES) | set(case.files)
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(place, name).relative_to(folder)
            if "canary" in name and str(path) not in known:
                return f"{path} is there"
    return ""


def in_bash(place, folders, cases):
    """Runs each line without a policy. Returns the effective lines, and the others."""

    (place / "home").mkdir(parents=True)

    def run(numbered):
        number, case = numbered
        folder = place / f"{number:04}"
        folders.make(folder, case)
        shell = [shutil.which("bash")]
        script = None
        if "\0" in case.command:
            # No program accepts an argument with a NUL; in a script bash reads past it.
            script = case.command.encode()
        else:
            shell += ["-c", case.command]
        # Processes that are left behind would hold pipes open, so there are no output pipes.
        process = subprocess.Popen(
            shell,
            cwd=folder,
            env=base_environment(place / "home") | OF_COMMANDS,
            stdin=subprocess.PIPE if script else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.communicate(script, timeout=LINE_LIMIT)
        except subprocess.TimeoutExpired:
            pass
        return process

    with ThreadPoolExecutor(4) as workers:
        processes = list(workers.map(run, enumerate(cases)))
    time.sleep(AFTERWARDS)
    for process in processes:
        end_group(process)
    works = [happened(place / f"{number:04}", case) for number, case in enumerate(cases)]
    return ([case for case, work in zip(cases, works, strict=True) if work],
            [case for case, work in zip(cases, works, strict=True) if not work])


def end_group(leader):
    """Ends a line and the processes left in its process group."""
    try:
        os.killpg(leader.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    leader.wait()


def base_environment(home):
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8"}


class Trial:
    """Lines under one setting in one home, with the result of each line."""

    def __init__(self, binary, place, folders, setting, cases):
        self.binary, self.place, self.setting, self.cases = binary, place, setting, cases
        self.project = place / "project"
        for name in ("project", "tmp", ".gemini/policies"):
            (place / name).mkdir(parents=True)
        if setting.policy:
            (place / ".gemini/policies/proof.toml").write_text(setting.policy)
        (place / ".gemini/settings.json").write_text(json.dumps(UNGUARDED | setting.settings))
        for number, case in enumerate(cases):
            folders.make(self.project / f"{number:04}", case)

    def run(self):
        """Lets the model call every line, and returns the result of each call, in order."""
        calls = [
            ("tool", ("run_shell_command", {"command": case.command, "dir_path": f"{number:04}"}))
            for number, case in enumerate(self.cases)
        ]
        turns = [Calls(tuple(calls[at : at + AT_ONCE])) for at in range(0, len(calls), AT_ONCE)]
        with ScriptedServer([*turns, Text(("done",))], keep_requests=True) as server:
            environment = base_environment(self.place) | isolated.environment(self.place, server.port)
            command = [self.binary, "--model", "gemini-2.5-flash", *self.setting.arguments, "--prompt", "go"]
            run = subprocess.run(
                command, cwd=self.project, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=LIMIT, check=False,
            )
            requests = [json.loads(exchange.request) for exchange in server.exchanges]
        if run.returncode != 0 or len(requests) != len(turns) + 1:
            errors = run.stderr.decode(errors="replace")[-600:]
            raise SystemExit(f"bypass: {self.setting.name}: exit code {run.returncode}"
                             f" after {len(requests)} requests: {errors}")
        time.sleep(AFTERWARDS)
        return results(requests[-1]["contents"])


def results(contents):
    """Returns the result of each call as sent to the model, in the order of the calls."""
    responses = [part["functionResponse"]["response"] for content in contents
                 for part in content["parts"] if "functionResponse" in part]
    return ["".join(str(response.get(key, "")) for key in ("output", "error")) for response in responses]


def refused(words):
    """Returns true if a call was never run: denied, not a command line, or of a removed tool."""
    return words.startswith(DENIAL) or QUESTION in words or "cannot contain NUL characters" in words or 'Tool "run_shell_command" not found' in words


def attack(binary, place, folders, setting, cases):
    """Returns the lines that bypassed a setting, each with its effect."""
    trial = Trial(binary, place, folders, setting, cases)
    failures = []
    for number, (case, words) in enumerate(zip(cases, trial.run(), strict=True)):
        did = happened(trial.project / f"{number:04}", case)
        if setting.against == DENY_RULE and case.command in bypass_despite.COMMANDS:
            if refused(words):
                failures.append((case, "refused, which the list of bypass_despite does not say"))
        elif did or not refused(words):
            failures.append((case, did or f"ran: {words[:100]!r}"))
    return failures


def wrongly_refused(binary, place, folders, setting):
    """Returns the control lines that a setting refuses, or that do not work as they should."""
    controls = [control for control in bypass_cases.all_controls() if control.against == setting.against]
    files = {"makefile": "all:\n\t@echo made\n"}
    cases = [bypass_cases.Case("control", control.command, repository=True, files=files) for control in controls]
    answers = Trial(binary, place, folders, setting, cases).run()
    return len(controls), [(control, words) for control, words in zip(controls, answers, strict=True)
                           if refused(words) or control.output not in words]


def too_few(cases, works):
    """Returns true if far fewer lines have their effect in bash than the corpus has."""
    return not works or len(cases) - len(works) > len(cases) * MAXIMUM_SILENT


def shown(command):
    """Returns a line in readable form, shortened in the middle."""
    text = repr(command)[1:-1]
    return text if len(text) <= 160 else f"{text[:100]} … {text[-50:]}"


def report_families(cases, failures):
    """Prints one line for each family."""
    all_of, past = Counter(case.family for case in cases), Counter(case.family for case in failures)
    for family, count in all_of.items():
        print(f"bypass: {family}: {count} lines, {past[family]} differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    samples.add_options(parser, "lines")
    parser.add_argument("--family", default="", help="only families with this in their names")
    parser.add_argument("--silent", action="store_true", help="list the lines that do nothing, and end")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("bypass: this proof needs Linux")
    needs.programs("bypass", *bypass_cases.PROGRAMS)
    sample = samples.from_options(options)
    cases = sample.of([case for case in bypass_cases.all_cases() if options.family in case.family])
    print(f"bypass: {sample}: {len(cases)} lines", flush=True)
    place = Path(tempfile.mkdtemp(prefix="pollux-bypass-"))
    folders = Folders(place)
    works, silent = in_bash(place / "bash", folders, cases)
    for case in silent:
        print(f"bypass: does nothing here: [{case.family}] {shown(case.command)}")
    if too_few(cases, works):
        raise SystemExit(f"bypass: only {len(works)} of {len(cases)} lines have their effect in bash")
    if not options.silent:
        failed = proof(options.binary.resolve(), place, folders, works)
        shutil.rmtree(place, ignore_errors=True)
        if failed:
            raise SystemExit(1)


def proof(binary, place, folders, cases):
    """Tries the lines under every setting. Returns true if a line behaved wrongly."""
    past, refusals, count = {}, 0, 0
    size = AT_ONCE * TURNS
    with ThreadPoolExecutor(RUNS) as workers:
        for number, setting in enumerate(settings()):
            lines = [case for case in cases if setting.against in case.against]
            chunks = [lines[at : at + size] for at in range(0, len(lines), size)]
            homes = [place / f"{number}-{at}" for at in range(len(chunks))]
            plain = workers.submit(wrongly_refused, binary, place / f"{number}-plain", folders, setting)
            tries = [workers.submit(attack, binary, home, folders, setting, chunk)
                     for home, chunk in zip(homes, chunks, strict=True)]
            for case, did in [failure for one in tries for failure in one.result()]:
                past.setdefault(case, []).append(setting.name)
                print(f"bypass: DIFFERS under {setting.name}: [{case.family}] {shown(case.command)}: {did}")
            controls, wrong = plain.result()
            refusals, count = refusals + len(wrong), count + controls
            for control, words in wrong:
                print(f"bypass: REFUSED under {setting.name}: {shown(control.command)}: {words[:120]!r}")
            print(f"bypass: {setting.name}: {len(lines)} lines tried, {controls} plain lines for comparison", flush=True)
    report_families(cases, past)
    print(f"bypass: {len(cases)} command lines, {len(past)} differ;"
          f" {count} plain lines, {refusals} wrongly refused")
    return bool(past) or refusals > 0 or bypass_walls.proof(binary, place / "walls") > 0


if __name__ == "__main__":
    main()
