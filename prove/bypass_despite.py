"""Lines that run although a rule denies their effect.

A deny rule only sees the line, not the effect of a file, of code in another language or of a
variable. The proof checks this list: a line in it that is refused is reported, too."""

DESPITE = {
    "a script in a file": (
        "builtin source commands",
        "command . ./commands",
        "builtin . ./commands",
        "cat <<E > x\ntouch canary\nE\nbash x",
        "sh commands",
        "bash ./commands",
        ". ./commands",
        "source commands",
        "source ./commands",
        "echo 'touch canary' > x; sh x",
        "echo -e 'touch\\x20canary' > x; . ./x",
    ),
    "code in another language": (
        "awk 'BEGIN { system(\"to\" \"uch canary\") }'",
        "awk '{ system($0) }' commands",
        "awk '{ system ($0) }' commands",
        "awk '{ $0 | getline }' commands",
        "awk '{ print | \"sh\" }' commands",
        "awk '{\nsystem\\\n($0) }' commands",
        "sed -n e commands",
        "sed 1e commands",
        "sed '/touch/e' commands",
    ),
    "another program with the same effect": (
        "find . -name victim -delete",
        "find . -name victim -type f -delete -print",
        "find victim -delete",
    ),
    "a variable that decides which file runs": (
        "PATH=$PATH:. git foo",
        "PATH=.:$PATH; ls",
        "PATH=.:$PATH ls",
        "export PATH=.:$PATH; ls",
        "export PATH=.:$PATH && ls",
        "declare -x PATH=.:$PATH; ls",
        "PATH+=:.; canary-maker",
        "read -r PATH <<< .; ls",
        "printf -v PATH .; ls",
        "PATH=$PWD; ls",
        "BASH_ENV=./run bash -c :",
        "BASH_ENV=./commands bash -c :",
        "export BASH_ENV=./commands; bash -c :",
        "env BASH_ENV=./commands bash -c :",
        "export LD_PRELOAD=./preloaded.so && cat words",
        "HOME=. bash -lc :",
        "LD_PRELOAD=./preloaded.so ls",
        "export LD_PRELOAD=$PWD/preloaded.so; ls",
        "env LD_PRELOAD=./preloaded.so ls",
    ),
}

COMMANDS = {command for commands in DESPITE.values() for command in commands}
