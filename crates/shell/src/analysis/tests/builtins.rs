//! What the shell carries out itself.

use super::*;

#[test]
fn built_ins_are_not_programs() {
    check_known(&[
        ("cd x; pwd; echo hi; printf '%s' x; true; : ; umask 022", ""),
        ("export A=1 B=\"$x\"; readonly C=2; unset A; local d=1", ""),
        ("export \"A=$x\"", ""),
        ("declare -a list; declare -A map", ""),
        ("set -euo pipefail; ls", "ls"),
        ("shopt -s nullglob; ls", "ls"),
        ("trap 'rm -f x; date' EXIT", "rm date"),
        ("trap - EXIT", ""),
        ("trap '' INT TERM", ""),
        ("trap -p", ""),
        ("read -r a b", ""),
        ("wait $!", ""),
        ("kill -9 $pid", ""),
        ("let 1+1", ""),
        ("test -v x && ls", "ls"),
        ("type ls; hash -r", ""),
        ("jobs; fg; bg; disown; times; ulimit -n", ""),
        ("pushd x; popd; dirs", ""),
        ("getopts ab: x", ""),
    ]);
    let analysis = analyse("cd 'a b'; sudo echo x");
    assert_eq!(names(&analysis), "sudo echo");
    assert_eq!(analysis.built_ins[0].name, "cd");
    assert_eq!(analysis.built_ins[0].arguments, [Argument::Constant("a b".into())]);
}

#[test]
fn some_of_them_cannot_be_told() {
    use Reason::{Alias, Arithmetic, BuiltIn, Environment, Eval, Indirection, Source, Trap};
    check_unknown(&[
        ("eval ls -l", "ls", Eval),
        ("eval 'ls; date'", "ls date", Eval),
        ("eval \"$x\"", "", Eval),
        ("eval \"$(ssh-agent)\"", "ssh-agent", Eval),
        ("source ./x", "", Source),
        (". ./x", "", Source),
        ("command . ./x", "", Source),
        ("builtin eval ls", "ls", Eval),
        ("alias ls=rm; ls", "ls", Alias),
        ("trap \"$x\" EXIT", "", Trap),
        ("hash -p /bin/rm ls", "", BuiltIn),
        ("enable -n test", "", BuiltIn),
        ("compgen -W '$(ls)'", "", BuiltIn),
        ("mapfile -C ls -c 1 x", "", BuiltIn),
        ("jobs -x ls", "", BuiltIn),
        ("fc -s", "", BuiltIn),
        ("shopt -s expand_aliases", "", BuiltIn),
        ("set -k", "", BuiltIn),
        ("set -o posix", "", BuiltIn),
        ("let x+1", "", Arithmetic),
        ("declare -i x='a[$(ls)]'", "", Indirection),
        ("declare -n r=x", "", Indirection),
        ("declare \"$x\"", "", Indirection),
        ("export $(cat .env)", "cat", Indirection),
        ("printf -v 'a[$(ls)]' x", "", Arithmetic),
        ("read 'a[$(ls)]'", "", Arithmetic),
        ("unset 'a[$(ls)]'", "", Arithmetic),
        ("test -v 'a[$(ls)]'", "", Arithmetic),
        ("[ $x ]", "", Arithmetic),
        ("test \"$x\" \"$y\"", "", Arithmetic),
        ("[[ $x -eq 1 ]]", "", Arithmetic),
        ("[[ -v $x ]]", "", Arithmetic),
        ("PATH=/tmp:$PATH; ls", "ls", Environment),
        ("PATH=/tmp ls", "ls", Environment),
        ("export PATH=\"$PATH:/x\"", "", Environment),
        ("LD_PRELOAD=x ls", "ls", Environment),
        ("env BASH_ENV=x bash -c ls", "env bash ls", Environment),
        ("env 'BASH_FUNC_ls%%=() { date; }' bash -c ls", "env bash ls", Environment),
        ("PS4='$(ls)'; set -x; date", "date", Environment),
        ("BASH_ALIASES[ls]=rm", "", Environment),
        // Regression: only assignments that look like it were seen.
        ("read -r PATH <<< .; ls", "ls", Environment),
        ("printf -v PATH .; ls", "ls", Environment),
        ("printf -vPATH .; ls", "ls", Environment),
        ("mapfile BASH_CMDS", "", Environment),
        ("unset PATH; : ${PATH:=.}; ls", "ls", Environment),
    ]);
}
