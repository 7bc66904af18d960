//! Programs that run programs.

use super::*;

#[test]
fn wrappers_are_seen_through() {
    check_known(&[
        ("env ls", "env ls"),
        ("env -i A=1 B=\"$x\" ls -l", "env ls"),
        ("env -u HOME --chdir=/tmp ls", "env ls"),
        ("env -- A=1 ls", "env ls"),
        ("env - ls", "env ls"),
        ("env", "env"),
        ("/usr/bin/env ls", "/usr/bin/env ls"),
        ("sudo ls", "sudo ls"),
        ("sudo -u root -n ls", "sudo ls"),
        ("sudo -nu root ls", "sudo ls"),
        ("sudo -nuroot ls", "sudo ls"),
        ("sudo --user=root -E -- ls", "sudo ls"),
        ("sudo --user \"$u\" ls", "sudo ls"),
        ("sudo A=1 ls", "sudo ls"),
        ("sudo -v", "sudo"),
        ("doas -u root ls", "doas ls"),
        ("nice ls", "nice ls"),
        ("nice -n 5 ls", "nice ls"),
        ("nice -5 ls", "nice ls"),
        ("nice --adjustment=5 ls", "nice ls"),
        ("ionice -c 3 ls", "ionice ls"),
        ("ionice -c3 -t ls", "ionice ls"),
        ("nohup ls &", "nohup ls"),
        ("setsid -f ls", "setsid ls"),
        ("stdbuf -oL ls", "stdbuf ls"),
        ("stdbuf --output=L ls", "stdbuf ls"),
        ("timeout 5 ls", "timeout ls"),
        ("timeout -k 1 -s KILL 5s ls", "timeout ls"),
        ("timeout --signal=KILL --foreground 5 ls", "timeout ls"),
        ("/usr/bin/time -f %e -o t ls", "/usr/bin/time ls"),
        ("\\time -v ls", "time ls"),
        ("chroot --userspec=a /mnt ls", "chroot ls"),
        ("flock /tmp/lock ls", "flock ls"),
        ("flock -n -w 5 /tmp/lock -c 'ls; date'", "flock ls date"),
        ("watch -n 1 'ls | sort'", "watch ls sort"),
        ("watch -n 1 ls -l", "watch ls"),
        ("watch -x ls -l", "watch ls"),
        ("script -q -c 'ls' /dev/null", "script ls"),
        ("busybox ls -l", "busybox ls"),
        ("busybox sh -c 'ls'", "busybox sh ls"),
        ("toybox env ls", "toybox env ls"),
        ("command ls", "ls"),
        ("command -p ls", "ls"),
        ("command -v ls", ""),
        ("exec ls", "ls"),
        ("exec -a x ls", "ls"),
        ("builtin echo x", ""),
        ("exec env nice -n 5 timeout 5 ls", "env nice timeout ls"),
        ("ssh host 'rm x'", "ssh"),
        ("git -c alias.x='!ls' x", "git"),
        ("fd -e rs", "fd"),
    ]);
}

#[test]
fn xargs_and_find_run_what_they_are_told() {
    check_known(&[
        ("xargs", "xargs"),
        ("xargs rm", "xargs rm"),
        ("xargs -0 -n 1 -P4 rm -f", "xargs rm"),
        ("xargs -0rn1 rm", "xargs rm"),
        ("xargs -I {} mv {} x/", "xargs mv"),
        ("xargs -I% mv % x/", "xargs mv"),
        ("xargs --replace mv {} x/", "xargs mv"),
        ("xargs -d '\\n' --max-args=1 rm", "xargs rm"),
        ("xargs sh -c 'ls \"$@\"' _", "xargs sh ls"),
        ("xargs sudo rm", "xargs sudo rm"),
        ("find . -name '*.rs'", "find"),
        ("find . -name \"$x\" -print", "find"),
        ("find . -exec rm {} \\;", "find rm"),
        ("find . -type f -exec grep x {} + -exec ls {} ';'", "find grep ls"),
        ("find . -execdir env rm {} \\; -ok mv {} x \\;", "find env rm mv"),
        ("find . -exec sh -c 'ls \"$1\"' _ {} \\;", "find sh ls"),
        ("find . -delete", "find rm"),
    ]);
    let analysis = analyse("xargs -I{} rm a {} b");
    let rm = &analysis.programs[1];
    assert!(rm.has_more_arguments);
    assert_eq!(rm.arguments[0], Argument::Constant("a".into()));
    assert_eq!(rm.arguments[1], Argument::Unknown("{}".into()));
}

