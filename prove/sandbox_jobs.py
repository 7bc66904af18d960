"""Everyday jobs of `sandbox.py`, as data. They must work at `protect` and at `workspace-write`."""

from dataclasses import dataclass, field

LEVELS = ("protect", "workspace-write")

ROOT = "only root may do it"
OUTSIDE = "it writes outside of the workspace"
NAMED = "it needs an entry in the list of users"


@dataclass(frozen=True)
class Job:
    """Command lines that each end with 0 if the job works. They run in the project of a separate
    home."""

    name: str
    # Each line is one command: processes that one line leaves running are seen by the next line.
    lines: tuple
    # Commands before and after the job, without confinement, in the same folder.
    prepare: str = ""
    check: str = ""
    # Programs that the machine must have.
    needs: tuple = ("git",)
    # True if the tables of programs list the command as changing a repository's configuration.
    configures_git: bool = False
    # True if the job needs the setting `tools.sandboxNetworkAccess` at workspace-write.
    network: bool = False
    # Levels at which the job is not tried, with the reason.
    except_at: dict = field(default_factory=dict)
    # Reason for which only root can do the job.
    root_only: str = ""
    # Reason for which a user without an entry in the list of users cannot do the job.
    named_only: str = ""


def git(name, *lines, **more):
    return Job(name, lines, **more)


def configures(name, *lines, **more):
    return Job(name, lines, configures_git=True, **more)


def job(name, needs, *lines, **more):
    return Job(name, lines, needs=tuple(needs.split()), **more)


def serve(kind, line):
    """Returns a line with a service that ends together with the line."""
    wait = "until test -e port; do sleep 0.05; done"
    return (
        f"python3 $PLACE/services.py {kind} port > /dev/null 2>&1 & server=$!; trap 'kill $server' EXIT; "
        f"{wait}; PORT=$(cat port); {line}"
    )


CRATE = """
mkdir src && printf '[package]\\nname = "one"\\nversion = "0.1.0"\\nedition = "2021"\\n' > Cargo.toml
printf 'fn main() { println!("{}", 1); }\\n#[test]\\nfn one() {}\\n' > src/main.rs
"""
BUILD_SCRIPT = """
cat > build.rs <<'END'
fn main() {
    let folder = std::env::var("OUT_DIR").unwrap();
    std::fs::write(format!("{folder}/two.rs"), "2").unwrap();
}
END
echo 'fn main() { println!("{}", include!(concat!(env!("OUT_DIR"), "/two.rs"))); }' > src/main.rs
"""
# A dependency from a repository on this machine, which fills the caches of Cargo.
GIT_DEPENDENCY = """
mkdir -p ../other/src && printf '[package]\\nname = "other"\\nversion = "0.1.0"\\n' > ../other/Cargo.toml
echo 'pub fn two() -> u8 { 2 }' > ../other/src/lib.rs
git -C ../other init -q && git -C ../other add -A
git -C ../other -c user.name=A -c user.email=a@b commit -qm x
printf '[dependencies]\\nother = { git = "file://%s/other" }\\n' "$PLACE" >> Cargo.toml
echo 'fn main() { println!("{}", other::two()); }' > src/main.rs
"""
NODE_PROJECT = """
echo '{"name": "p", "version": "1.0.0", "scripts": {"hello": "node hello.js > out"}}' > package.json
echo 'console.log("hello")' > hello.js
"""
# A package with its own build backend, so that nothing is downloaded.
PYTHON_PACKAGE = """
mkdir package && cat > package/pyproject.toml <<'END'
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "three"
version = "1.0"
END
cat > package/backend.py <<'END'
import zipfile
def build_wheel(folder, settings=None, metadata=None):
    name = "three-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("three.py", "value = 3\\n")
        wheel.writestr("three-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: three\\nVersion: 1.0\\n")
        wheel.writestr("three-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("three-1.0.dist-info/RECORD", "")
    return name
END
"""
PYTHON_TEST = "printf 'import unittest\\nclass T(unittest.TestCase):\\n def test(self):\\n  pass\\n' > test_one.py"
PIP = "python3 -m pip --disable-pip-version-check"
INSIDE = "git init -q --bare inside.git && git remote add inside ./inside.git && git commit -q --allow-empty -m x"
TOPIC = "git branch -q topic origin/topic"

