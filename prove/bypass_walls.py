"""The causes of an attack on an earlier version, each in at least five variants.

A line counts as held if Pollux asks about it or denies it, or if it may run only at `inspect` and
changes nothing there. In the last case the line is run at that level, in a folder with everything
that it needs, and the folder and the home are compared with their state before.

Each entry has the cause, the rules (prefixes that are allowed, or denied in yolo mode), the mode,
and the lines."""

import hashlib
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ASKED = ("ask_user", "deny")

# Cause, allowed prefixes, denied prefixes, mode, lines.
CAUSES = (
    ("a closed descriptor that is read as a file", (), (), "default", (
        "<&-eval ls '; touch canary'", "<& -eval ls '; touch canary'", "3<&-rm ls -rf src", "$(<&-touch ls)",
        "<&-'eval' ls '; touch canary'", "<\\\n&-eval ls '; touch canary'", ">&-eval ls '; touch canary'",
        "2>&-touch canary", "ls <&-; <&-touch ls",
    )),
    ("a closed descriptor behind a rule", ("git status", "git log"), (), "default", (
        "<&-eval git status '; touch canary'", "git log <&---output=canary", "git status <&-;<&-touch git status",
        "git log 0<&---output=canary", "git status >&- <&-eval git status",
    )),
    ("a closed descriptor before a denied command", (), ("rm", "touch"), "yolo", (
        "<&-rm ls -rf src", "<&-touch ls", "<& -touch ls", ">&-touch ls", "3<&-rm ls -rf src", "ls; <&-touch ls",
    )),
    ("a closed descriptor in auto_edit", (), (), "auto_edit", (
        ">&-eval ls '; touch canary'", "<&-eval ls '; touch canary'", ">& -eval ls '; touch canary'",
        "echo a >&-; >&-eval ls '; touch canary'", "2>&-eval ls '; touch canary'",
    )),
    ("a redirection with a name and a subscript", (), (), "default", (
        "echo x {a['$(touch canary)']}</dev/null", "ls {a[$(touch canary)]}>/dev/null",
        "echo {x[0]}</dev/null", "cat words {b['`touch canary`']}</dev/null", "echo x {a['x']}>&1",
    )),
    ("variables that are set without an assignment", (), (), "default", (
        "echo $((PATH=1)); ls", "((PATH=1)); ls", "[[ PATH=1 -eq 1 ]]; ls", "x[PATH=1]=2; ls",
        "for ((;PATH=0;)); do ls; done", "echo \"$((PATH=1))\"; ls", "echo x {PATH}</dev/null; ls",
        "echo x {PATH}>/dev/null; ls", "echo x {PATH}>&1; ls", "echo $((GIT_CONFIG_GLOBAL=1)); git diff",
        "echo $((GIT_CONFIG_COUNT=0)); git status", "echo $((CDPATH=1)); cd a && ls", "echo $((GIT_DIR=1)); git log",
    )),
    ("commands that only read, and write", (), (), "default", (
        "echo 'touch canary' | uniq - ~/.bashrc", "uniq -- -i out", "uniq words canary",
        "command time -a -o ~/.bashrc -f 'touch x' true", "\\time -o canary true", "env time -o canary true",
        "nice time -o canary true", "nohup ls", "sort -o canary words", "cat words | tee canary",
    )),
    ("the device that means no configuration", (), (), "default", (
        "git config --global user.name x", "git config --system user.name x", "git config -f canary a.b c",
        "GIT_CONFIG_GLOBAL=x git config --global a.b c", "env git config --global a.b c",
    )),
    ("options of wrappers before git", (), (), "default", (
        "env -C bare git diff --no-index x y", "env --chdir=bare git diff --no-index x y",
        "env -u GIT_CONFIG_COUNT git status", "env -i git status", "env -u GIT_CONFIG_GLOBAL git diff",
        "env - git status",
    )),
    ("folders that are not followed", (), (), "default", (
        "for i in 1 2; do cd a; done; git diff", "f(){ cd a; }; f; f; git diff", "while [ -d a ]; do cd a; done; git diff",
        "cd link/../evil; git diff", "cd a; cd a; git diff --no-index x y", "pushd a; git diff", "cd a && cd a && git diff",
    )),
    ("configuration that git follows, by looking", (), (), "default", (
        "cd hostile && git status", "cd hostile && git diff", "cd hostile && git log -p", "cd hostile && git show",
        "git -C hostile diff", "git -C hostile status --short", "cd bare.git && git diff --no-index ../words ../victim",
    )),
    ("a bare repository that auto_edit writes", (), (), "auto_edit", (
        "echo '[core]bare = true' > sub/config; cd sub; git diff --no-index a b",
        "echo x > x/HEAD && cd x && git diff", "echo a > hostile/.git/config; git -C hostile diff",
        "echo $((GIT_CONFIG_GLOBAL=1)); git diff --no-index a b", "printf x > .git/config; git diff",
    )),
    ("a rule for git", ("git",), (), "default", (
        "git config diff.external 'touch canary' get && git diff", "git config remote.x.url 'ext::sh -c touch% canary' get",
        "git config protocol.ext.allow always get", "git config -f ~/.bashrc user.name '`touch canary`'",
        "git -C . bisect run touch canary", "git -C . submodule foreach 'touch canary'",
        "git --namespace n bisect run touch canary", "git rebase -qx 'touch canary' HEAD~1",
        "git clone -qc filter.x.smudge=touch . ../n", "git grep -lO'touch canary;true' one",
        "git ls-remote --u='touch canary;git-upload-pack' .", "git clone --u='touch canary' . x",
        "git push --e='touch canary' . x", "git -c alias.x='!touch canary' x", "git archive -o canary HEAD",
        "git format-patch -o /tmp HEAD~1", "git bundle create ../canary HEAD", "git checkout-index --prefix=../x/ -a",
    )),
    ("a rule for git log", ("git log", "git rebase", "git grep", "echo"), (), "default", (
        "x=--output=canary; git log -m \"$x\"", "git log -m \"$x\"", "git log --output=canary", "git log --outp canary",
        "git rebase -m \"$(echo --exec='touch canary')\" HEAD~1", "git grep -F \"$(echo -O'touch canary;true')\" one",
        "git log $(echo --output=canary)",
    )),
    ("a rule for sed -n", ("sed -n",), (), "default", (
        "sed -n --e='1e touch canary' <f", "sed -n -e '1e touch canary' --sandbox f", "sed -n --l 5 '1e touch canary' f",
        "sed -n ':a e touch canary' f", "sed -n $'1a foo\\\\\\ne touch canary' f", "sed -n -i '1i evil' ~/f",
        "sed -n '1w canary' words", "sed -n 's/a/b/e' words",
    )),
    ("a rule for awk", ("awk",), (), "default", (
        "awk 'BEGIN{print \"x\",\n\"y\" > \"canary\"}'", "awk 'i++ /x; system(\"touch canary\") /1' words",
        "awk 'BEGIN{print \"x\" \\\n> \"canary\"}'", "awk 'BEGIN{system(\"touch canary\")}'", "awk -f words",
        "awk 'BEGIN { \"touch canary\" | getline }'",
    )),
    ("rules for other programs",
     ("tar", "sort", "split", "sqlite3", "gcc", "npm test", "npm", "shuf", "curl", "wget", "diff3", "sdiff", "iconv",
      "ssh", "ed", "vim", "cargo", "rsync", "psql", "tree", "make", "cp", "rm"), (), "default", (
        "tar cIf ./x /dev/null f", "tar cf x --checkpoint-action=exec=./x f", "sort --o=canary f", "sort -o canary f",
        "split --f='touch canary' f", "sqlite3 x '.shell touch canary'", "gcc --prefix=./ -c f.c", "gcc @opts",
        "npm test -C evil", "npm test --userconfig=rc", "npm --loglevel silent exec x", "npm exe x", "npm c set x y",
        "shuf -o canary f", "curl --etag-save canary http://h", "curl --hsts canary http://h", "curl -K f",
        "wget -o canary http://h", "wget -a canary http://h", "diff3 --diff-program=./x a b c",
        "sdiff --diff-program=./x a b", "iconv -o canary f", "ssh -E canary h", "ssh -o ProxyCommand=./x h",
        "echo '!touch canary' | ed -s f", "vim -c '!touch canary' f", "cargo +/tmp/x build", "cargo --config x build",
        "rsync --log-file=canary a b", "rsync -e ./x a b", "psql -o canary", "tree -o canary", "make a SHELL=./x",
        "make --eval=x", "cp a b --target-directory=x", "rm -rf src",
    )),
    ("commands of one script that share a text", ("bash", "git status", "flock", "git log", "watch"), (), "default", (
        "bash -c 'git status; git x'", "bash -c 'git status; git -c a.b=c status'", "flock l -c 'git log; git push x'",
        "watch 'git log; git push x'", "bash -c 'git status\ngit x'", "sh -c 'git status; touch canary'",
    )),
    ("wrappers and cases before a denied command", (), ("touch", "git tag"), "yolo", (
        "ssh-agent touch X", "sg root -c 'touch X'", "logsave /dev/null touch X", "newgrp root <<< 'touch X'",
        "ed -s <<< '!touch X'", "python3 <<< 'touch'", "tclsh <<< 'touch X'", "git -c alias.x='!to\"\"uch X' x",
        "PowerShell.exe -command 'touch X'", "CMD.EXE /C touch X", "PWSH -Command touch X", "TOUCH X",
    )),
)