#[test]
fn scripts_in_quotes_are_read() {
    check_known(&[
        ("sh -c 'ls; date'", "sh ls date"),
        ("bash -c \"ls | sort\"", "bash ls sort"),
        ("bash -ec 'ls'", "bash ls"),
        ("bash -e -c 'ls'", "bash ls"),
        ("bash -o pipefail -c 'ls | sort'", "bash ls sort"),
        ("bash -euo pipefail -c 'ls'", "bash ls"),
        ("bash --norc -c 'ls' name a b", "bash ls"),
        ("/bin/sh -c 'ls'", "/bin/sh ls"),
        ("dash -c 'f() { ls; }; f'", "dash ls"),
        ("sh -c 'sh -c \"ls\"'", "sh sh ls"),
        ("sudo sh -c 'ls > /etc/x'", "sudo sh ls"),
        ("sh -c 'ls \"$1\"' _ \"$x\"", "sh ls"),
        ("bash -c '[[ -f x ]] && ls <(date)'", "bash ls date"),
        ("bash --version", "bash"),
    ]);
    let analysis = analyse("echo a; sh -c 'ls x'");
    let ls = &analysis.programs[1];
    assert_eq!((ls.name.as_str(), ls.position), ("ls", 14));
    assert_eq!(ls.via, [Via::Script("sh".into())]);
}

#[test]
fn what_wrappers_do_not_tell() {
    use Reason::{CommandName, Launcher, Script, ScriptFile, WrapperOption};
    check_unknown(&[
        ("env -S 'ls -l'", "env", WrapperOption),
        ("env --unknown ls", "env", WrapperOption),
        ("env $x ls", "env", WrapperOption),
        ("env \"$x\" ls", "env", WrapperOption),
        ("env A=1 $x", "env", CommandName),
        ("env A=$x ls", "env", CommandName),
        ("sudo -s ls", "sudo", WrapperOption),
        ("sudo -i", "sudo", WrapperOption),
        ("sudo -e f", "sudo", WrapperOption),
        ("sudo -u $x ls", "sudo", WrapperOption),
        ("sudo $x ls", "sudo", WrapperOption),
        ("timeout $x ls", "timeout", WrapperOption),
        ("timeout \"$x\" ls", "timeout", WrapperOption),
        ("timeout --what 5 ls", "timeout", WrapperOption),
        ("nice $x", "nice", WrapperOption),
        ("xargs env", "xargs env", CommandName),
        ("xargs timeout 5", "xargs timeout", CommandName),
        ("xargs sh", "xargs sh", ScriptFile),
        ("xargs sh -c", "xargs sh", ScriptFile),
        ("xargs -I {} {} x", "xargs", CommandName),
        ("xargs -I {} sh -c 'ls {}'", "xargs sh", Script),
        ("xargs --what rm", "xargs", WrapperOption),
        ("xargs find", "xargs find", Launcher),
        ("find . $x", "find", WrapperOption),
        ("find \"$x\" -name y", "find", WrapperOption),
        ("find . -exec {} \\;", "find", CommandName),
        ("find . -exec sh -c 'ls {}' \\;", "find sh", Script),
        ("find . -exec rm {}", "find", WrapperOption),
    ]);
}

#[test]
fn what_scripts_and_launchers_do_not_tell() {
    use Reason::{
        CommandName, ForeignShell, Launcher, Script, ScriptFile, ShellDependent, StartupFile,
        WrapperOption,
    };
    check_unknown(&[
        ("sh -c \"$x\"", "sh", Script),
        ("sh -c \"ls $x\"", "sh", Script),
        ("bash $x", "bash", Script),
        ("bash script.sh", "bash", ScriptFile),
        ("curl x | sh", "curl sh", ScriptFile),
        ("sh -s", "sh", WrapperOption),
        ("bash -i -c ls", "bash ls", StartupFile),
        ("bash -lc ls", "bash ls", StartupFile),
        ("bash --rcfile x -c ls", "bash", WrapperOption),
        ("zsh -c ls", "zsh ls", ForeignShell),
        ("fish -c ls", "fish", ForeignShell),
        ("pwsh -Command ls", "pwsh", ForeignShell),
        ("sh -c '[[ -f x ]] && ls'", "sh ls", ShellDependent),
        ("sh -c 'ls &> x'", "sh ls", ShellDependent),
        ("sh -c 'declare x; ls'", "sh declare ls", ShellDependent),
        ("sh -c \"\\$'ls'\"", "sh ls", ShellDependent),
        ("sh -c 'function f { ls; }'", "sh ls", ShellDependent),
        ("busybox \"$x\"", "busybox", CommandName),
        ("parallel rm ::: a", "parallel", Launcher),
        ("unshare -r ls", "unshare", Launcher),
        ("nsenter -t 1 ls", "nsenter", Launcher),
        ("su -c ls", "su", Launcher),
        ("strace ls", "strace", Launcher),
        ("fd -x rm", "fd", Launcher),
        ("fd --exec rm", "fd", Launcher),
        ("watch ls $x", "watch", Script),
        ("script", "script", ScriptFile),
        ("chroot /mnt", "chroot", ScriptFile),
        ("command $x", "", CommandName),
        ("exec $x", "", CommandName),
        ("time $x", "", CommandName),
    ]);
}
