"""The corpus of the bypass proof: command lines that try to run what a policy does not allow.

The lines are defined in `bypass_shell` (the language of the shell), `bypass_words` (spellings of
words) and `bypass_programs` (features of programs).

The aim of each line is to run `touch canary`, `rm victim` or `git tag canary`, or to create or
change another file with `canary` in its name. It runs in a separate folder with `FIXTURES` and its
own files."""

from dataclasses import dataclass, field

# Kinds of policies that each line is tried against.
ALLOW_LIST, DENY_RULE = "allow-list", "deny rule"
BOTH = (ALLOW_LIST, DENY_RULE)

# Programs that the allow-list allows, such as users often allow. The `touch` of the lines is not
# among them.
ALLOWED = (
    "awk", "cat", "cd", "date", "diff", "echo", "env", "exit", "export", "find", "git diff", "git log", "git show",
    "git status", "grep", "head", "less", "ls", "man", "nice", "pwd", "printf", "read", "rg", "sed",
    "set", "sort", "tar", "test", "time", "timeout", "true", "uniq", "wc", "xargs",
)
# Programs that the deny rule denies; everything else is allowed.
DENIED = ("touch", "rm", "git tag")

# Programs that the lines start. A line without its program has no effect, and would prove nothing.
PROGRAMS = """
ar as awk base64 bash cat cc chroot chrt cp csplit curl dash date dd diff ed env ex find flock gcc gdb git grep gzip
head iconv install ionice less linux64 ln ls make mkdir mkfifo mktemp mv nice node nohup nsenter openssl patch perl prlimit
python3 rbash rev rg rm runuser scp script sed setarch setpriv setsid sftp sh shred shuf sleep sort split sqlite3 ssh stdbuf
strace su tail tar tclsh tee timeout tmux touch tr truncate uniq unlink unshare vim wget xargs xxd
""".split()

# Files in every folder.
FIXTURES = {
    "names": "canary\n",
    "victim": "is to stay\n",
    "words": "one\ntwo\n",
    "run": "#!/bin/sh\n/bin/touch canary\n",
    "commands": "touch canary\n",
    "tracked": "before\n",
}


@dataclass(frozen=True, eq=False)
class Case:
    """One line. With `repository`, its folder has a repository with one commit and one change."""

    family: str
    command: str
    against: tuple = BOTH
    repository: bool = False
    files: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Control:
    """A line that a policy must let run; a proof that refuses everything would pass otherwise. Its
    output must contain `output`."""

    against: str
    command: str
    output: str


_cases = []


def lines(family, *commands, **more):
    """Adds lines to a family."""
    for command in commands:
        repository = more.get("repository", False) or "git" in command
        _cases.append(Case(family, command, **more | {"repository": repository}))


def all_cases():
    """Returns all lines in a fixed order, each with the name of its family, and without
    duplicates."""
    # These modules call `lines` when they are imported.
    import bypass_programs
    import bypass_shell
    import bypass_words

    del bypass_programs, bypass_shell, bypass_words
    seen = set()
    for case in _cases:
        if case.command in seen:
            raise ValueError(f"a line is there twice: {case.command!r}")
        seen.add(case.command)
    return list(_cases)


def all_controls():
    """Returns lines that must run: plain lines under the allow-list, and lines that only look like
    the denied programs."""
    return [
        *(Control(ALLOW_LIST, command, output) for command, output in _ALLOWED_LINES),
        *(Control(DENY_RULE, command, output) for command, output in _FREE_LINES),
    ]


_ALLOWED_LINES = (
    ("echo one", "one"),
    ("ls", "victim"),
    ("ls -la | head -3", "total"),
    ("cat words && echo end", "end"),
    ("cat words; echo 'touch canary'", "touch canary"),
    ("grep -c one words || true", "1"),
    ("echo a # touch canary", "a"),
    ("find . -name words", "./words"),
    ("find . -name words -exec cat {} \\;", "one"),
    ("cat words | sort -r | head -n 1", "two"),
    ("awk '{ print $1 }' words", "two"),
    ("sed -n 2p words", "two"),
    ("sed 's/one/three/' words", "three"),
    ("rg -n two words", "2:two"),
    ("echo words | xargs cat", "two"),
    ("env cat words", "two"),
    ("timeout 5 cat words", "two"),
    ("nice -n 5 cat words", "two"),
    ("cat words 2>/dev/null", "two"),
    ("ls nothing 2>&1 || true", "nothing"),
    ("cat < words", "two"),
    ("tar cf - words | tar tf -", "words"),
    ("cd . && ls", "victim"),
    ("printf '%s\\n' \"a; touch canary\"", "a; touch canary"),
    (" && ".join(["echo part"] * 60), "part"),
    ("; ".join(["echo part"] * 500), "part"),
)

_FREE_LINES = (
    ("echo $((2 + 3))", "5"),
    ("echo touch", "touch"),
    ("echo a; ls", "victim"),
    ("printf 'touch canary\\n'", "touch canary"),
    ("grep -c 'touch' commands", "1"),
    ("cat commands # touch canary", "touch canary"),
    ("echo rm > new; cat new", "rm"),
    ("python3 -c 'print(1 + 1)'", "2"),
    ("perl -e 'print 1 + 1'", "2"),
    ("awk '{ print $1 }' words", "two"),
    ("sed 's/one/three/' words", "three"),
    ("x=one; echo \"$x\"", "one"),
    ("for word in a b; do echo $word; done", "b"),
    ("if test -f words; then cat words; fi", "two"),
    ("make -s -f makefile", "made"),
    ("git -c user.name=a -c user.email=b status --short 2>&1; echo done", "done"),
    ("mkdir -p folder && ls folder", "(empty)"),
    ("find . -name words -exec cat {} +", "two"),
    ("bash -c 'echo inner'", "inner"),
    ("sh -c 'echo inner' | cat", "inner"),
    ("touchy=1; echo $touchy", "1"),
    ("cat <<'E'\ntouch canary\nE", "touch canary"),
)