def proof(binary, place):
    """Tries every line. Returns the number of lines that are not held."""
    place.mkdir(parents=True)
    differ = count = 0
    for number, (cause, allowed, denied, mode, lines) in enumerate(CAUSES):
        home = place / f"{number:02}"
        make_home(home, allowed, denied)
        with ThreadPoolExecutor(2) as workers:
            for line, found in zip(lines, workers.map(lambda line: tried(binary, home, mode, line), lines), strict=True):
                if found:
                    differ += 1
                    print(f"bypass: NOT HELD: [{cause}] {line!r}: {found}")
        count += len(lines)
    print(f"bypass: {len(CAUSES)} causes of the attack in {count} lines, {differ} not held", flush=True)
    return differ


def make_home(home, allowed, denied):
    policies = home / ".gemini/policies"
    policies.mkdir(parents=True)
    (home / ".bashrc").write_text("# mine\n")
    for name, decision, prefixes in (("allow", "allow", allowed), ("deny", "deny", denied)):
        if prefixes:
            (policies / f"{name}.toml").write_text(
                f'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = {json.dumps(list(prefixes))}\n'
                f'decision = "{decision}"\npriority = 500\n')


def make_project(folder):
    """Creates the files that the lines name, and repositories whose configuration starts
    programs."""
    for name in ("a/a", "evil", "sub", "src", "x"):
        (folder / name).mkdir(parents=True)
    for name in ("words", "victim", "f", "a/x", "a/y", "f.c", "src/keep"):
        (folder / name).write_text("one\ntwo\n")
    (folder / "link").symlink_to("a/a")
    # Folders that a number in a search path may refer to.
    for number in (*range(2), *range(10, 16)):
        program = folder / str(number) / "ls"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n/bin/touch canary\n")
        program.chmod(0o755)
    hostile = folder / "hostile"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "--quiet", hostile], check=True)
    (hostile / "a.txt").write_text("one\n")
    (hostile / ".gitattributes").write_text("*.txt diff=x filter=x\n")
    subprocess.run([*git, "add", "."], cwd=hostile, check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "one"], cwd=hostile, check=True)
    (hostile / "a.txt").write_text("two\n")
    evil = f"touch {folder}/canary; cat"
    with (hostile / ".git/config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "{evil}"\n[diff]\n\texternal = "{evil}"\n[diff "x"]\n'
                     f'\ttextconv = "{evil}"\n[filter "x"]\n\tclean = "{evil}"\n\tsmudge = "{evil}"\n')
    subprocess.run(["git", "init", "--quiet", "--bare", folder / "bare.git"], check=True)
    with (folder / "bare.git/config").open("a") as config:
        config.write(f'[diff]\n\texternal = "{evil}"\n')


