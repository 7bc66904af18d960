//! Confinement on systems with limits: kernels without a mechanism, filters that another program
//! has set, containers, unusual file systems and names.
//!
//! A filter of system calls simulates a kernel without them. A test that the machine does not
//! support is skipped, and the output reports that.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use pollux_testkit::{Key, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Place, holds, users};
use super::stage::{MODEL, Stage};

const LEVELS: [&str; 3] = ["inspect", "workspace-write", "protect"];
const PROGRAM: &str = env!("CARGO_BIN_EXE_pollux");
const SOON: Duration = Duration::from_secs(20);
/// Exit code of `sandbox run` for a level that is not available.
const NOT_CONFINED: i32 = 125;

/// Runs a command under a filter that refuses system calls: error number, call numbers, command.
const REFUSING: &str = "import ctypes, os, struct, sys
def step(code, yes, no, value):
    return struct.pack('HBBI', code, yes, no, value)
steps = step(0x20, 0, 0, 0)
for call in sys.argv[2].split(','):
    steps += step(0x15, 0, 1, int(call)) + step(0x06, 0, 0, 0x50000 | int(sys.argv[1]))
steps += step(0x06, 0, 0, 0x7fff0000)
class Filter(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('steps', ctypes.c_void_p)]
kept = ctypes.create_string_buffer(steps)
wanted = Filter(len(steps) // 8, ctypes.addressof(kept))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(wanted)) == 0
os.execvp(sys.argv[3], sys.argv[3:])
";

const EPERM: i32 = 1;
const ENOSYS: i32 = 38;

/// Numbers of system calls on this processor.
struct Calls {
    unshare: u32,
    seccomp: u32,
}

const CALLS: Option<Calls> = if cfg!(target_arch = "x86_64") {
    Some(Calls { unshare: 272, seccomp: 317 })
} else if cfg!(target_arch = "aarch64") {
    Some(Calls { unshare: 97, seccomp: 277 })
} else {
    None
};
/// Numbers of system calls that are the same on all processors.
const FSCONFIG: u32 = 431;
const MOUNT_SETATTR: u32 = 442;
const LANDLOCK_CREATE_RULESET: u32 = 444;

/// Returns an interpreter that every user can start: the first one in `PATH` may be in a user's
/// home.
fn python() -> &'static str {
    let system = "/usr/bin/python3";
    if fs::exists(system).unwrap_or_default() { system } else { "python3" }
}