JOBS = [
    # Git.
    configures("git init", "git init -q", prepare="rm -rf .git", check="test -f .git/config && test -d .git/refs"),
    configures("git init of a new folder", "git init -q new && git -C new config user.name B", check="grep B new/.git/config"),
    configures("git clone of a local path", "git clone -q $PLACE/remote.git copy", check="grep remote.git copy/.git/config && test -f copy/file"),
    git("git add and commit", "echo x > new && git add new && git commit -qm new", check="git log -1 --format=%s | grep -x new"),
    git("git commit --amend", "git commit -q --amend -m other", check="git log -1 --format=%s | grep -x other"),
    configures("git checkout -b x --track origin/main", "git checkout -q -b x --track origin/main", check="git config branch.x.merge"),
    configures("git switch", "git switch -q -c y && git switch -q -", check="git rev-parse y"),
    git("git checkout of a file", "echo x > file && git checkout -q -- file", check="git diff --quiet"),
    configures("git branch -d", "git branch -q -d topic", prepare=TOPIC, check="! git rev-parse -q --verify topic && ! git config branch.topic.merge"),
    configures("git push -u", "git push -q -u inside main", prepare=INSIDE, check="git config branch.main.remote | grep -x inside && git --git-dir=inside.git log -1 --format=%s main | grep -x x"),
    configures("git push -u to a remote next to the project", "git push -q -u origin main", prepare="git commit -q --allow-empty -m x && git config --unset branch.main.merge", check="git config branch.main.merge && git --git-dir=$PLACE/remote.git log -1 --format=%s main | grep -x x", except_at={"workspace-write": OUTSIDE}),
    git("git fetch", "git fetch -q", prepare="git update-ref -d refs/remotes/origin/topic", check="git rev-parse origin/topic"),
    git("git pull", "git pull -q", prepare="git reset -q --hard HEAD~1", check="test $(git rev-parse HEAD) = $(git rev-parse origin/main)"),
    configures("git remote add", "git remote add other $PLACE/remote.git", check="git config remote.other.url"),
    configures("git submodule add", "git -c protocol.file.allow=always submodule --quiet add $PLACE/remote.git sub", check="test -f sub/file && test -f .git/modules/sub/config && git config submodule.sub.url"),
    configures("git submodule update", "git -c protocol.file.allow=always submodule --quiet update --init", prepare="git -c protocol.file.allow=always submodule --quiet add $PLACE/remote.git sub && git commit -qm sub && git submodule --quiet deinit -f sub", check="test -f sub/file"),
    configures("git worktree add", "git worktree add -q tree -b z && echo x > tree/new && git -C tree add new && git -C tree commit -qm tree", check="git log -1 --format=%s z | grep -x tree"),
    configures("git worktree remove", "git worktree remove tree", prepare="git worktree add -q tree -b z", check="test ! -e tree"),
    git("git commit in a worktree", "cd tree && echo x > new && git add new && git commit -qm tree", prepare="git worktree add -q tree -b z", check="git log -1 --format=%s z | grep -x tree"),
    git("git stash and pop", "echo x >> file && git stash -q && git diff --quiet && git stash pop -q", check="! git diff --quiet"),
    git("git rebase", "git rebase -q main topic", prepare=TOPIC, check="test $(git merge-base main topic) = $(git rev-parse main)"),
    git("git rebase -i", "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -q -i HEAD~2", check="test $(git rev-list --count HEAD) = 2"),
    git("git merge", "git merge -q -m merged topic", prepare=TOPIC, check="git log -1 --format=%s | grep -x merged"),
    git("git tag", "git tag v1 && git tag -a -m x v2", check="git rev-parse v1 v2"),
    git("git cherry-pick", "git cherry-pick topic > /dev/null", prepare=TOPIC, check="test -f topic-file"),
    git("git revert", "git revert --no-edit HEAD > /dev/null", check="git log -1 --format=%s | grep -i revert"),
    git("git bisect run", "git bisect start HEAD HEAD~2 > /dev/null && git bisect run sh -c '! grep -q second file' > out && git bisect reset 2> /dev/null", check="grep -q 'first bad commit' out"),
    configures("git config user.name", "git config user.name B", check="git config user.name | grep -x B"),
    git("git gc", "git gc -q --prune=now", check="ls .git/objects/pack/*.pack"),
    git("git apply and am", "git format-patch -q -1 -o patches && git reset -q --hard HEAD~1 && git apply --check patches/*.patch && git am -q patches/*.patch", check="git log -1 --format=%s | grep -x third"),
    git("git mv, rm, restore, clean", "git mv file moved && git rm -q --cached moved && git restore --staged . && git clean -qfdx && git restore file", check="git diff --quiet && test ! -e moved"),
    # Builds.
    job("cargo build", "cargo cc", "cargo build -q --offline && target/debug/one > out", prepare=CRATE, check="grep -x 1 out"),
    job("cargo build with a build script", "cargo cc", "cargo build -q --offline && target/debug/one > out", prepare=CRATE + BUILD_SCRIPT, check="grep -x 2 out"),
    job("cargo build with a dependency of Git", "cargo cc git", "cargo build -q && target/debug/one > out", prepare=CRATE + GIT_DEPENDENCY, check="grep -x 2 out"),
    job("cargo test", "cargo cc", "cargo test -q --offline > out", prepare=CRATE, check="grep '1 passed' out"),
    job("npm install from a registry", "npm python3", serve("packages", "npm install --silent --no-audit --no-fund --registry http://127.0.0.1:$PORT three"), prepare=NODE_PROJECT, check="grep 3 node_modules/three/index.js", network=True),
    job("npm run", "npm", "npm run --silent hello", prepare=NODE_PROJECT, check="grep -x hello out"),
    job("node", "node", "node -e 'require(\"fs\").writeFileSync(\"out\", \"1\")'", check="test -s out"),
    job("python3 -m venv", "python3", "python3 -m venv .venv && .venv/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'", check="test -x .venv/bin/pip"),
    job("pip install of a folder", "python3", f"{PIP} install -q --no-index --no-build-isolation --target packages ./package && PYTHONPATH=packages python3 -c 'import three'", prepare=PYTHON_PACKAGE, check="test -f packages/three.py"),
    job("pip install from an address", "python3", serve("files", f"{PIP} install -q --no-index --find-links http://127.0.0.1:$PORT/index.html --target packages three"), prepare=PYTHON_PACKAGE + "cd package && python3 -c 'import backend; backend.build_wheel(\"..\")' && cd .. && echo '<a href=three-1.0-py3-none-any.whl>three</a>' > index.html", check="test -f packages/three.py", network=True),
    job("pytest", "python3 pytest", "python3 -m pytest -q > out", prepare=PYTHON_TEST, check="grep '1 passed' out"),
    job("python3 -m unittest", "python3", "python3 -m unittest -q", prepare=PYTHON_TEST, check="test -d __pycache__"),
    job("make", "make", "make -j2 out", prepare="printf 'out: a b\\n\\tcat a b > out\\na b:\\n\\techo x > $@\\n' > Makefile", check="test -s out"),
    job("cc", "cc", "cc -o one one.c && ./one", prepare="echo 'int main(void) { return 0; }' > one.c", check="test -x one"),
    # Files.
    job("tar", "tar", "tar -czf a.tgz file && mkdir t && tar -xpzf a.tgz -C t", check="cmp file t/file"),
    job("zip and unzip", "zip unzip", "zip -q a.zip file && unzip -q a.zip -d t", check="cmp file t/file"),
    job("gzip", "gzip", "gzip -k file && gzip -dc file.gz | cmp - file", check="test -f file.gz"),
    job("sed -i", "sed", "sed -i s/first/1/ file", check="grep 1 file"),
    job("an editor that replaces its file", "python3", "python3 -c 'import os; open(\".file.swp\", \"w\").write(\"new\"); os.fsync(os.open(\".file.swp\", 0)); os.chmod(\".file.swp\", 0o640); os.replace(\".file.swp\", \"file\")'", check="grep new file"),
    job("mktemp", "mktemp sort", "f=$(mktemp) && d=$(mktemp -d) && echo x > $f && sort -T $d $f && rm -r $f $d"),
    job("chmod", "chmod", "chmod 700 file && mkdir -p d/e && chmod -R u-w d", check="test -x file"),
    job("links", "ln", "ln file hard && ln -s file soft && ln -sfn .. soft2", check="test hard -ef file && test soft -ef file"),
    job("cp -a", "cp", "mkdir d && touch -d 2001-01-01 d/a && cp -a d e", check="test $(stat -c %Y e/a) = $(stat -c %Y d/a)"),
    job("cp -a and rm -r of a repository", "cp git", "cp -a . ../copy && git -C ../copy commit -q --allow-empty -m x && rm -rf ../copy", except_at={"workspace-write": OUTSIDE}),
    job("patch", "patch diff", "sed s/first/1/ file > new; ! diff -u file new > p; patch -s file p", check="grep 1 file"),
    job("find -delete", "find", "mkdir -p d/e && touch d/e/a && find d -delete", check="test ! -e d"),
    job("mkfifo, flock and xargs -P", "mkfifo flock xargs", "mkfifo p && (echo x > p &) && read -r l < p && flock file seq 20 | xargs -P4 -I{} touch t{}", check="test -e t20"),
    job("a database", "python3", "python3 -c 'import sqlite3; d = sqlite3.connect(\"d.db\"); d.execute(\"pragma journal_mode=wal\"); d.execute(\"create table t(x)\"); d.commit()'", check="test -s d.db"),
    job("shared memory", "python3", "python3 -c 'import multiprocessing as m; p = m.Pool(2); assert p.map(abs, [-1, 2]) == [1, 2]; p.close(); p.join()'"),
    job("ssh-keygen into the project", "ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f key", check="test -s key.pub", named_only=NAMED),
    job("a file next to the project", "cp", "echo x > ../beside && mkdir -p ~/notes && cp file ~/notes", check="test -s ../beside", except_at={"workspace-write": OUTSIDE}),
    job("a host that SSH learns", "python3", "echo other >> ~/.ssh/known_hosts", check="grep other ~/.ssh/known_hosts"),
    job("chown", "chown", "chown 54321 file", check="test $(stat -c %u file) = 54321", root_only=ROOT),
    # Processes and the network.
    job("a terminal", "script", "script -qec 'tty && stty size' /dev/null > out", check="grep /dev/ out"),
    job("timeout and kill", "timeout", "! timeout 0.2 sleep 20; sleep 20 & kill $! && ! wait $!"),
    job("curl of a server", "curl python3", serve("files", "curl -sf http://127.0.0.1:$PORT/file -o out"), check="cmp file out", network=True),
    job("a server in the background", "curl python3", "python3 $PLACE/services.py files port > /dev/null 2>&1 & echo $! > pid; until test -e port; do sleep 0.05; done", "curl -sf http://127.0.0.1:$(cat port)/file -o out", check="cmp file out && kill $(cat pid) && sleep 0.2 && ! curl -sf http://127.0.0.1:$(cat port)/", network=True),
    job("a unix socket", "python3", "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect(\"s\")'", check="test -S s", network=True),
    # Pollux inside Pollux.
    job("pollux demo", "git", "mkdir own && HOME=$PWD/own $POLLUX demo > out", check="grep -q 'All checks pass' out", network=True),
    job("pollux -p", "python3", serve("model", "mkdir own; HOME=$PWD/own GEMINI_API_KEY=k GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$PORT $POLLUX --skip-trust -m gemini-2.5-pro -p inner > out"), check="grep -q 'a sentence of the model' out", network=True),
    job("pollux -p with the same home", "python3", serve("model", "GEMINI_API_KEY=k GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$PORT $POLLUX --skip-trust -m gemini-2.5-pro -p inner > out"), check="grep -q 'a sentence of the model' out && ls ~/.gemini/tmp/*/chats/*", except_at={"workspace-write": OUTSIDE}),
]