def tried(binary, home, mode, line):
    """Returns the error in the outcome of a line; empty if the line is held."""
    folder = home / "projects" / hashlib.sha256(line.encode()).hexdigest()[:12]
    folder.mkdir(parents=True)
    make_project(folder)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def pollux(*arguments):
        return subprocess.run([binary, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)

    said = pollux("policy", "explain", line, "--mode", mode, "--json")
    if said.returncode != 0:
        return f"policy explain ended with {said.returncode}: {said.stderr.decode(errors='replace')[:200]}"
    verdict = json.loads(said.stdout)["interactive"]
    if verdict["decision"] in ASKED:
        return ""
    if verdict["confinement"] != "inspect":
        return f"runs at {verdict['confinement']}"
    before = snapshot(home)
    pollux("sandbox", "run", "--level", "inspect", "--", "bash", "-c", line)
    changed = [path for path in snapshot(home) ^ before if "/projects/" not in path[0] or str(folder) in path[0]]
    return f"changed at inspect: {sorted(changed)[:3]}" if changed else ""


def snapshot(folder):
    """Returns every file below a folder, with its content, except the state of Pollux."""
    found = set()
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("pollux", "tmp", "history", "projects")
                      or place != f"{folder}/.gemini"]
        for name in files:
            path = Path(place, name)
            # Other lines run at the same time and register their projects, by a temporary file.
            is_registry = name == "projects.json" or name.startswith(".pollux-")
            if place == f"{folder}/.gemini" and is_registry:
                continue
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found.add((str(path), hashlib.sha256(content).hexdigest()))
    return found


if __name__ == "__main__":
    import sys
    import tempfile

    where = Path(tempfile.mkdtemp(prefix="pollux-walls-"))
    failed = proof(Path(sys.argv[1]).resolve(), where / "walls")
    shutil.rmtree(where, ignore_errors=True)
    raise SystemExit(1 if failed else 0)