/// Returns the command prefix that makes a system call fail.
fn refusing(error: i32, call: u32) -> Vec<String> {
    [python(), "-c", REFUSING, &error.to_string(), &call.to_string()].map(str::to_owned).to_vec()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Runs a command in the project of a place, after a command prefix.
fn started(place: &Place, user: Option<u32>, before: &[String], command: &[&str]) -> Output {
    let mut all = Vec::new();
    if let Some(user) = user {
        let user = user.to_string();
        all.extend(words(&["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"]));
    }
    all.extend_from_slice(before);
    all.extend(words(command));
    let mut started = Command::new(&all[0]);
    started.args(&all[1..]).current_dir(place.path("project")).env("HOME", place.path("home"));
    started.stdin(Stdio::null()).output().unwrap()
}

/// Returns the reason why each level is not available, from `sandbox status`, and checks that
/// `sandbox run` agrees: for an unavailable level it fails with the reason, and runs nothing.
fn lacks(user: Option<u32>, before: &[String]) -> [Option<String>; 3] {
    let place = Place::new(user);
    let status = started(&place, user, before, &[PROGRAM, "sandbox", "status", "--json"]);
    let status: Value =
        serde_json::from_slice(&status.stdout).unwrap_or_else(|_| panic!("{status:?}"));
    LEVELS.map(|level| {
        let found =
            status["levels"].as_array().unwrap().iter().find(|found| found["level"] == level);
        let lack = found.unwrap()["reason"].as_str().map(str::to_owned);
        let run = ["sandbox", "run", "--level", level, "--", "sh", "-c", "echo ran"];
        let run = started(&place, user, before, &[&[PROGRAM], &run[..]].concat());
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        let output = String::from_utf8_lossy(&run.stdout).into_owned();
        match &lack {
            None => assert_eq!(
                (run.status.code(), output.as_str()),
                (Some(0), "ran\n"),
                "{level}: {message}"
            ),
            Some(lack) => {
                assert_eq!(
                    (run.status.code(), output.as_str()),
                    (Some(NOT_CONFINED), ""),
                    "{level}: {message}"
                );
                let expected = format!("cannot confine the command at {level}: {lack}\n");
                assert_eq!(message, expected);
                assert_eq!(found.unwrap()["limits"], json!([]), "{level}");
            }
        }
        lack
    })
}

fn all_hold(user: Option<u32>) -> bool {
    LEVELS.iter().all(|level| holds(user, level))
}

/// Returns true if a command works; otherwise the caller tests nothing.
fn works(user: Option<u32>, command: &[&str]) -> bool {
    let run = started(&Place::new(user), user, &[], command);
    if !run.status.success() {
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        not_tested(user, &format!("this does not work: {command:?}: {message}"));
    }
    run.status.success()
}

/// Reports a test that cannot run for a user.
fn not_tested(user: Option<u32>, reason: &str) {
    pollux_testkit::cannot_run(&format!("for user {user:?}: {reason}"));
}

#[test]
fn a_kernel_without_a_mechanism_gives_the_levels_that_need_it_not() {
    let Some(calls) = CALLS else {
        return not_tested(None, "no numbers of system calls for this processor");
    };
    let (landlock, namespace) = ("Landlock", "mount namespace");
    for user in users().into_iter().filter(|user| all_hold(*user)) {
        for (error, call, expected) in [
            (ENOSYS, LANDLOCK_CREATE_RULESET, [Some(landlock), Some(landlock), None]),
            (EPERM, calls.unshare, [None, Some(namespace), Some(namespace)]),
            (EPERM, FSCONFIG, [None, Some(namespace), Some(namespace)]),
            (ENOSYS, MOUNT_SETATTR, [None, Some("5.12"), Some("5.12")]),
            (EPERM, calls.seccomp, [Some("seccomp"); 3]),
        ] {
            let found = lacks(user, &refusing(error, call));
            for (lack, part) in found.iter().zip(expected) {
                let is_expected = match (lack, part) {
                    (Some(lack), Some(part)) => lack.contains(part),
                    (lack, part) => lack.is_none() && part.is_none(),
                };
                assert!(is_expected, "{user:?} {call}: {found:?}");
            }
        }
    }
}

#[test]
fn user_namespaces_that_are_forbidden_leave_inspect() {
    // The limit of the outer namespace applies to all namespaces in it.
    let script = "echo 1 > /proc/sys/user/max_user_namespaces && exec unshare -U --map-user=1000 \"$0\" \"$@\"";
    let forbidding = words(&["unshare", "-Ur", "sh", "-c", script]);
    let tried: Vec<&str> = forbidding.iter().map(String::as_str).chain(["true"]).collect();
    for user in users().into_iter().filter(|user| all_hold(*user) && works(*user, &tried)) {
        let found = lacks(user, &forbidding);
        assert!(
            found[0].is_none() && found[1].is_some() && found[2].is_some(),
            "{user:?}: {found:?}"
        );
    }
}

#[test]
fn in_containers_and_in_pollux_status_and_run_agree() {
    for user in users().into_iter().filter(|user| all_hold(*user)) {
        for container in [&["unshare", "-Urm"][..], &["unshare", "-Urm", "unshare", "-Urm"]] {
            if works(user, &[container, &["true"]].concat()) {
                assert_eq!(
                    lacks(user, &words(container)),
                    [None, None, None],
                    "{user:?} {container:?}"
                );
            }
        }
        for level in LEVELS {
            let found = lacks(user, &words(&[PROGRAM, "sandbox", "run", "--level", level, "--"]));
            assert_eq!(found[0], None, "{user:?}: inspect in {level}");
            let is_weaker = level != "protect" && found[2].is_none();
            assert!(!is_weaker, "{user:?}: protect in {level} makes mounts");
        }
    }
}

/// Script that prints a line for each action that succeeds at a level.
const REACH: &str = "echo x > new && echo new; echo x > .git/hooks/h && echo hook; echo x >> ~/.bashrc && echo bashrc; \
    cat .env";

fn assert_levels_hold(place: &Place, user: Option<u32>, before: &[String], what: &str) {
    for (level, expected) in
        [("inspect", ""), ("workspace-write", "new\n"), ("protect", "new\nsecret\n")]
    {
        let run = ["sandbox", "run", "--level", level, "--", "sh", "-c", REACH];
        let run = started(place, user, before, &[&[PROGRAM], &run[..]].concat());
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(
            String::from_utf8_lossy(&run.stdout),
            expected,
            "{what}, {user:?} {level}: {message}"
        );
        assert!(!message.contains("cannot confine"), "{what}, {user:?} {level}: {message}");
    }
}

#[test]
fn levels_hold_on_overlays_in_memory_and_with_a_read_only_home() {
    let again = "cd \"$F/project\" && exec \"$@\"";
    for (what, script) in [
        (
            "overlay",
            "mkdir $T/u $T/w && mount -t overlay none -o userxattr,lowerdir=$F,upperdir=$T/u,workdir=$T/w $F",
        ),
        ("tmpfs", "cp -a $F/. $T && mount --move $T $F"),
        ("read-only home", "mount --bind $F/home $F/home && mount -o remount,ro,bind $F/home"),
    ] {
        for user in users().into_iter().filter(|user| all_hold(*user)) {
            let place = Place::new(user);
            let folder = place.path("").display().to_string();
            let folder = folder.trim_end_matches('/');
            fs::create_dir(place.path("memory")).unwrap();
            // The script must not run inside the folder that is covered.
            let script =
                format!("F={folder} T=/mnt && mount -t tmpfs none $T && {script} && {again}");
            let inside = words(&["unshare", "-Urm", "sh", "-c", &script, "sh"]);
            let tried = started(&place, user, &inside, &["true"]);
            if !tried.status.success() {
                not_tested(user, &format!("{what}: {tried:?}"));
                continue;
            }
            assert_levels_hold(&place, user, &inside, what);
        }
    }
}

#[test]
fn a_folder_that_is_mounted_again_is_restricted_under_both_names() {
    for user in users().into_iter().filter(|user| all_hold(*user)) {
        let place = Place::new(user);
        let folder = place.path("").display().to_string();
        let folder = folder.trim_end_matches('/');
        let script = format!(
            "mount -t tmpfs none /mnt && mkdir /mnt/again && mount --bind {folder} /mnt/again && cd {folder}/project && \
             exec \"$@\""
        );
        let inside = words(&["unshare", "-Urm", "sh", "-c", &script, "sh"]);
        let tried = started(&place, user, &inside, &["true"]);
        if !tried.status.success() {
            not_tested(user, &format!("a second mount: {tried:?}"));
            continue;
        }
        let again = "/mnt/again";
        let attempts = [
            ("inspect", "cat $A/project/.env"),
            ("inspect", "cat $A/home/.ssh/id"),
            ("workspace-write", "cat $A/project/.env"),
            ("protect", "cat $A/home/.gemini/oauth_creds.json"),
            ("protect", "echo x > $A/project/.git/hooks/pre-commit"),
            ("protect", "echo x >> $A/project/.git/config"),
            ("protect", "mv $A/project/.git $A/project/git"),
        ];
        for (level, script) in attempts {
            let script = script.replace("$A", again);
            let run = [PROGRAM, "sandbox", "run", "--level", level, "--", "sh", "-c", &script];
            let run = started(&place, user, &inside, &run);
            assert!(!run.status.success(), "{user:?} {level}: {script}: {run:?}");
        }
        let free = format!("echo x > {again}/project/file && cat {again}/project/file");
        let run = [PROGRAM, "sandbox", "run", "--level", "protect", "--", "sh", "-c", &free];
        let run = started(&place, user, &inside, &run);
        assert_eq!(String::from_utf8_lossy(&run.stdout), "x\n", "{run:?}");
    }
}

#[test]
fn levels_hold_on_a_file_system_of_a_program() {
    if !works(None, &["sh", "-c", "command -v bindfs && test -e /dev/fuse"]) {
        not_tested(None, "bindfs or /dev/fuse is missing");
        return;
    }
    for user in users().into_iter().filter(|user| all_hold(*user)) {
        let place = Place::new(user);
        let folder = place.path("").display().to_string();
        let script = format!(
            "mkdir /mnt/real && mount --bind {folder} /mnt/real && \
             bindfs -o nonempty /mnt/real {folder} && cd {folder}/project && \
             exec \"$@\""
        );
        let inside = words(&[
            // The process of the file system ends with the namespace of processes.
            "unshare",
            "-Urmpf",
            "--mount-proc",
            "sh",
            "-c",
            &format!("mount -t tmpfs none /mnt && {script}"),
            "sh",
        ]);
        if started(&place, user, &inside, &["true"]).status.success() {
            assert_levels_hold(&place, user, &inside, "FUSE");
        } else {
            not_tested(user, "FUSE");
        }
    }
}

#[test]
fn levels_hold_in_folders_with_strange_names() {
    for user in users().into_iter().filter(|user| all_hold(*user)) {
        for name in ["line\nbreak", "blank 'quote\" \\", "-$(x)*"] {
            let place = Place::new(user);
            let script = "mkdir \"../$0\" && cp -a ../home ../project \"../$0\" && cd \"../$0/project\" && \
                export HOME=\"$PWD/../home\" && HOME=$(cd \"$HOME\" && pwd) && exec \"$@\"";
            assert_levels_hold(
                &place,
                user,
                &words(&["sh", "-c", &format!("rm -rf \"../$0\"; {script}"), name]),
                name,
            );
        }
    }
}

/// Returns the program in yolo mode on a system without namespaces, with more arguments to follow.
fn without_namespaces(stage: &Stage, calls: &Calls) -> pollux_testkit::Pollux {
    let script =
        format!("exec {} -c \"$REFUSING\" {EPERM} {} \"$0\" \"$@\"", python(), calls.unshare);
    stage.redirected(&script).env("REFUSING", REFUSING).args(["-m", MODEL, "--yolo"])
}

const WEAKER: &str = "Commands that should be confined at protect run at none here. The kernel does not allow this process to create its own mounts (mount namespace). See pollux sandbox status.";

#[test]
fn a_person_learns_once_that_commands_run_at_a_weaker_level() {
    let Some(calls) = CALLS else {
        return not_tested(None, "no numbers of system calls for this processor");
    };
    if !holds(None, "protect") {
        return;
    }
    let call = |line: &str| reply().call("run_shell_command", json!({ "command": line }));
    let stage = Stage::with([call("touch a"), call("touch b"), reply().text("All is done.")]);
    let run = without_namespaces(&stage, &calls).args(["-p", "go"]).run();
    run.assert_code(0);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(message.matches(WEAKER).count(), 1, "{message}");
    assert!(stage.home.project().join("b").exists());
    // Without a command there is no notice.
    stage.server.stream(reply().text("All is said."));
    let run = without_namespaces(&stage, &calls).args(["-p", "go"]).run();
    assert!(!String::from_utf8_lossy(&run.stderr).contains("confined"), "{run:?}");
    // At the terminal the same line is shown.
    stage.server.stream(call("touch c")).stream(reply().text("All is shown."));
    let mut terminal = without_namespaces(&stage, &calls).args(["-i", "go"]).in_terminal(40, 250);
    terminal.wait_for_text("All is shown.", SOON);
    terminal.wait_for_text(WEAKER, SOON);
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
}

#[test]
fn a_level_that_is_asked_for_by_name_fails_where_it_cannot_be_given() {
    let Some(calls) = CALLS else {
        return not_tested(None, "no numbers of system calls for this processor");
    };
    if !holds(None, "protect") {
        return;
    }
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"allow\"\n\
        priority = 950\nconfinement = \"protect\"";
    for level in ["workspace-write", "protect"] {
        let stage = Stage::new();
        if level == "protect" {
            stage.home.user_file("policies/mine.toml", rule);
        } else {
            stage.home.settings(&json!({"security": {"toolSandboxing": true}}));
        }
        let call = reply().call("run_shell_command", json!({ "command": "touch a" }));
        stage.server.stream(call).stream(reply().text("All is done."));
        without_namespaces(&stage, &calls).args(["-p", "go"]).run().assert_code(0);
        let response = stage.response();
        assert!(
            response.contains(&format!("cannot confine the command at {level}: ")),
            "{response}"
        );
        assert!(!stage.home.project().join("a").exists(), "{level}");
    }
}
