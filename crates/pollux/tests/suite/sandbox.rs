//! Confinement by the kernel, tested from outside: `pollux sandbox run` as root and as another
//! user.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pollux_testkit::{Key, ReplyGate, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{MODEL, Stage, wait_until};

const LEVELS: [&str; 4] = ["inspect", "workspace-write", "protect", "none"];
/// Id of a user without other files.
const OTHER_USER: u32 = 54_321;

/// Home and project of one user.
pub(super) struct Place {
    folder: tempfile::TempDir,
    user: Option<u32>,
}

impl Place {
    pub(super) fn new(user: Option<u32>) -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let place = Self { folder, user };
        for made in [
            "home/.ssh",
            "home/.gemini",
            "project/.git/hooks",
            "project/.git/objects",
            "project/.git/refs",
            "project/.gemini",
            "project/a/b/c/d",
            "project/node_modules/p",
        ] {
            fs::create_dir_all(place.path(made)).unwrap();
        }
        let config = "[core]\n\tbare = false\n\trepositoryformatversion = 0\n";
        for (name, text) in [
            ("home/.bashrc", "# mine\n"),
            ("home/.ssh/id", "secret\n"),
            ("home/.ssh/known_hosts", "host\n"),
            ("home/.gemini/oauth_creds.json", "secret\n"),
            ("home/.gemini/settings.json", "{}"),
            ("project/.git/config", config),
            ("project/.git/HEAD", "ref: refs/heads/main\n"),
            ("home/notes.txt", "secret\n"),
            ("project/.env", "secret\n"),
            ("project/a/b/c/d/.env", "secret\n"),
            ("project/id_rsa", "secret\n"),
            ("project/key.pem", "-----BEGIN PRIVATE KEY-----\nsecret\n"),
            ("project/node_modules/p/.env", "secret\n"),
            ("project/file", "text\n"),
        ] {
            fs::write(place.path(name), text).unwrap();
        }
        fs::set_permissions(place.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if let Some(user) = user {
            let owner = format!("{user}:{user}");
            let done = Command::new("chown").arg("-R").arg(owner).arg(place.path("")).status();
            assert!(done.unwrap().success());
        }
        place
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file that belongs to the user, and creates its folder.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        fs::write(&path, text).unwrap();
        for path in [folder, &path] {
            std::os::unix::fs::chown(path, self.user, self.user).unwrap();
        }
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let program = env!("CARGO_BIN_EXE_pollux");
        let mut command = match self.user {
            Some(user) => {
                let mut command = Command::new("setpriv");
                let user = user.to_string();
                command.args(["--reuid", &user, "--regid", &user, "--clear-groups", program]);
                command
            }
            None => Command::new(program),
        };
        command.args(words).current_dir(self.path("project")).env("HOME", self.path("home"));
        command.stdin(Stdio::null());
        command
    }

    pub(super) fn run(&self, level: &str, script: &str) -> Output {
        let words = ["sandbox", "run", "--level", level, "--", "sh", "-c", script];
        self.command(&words).output().unwrap()
    }

    /// Returns all files with their contents and permissions, except those of Pollux itself, which
    /// keeps records of running commands.
    fn listing(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, u32, Vec<u8>)>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".gemini/pollux") {
                    continue;
                }
                let info = fs::symlink_metadata(&path).unwrap();
                let content = if info.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                found.push((path.clone(), info.permissions().mode(), content));
                if info.is_dir() {
                    walk(&path, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), &mut found);
        found.sort();
        found
    }
}

/// Returns the user of the tests and, if that is root, also a user without rights.
pub(super) fn users() -> Vec<Option<u32>> {
    let is_root = rustix::process::geteuid().is_root();
    if is_root { vec![None, Some(OTHER_USER)] } else { vec![None] }
}

/// Levels by user, with the missing kernel feature for each.
type Lacks = BTreeMap<(Option<u32>, String), Option<String>>;

/// Returns true if the kernel supports a level for a user. Otherwise the caller tests nothing, and
/// the output reports that.
#[expect(
    clippy::print_stderr,
    reason = "nobody should take a test that did not run for one that passed"
)]
pub(super) fn holds(user: Option<u32>, level: &str) -> bool {
    static KNOWN: Mutex<Lacks> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    let lack = known.entry((user, level.to_owned())).or_insert_with(|| {
        let status = Place::new(user).command(&["sandbox", "status", "--json"]).output().unwrap();
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        let levels = status["levels"].as_array().unwrap();
        let found = levels.iter().find(|found| found["level"] == level).unwrap();
        found["reason"].as_str().map(str::to_owned)
    });
    let user = user.map_or_else(|| "this user".to_owned(), |user| format!("user {user}"));
    if let Some(lack) = lack {
        eprintln!("not tested for {user}: {level}. {lack}");
    }
    lack.is_none()
}

/// Returns true if the kernel supports a level for this user, see [`holds`].
pub(super) fn holds_here(level: &str) -> bool {
    holds(None, level)
}

/// Scripts that exit with 0 if they succeed in a forbidden action, and the levels that must prevent
/// it.
const ATTEMPTS: [(&str, &[&str]); 29] = [
    ("echo x > new", &["inspect"]),
    ("echo x >> file", &["inspect"]),
    ("chmod 700 file", &["inspect"]),
    ("touch -d 2001-01-01 file", &["inspect"]),
    ("ln file other", &["inspect"]),
    ("mv file other", &["inspect"]),
    ("echo x > ../outside", &["inspect", "workspace-write"]),
    ("chmod 700 ..", &["inspect", "workspace-write"]),
    ("grep secret .env", &["inspect", "workspace-write"]),
    ("grep text file", &[]),
    ("grep secret a/b/c/d/.env", &["inspect", "workspace-write"]),
    ("grep secret id_rsa", &["inspect", "workspace-write"]),
    ("grep secret key.pem", &["inspect", "workspace-write"]),
    ("grep secret node_modules/p/.env", &["inspect", "workspace-write"]),
    ("grep secret ~/.ssh/id", &["inspect", "workspace-write"]),
    ("grep host ~/.ssh/known_hosts", &["inspect"]),
    ("grep secret ~/notes.txt", &["inspect"]),
    ("grep secret ~/.gemini/oauth_creds.json", &["inspect", "workspace-write", "protect"]),
    ("echo x >> .git/config", &["inspect", "workspace-write", "protect"]),
    ("echo x > .git/hooks/pre-commit", &["inspect", "workspace-write", "protect"]),
    ("cd .git/hooks && echo x > post-commit", &["inspect", "workspace-write", "protect"]),
    ("cp .git/config c && mv c .git/config", &["inspect", "workspace-write", "protect"]),
    ("ln .git/config c && echo x >> c", &["inspect", "workspace-write", "protect"]),
    ("mv .git old", &["inspect", "workspace-write", "protect"]),
    ("echo x >> ~/.bashrc", &["inspect", "workspace-write", "protect"]),
    ("chmod 700 ~/.bashrc", &["inspect", "workspace-write", "protect"]),
    ("echo x > ~/.ssh/authorized_keys", &["inspect", "workspace-write", "protect"]),
    ("echo x > ~/.gemini/settings.json", &["inspect", "workspace-write", "protect"]),
    ("echo x >> ~/.ssh/known_hosts", &["inspect"]),
];

#[test]
fn each_level_refuses_what_it_promises_and_nothing_else() {
    for user in users() {
        for (script, refused_at) in ATTEMPTS {
            for level in LEVELS.into_iter().filter(|level| holds(user, level)) {
                let place = Place::new(user);
                let before = place.listing();
                let run = place.run(level, script);
                let message = String::from_utf8_lossy(&run.stderr).into_owned();
                let expected = !refused_at.contains(&level);
                // The workspace may be the only writable place.
                if level == "workspace-write" && script.contains("known_hosts") {
                    continue;
                }
                assert_eq!(run.status.success(), expected, "{user:?} {level} {script}: {message}");
                if !expected && !script.contains("c &&") && !script.contains("&& mv") {
                    assert_eq!(place.listing(), before, "{user:?} {level} {script}");
                }
            }
        }
    }
}

#[test]
fn no_socket_and_no_other_process_can_be_reached_at_inspect() {
    let sockets = "import socket, sys\n\
        for family, kind in [(socket.AF_INET, 1), (socket.AF_INET6, 2), (socket.AF_UNIX, 1), (socket.AF_NETLINK, 3)]:\n\
        \x20   try:\n\
        \x20       socket.socket(family, kind)\n\
        \x20       sys.exit(1)\n\
        \x20   except PermissionError:\n\
        \x20       pass\n\
        a, b = socket.socketpair()\n\
        a.send(b'x')\n\
        assert b.recv(1) == b'x'\n\
        try:\n\
        \x20   socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n\
        \x20   sys.exit(2)\n\
        except PermissionError:\n\
        \x20   pass\n";
    for user in users().into_iter().filter(|user| LEVELS.iter().all(|level| holds(*user, level))) {
        let place = Place::new(user);
        let words = ["sandbox", "run", "--level", "inspect", "--", "python3", "-c", sockets];
        let run = place.command(&words).output().unwrap();
        assert!(run.status.success(), "{user:?}: {run:?}");
        let mut sleeper = Command::new("sleep");
        if let Some(user) = user {
            sleeper = Command::new("setpriv");
            let user = user.to_string();
            sleeper.args(["--reuid", &user, "--regid", &user, "--clear-groups", "sleep"]);
        }
        let mut sleeper = sleeper.arg("30").env("SECRET", "yes").spawn().unwrap();
        let id = sleeper.id();
        wait_until("`setpriv` has become `sleep`", || {
            fs::read_to_string(format!("/proc/{id}/comm")).unwrap() == "sleep\n"
        });
        for (script, levels) in [
            (format!("kill {id}"), &["inspect", "workspace-write", "protect"][..]),
            (format!("prlimit --pid {id} --nofile=1"), &["inspect", "workspace-write", "protect"]),
            (
                format!("grep -q SECRET /proc/{id}/environ"),
                &["inspect", "workspace-write", "protect"],
            ),
            (
                format!("ls /proc/{id}/root/ | grep -q ."),
                &["inspect", "workspace-write", "protect"],
            ),
        ] {
            for level in levels {
                let run = place.run(level, &script);
                assert!(!run.status.success(), "{user:?} {level} {script}");
            }
        }
        let reached = place.run("none", &format!("grep -q SECRET /proc/{id}/environ"));
        assert!(reached.status.success(), "{user:?}");
        assert!(place.run("none", &format!("kill {id}")).status.success(), "{user:?}");
        sleeper.wait().unwrap();
        for level in ["inspect", "workspace-write", "protect"] {
            let run = place.run(level, "kill -9 $PPID; sleep 30 & kill $!");
            assert_eq!(run.status.code(), Some(0), "{user:?} {level}: {run:?}");
        }
    }
}

/// Returns the standard output. Of a mask of signals it keeps the first 31: the C library uses the
/// next two itself, and their state depends on whether the program has started a thread.
fn portable(output: &Output) -> String {
    let lines = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| match line.split_once(":\t").filter(|(name, _)| name.starts_with("Sig"))
    {
        Some((name, mask)) => {
            format!("{name}: {:x}\n", u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff)
        }
        None => format!("{line}\n"),
    };
    lines.lines().map(line).collect()
}

#[test]
fn exit_codes_signals_streams_and_environment_equal_those_without_confinement() {
    let script = "trap - PIPE; umask; ulimit -n; env -u TMPDIR -u TMP -u TEMP -u GIT_OPTIONAL_LOCKS -u GIT_NO_LAZY_FETCH \
        -u GIT_PAGER | \
        grep -v ^_= | sort; cat; pwd; grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status";
    for user in users() {
        let place = Place::new(user);
        let expected = place.run("none", script);
        assert!(expected.status.success() && !expected.stdout.is_empty());
        for level in LEVELS.into_iter().filter(|level| holds(user, level)) {
            let run = place.run(level, script);
            assert_eq!(portable(&run), portable(&expected), "{user:?} {level}");
            if level != "none" {
                let open = place.run(level, "exec 9>&-; ls /proc/self/fd | wc -l");
                assert_eq!(portable(&open).trim(), "4", "only the standard streams are inherited");
            }
            for (script, code) in [("exit 7", 7), ("kill -9 $$", 137), ("kill -15 $$", 143)] {
                assert_eq!(place.run(level, script).status.code(), Some(code), "{level} {script}");
            }
            let missing = ["sandbox", "run", "--level", level, "--", "/no/such/program"];
            let run = place.command(&missing).output().unwrap();
            assert_eq!(run.status.code(), Some(127), "{level}");
            assert!(String::from_utf8_lossy(&run.stderr).contains("No such file"), "{level}");
        }
    }
}

#[test]
fn the_private_temporary_folder_is_writable_and_goes() {
    for user in users().into_iter().filter(|user| holds(*user, "inspect")) {
        let place = Place::new(user);
        let run = place.run("inspect", "echo x > $TMPDIR/a && cat $TMPDIR/a && echo $TMPDIR");
        let text = String::from_utf8(run.stdout).unwrap();
        let (content, folder) = text.trim().split_once('\n').unwrap();
        assert_eq!(content, "x");
        assert!(!Path::new(folder).exists(), "{folder}");
    }
}

#[test]
fn what_appears_is_moved_aside_and_reported_and_new_repositories_work() {
    for user in users().into_iter().filter(|user| holds(*user, "protect")) {
        let place = Place::new(user);
        fs::remove_dir(place.path("project/.git/hooks")).unwrap();
        let run = place.run("protect", "mkdir .git/hooks && echo x > .git/hooks/pre-commit");
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(message.contains("/.git/hooks is new, and protected; moved to "), "{message}");
        assert!(!place.path("project/.git/hooks").exists());
        let run = place.run("protect", "git init -q new && git -C new config user.name A");
        assert!(run.status.success(), "{run:?}");
        let words = ["sandbox", "run", "--git-config", "--", "sh", "-c"];
        for script in ["git config user.name A", "git config core.fsmonitor ./x"] {
            let run = place.command(&[&words[..], &[script]].concat()).output().unwrap();
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(message.contains("core.fsmonitor"), script.contains("fsmonitor"));
        }
        let config = fs::read_to_string(place.path("project/.git/config")).unwrap();
        assert!(config.contains("name = A") && !config.contains("fsmonitor"), "{config}");
    }
}

#[test]
fn status_names_mechanisms_and_levels() {
    let place = Place::new(None);
    let run = place.command(&["sandbox", "status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&run.stdout).unwrap();
    let levels: Vec<&str> = status["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["level"].as_str().unwrap())
        .collect();
    assert_eq!(levels, LEVELS);
    let run = place.command(&["sandbox", "status"]).output().unwrap();
    assert!(String::from_utf8_lossy(&run.stdout).starts_with("Mechanisms:\n  Landlock: "));
    let run = place.command(&["sandbox", "run", "--level", "deep", "ls"]).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&run.stderr).starts_with("Unknown level deep."));
}

const SOON: Duration = Duration::from_secs(20);
const HOOK: &str = "echo '#!/bin/sh' > .git/hooks/pre-commit";

/// Creates a repository with a folder for hooks.
fn repository(stage: &Stage) {
    git(stage, &["init", "-q", "-b", "main"]);
    fs::create_dir_all(stage.home.project().join(".git/hooks")).unwrap();
}

fn git(stage: &Stage, words: &[&str]) {
    let who = ["-c", "user.name=A", "-c", "user.email=a@b.c"];
    let run = Command::new("git").args(who).args(words).current_dir(stage.home.project()).output();
    let run = run.unwrap();
    assert!(run.status.success(), "{words:?}: {run:?}");
}

/// Runs a command line in headless yolo mode. Returns the result that the model gets.
fn in_yolo(stage: &Stage, line: &str) -> String {
    let call = reply().call("run_shell_command", json!({ "command": line }));
    stage.server.stream(call).stream(reply().text("done"));
    stage.yolo("go");
    stage.response()
}

#[test]
fn a_wall_is_named_with_the_rule_that_opens_it() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    repository(&stage);
    let hook = stage.home.project().join(".git/hooks/pre-commit");
    let reported = in_yolo(&stage, HOOK);
    let wall = format!(
        "Confinement stopped this command: at the level protect, {} is protected. It was not run again. ",
        hook.display()
    );
    let (_, widening) = reported.split_once(&wall).unwrap_or_else(|| panic!("{reported}"));
    assert!(!hook.exists());
    // The same error without a protected path does not count as evidence.
    let other = "echo 'cannot create x: Permission denied'; exit 1";
    assert!(!in_yolo(&stage, other).contains("Confinement"));
    let (_, rule) = widening.split_once(":\n").unwrap();
    stage.home.user_file("policies/mine.toml", rule);
    let reported = in_yolo(&stage, HOOK);
    assert!(!reported.contains("Confinement") && hook.exists(), "{rule}\n{reported}");
}

#[test]
fn at_the_terminal_a_line_that_a_wall_stopped_is_asked_about_and_may_run_once() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    repository(&stage);
    let hook = stage.home.project().join(".git/hooks/pre-commit");
    for text in ["First end.", "Second end."] {
        let call = reply().call("run_shell_command", json!({ "command": HOOK }));
        stage.server.stream(call).stream(reply().text(text));
    }
    let mut terminal = stage.pollux(&["--yolo", "-i", "go"]).in_terminal(40, 200);
    terminal.wait_for_text("First end.", SOON);
    assert!(stage.response().contains("run the same line once more"), "{}", stage.response());
    assert!(!hook.exists());
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send("again");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("confinement stopped it before", SOON);
    assert!(!hook.exists());
    terminal.wait_for_text("Choose 1-", SOON);
    terminal.send("1");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("Second end.", SOON);
    assert!(hook.exists());
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
}

#[test]
fn what_appears_at_a_protected_place_is_moved_aside_and_reported_in_the_result() {
    if !holds_here("protect") {
        return;
    }
    let make = "mkdir .git/hooks && echo x > .git/hooks/pre-commit";
    // Appears between two commands, while one runs that is not audited itself.
    let later =
        format!("(until test -e go; do sleep 0.05; done; {make}; touch made) & echo started");
    let meanwhile = "touch go; until test -e made; do sleep 0.05; done";
    for (line, in_next) in [(make, false), (&later, true)] {
        let stage = Stage::new();
        repository(&stage);
        fs::remove_dir_all(stage.home.project().join(".git/hooks")).unwrap();
        stage.home.project_file("meanwhile.sh", meanwhile);
        let wait = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"sh meanwhile.sh\"\n\
            decision = \"allow\"\npriority = 950\nconfinement = \"none\"";
        stage.home.user_file("policies/wait.toml", wait);
        let call = |line: &str| reply().call("run_shell_command", json!({ "command": line }));
        stage.server.stream(call(line));
        if in_next {
            stage.server.stream(call("sh meanwhile.sh")).stream(call("true"));
        }
        stage.server.stream(reply().text("done"));
        stage.yolo("go");
        let reported = format!("{:?}", stage.server.last_request().contents());
        let note = ".git/hooks is new, and protected; moved to ";
        assert!(reported.contains(note), "{line}: {reported}");
        assert!(!stage.home.project().join(".git/hooks").exists(), "{line}");
    }
}

#[test]
fn a_command_in_the_background_is_audited_at_its_end_and_at_that_of_the_program() {
    if !holds_here("protect") {
        return;
    }
    for is_followed in [false, true] {
        let stage = Stage::new();
        repository(&stage);
        fs::remove_dir_all(stage.home.project().join(".git/hooks")).unwrap();
        let line = "mkdir .git/hooks && touch .git/hooks/pre-commit made; sleep 1000";
        let call = json!({"command": line, "is_background": true});
        stage.server.stream(reply().call("run_shell_command", call));
        let gate = ReplyGate::closed();
        if is_followed {
            let next = reply().call("run_shell_command", json!({"command": "true"}));
            stage.server.stream(next.held_by(&gate)).stream(reply().text("done"));
        } else {
            stage.server.stream(reply().text("done").held_by(&gate));
        }
        let run = stage.pollux(&["--yolo", "-p", "go"]).spawn();
        wait_until("the files are made", || stage.home.project().join("made").exists());
        gate.open();
        let run = run.wait();
        run.assert_code(0);
        assert!(!stage.home.project().join(".git/hooks").exists(), "{is_followed}");
        let mut reported = format!("{:?}", stage.server.last_request().contents());
        reported.push_str(&String::from_utf8_lossy(&run.stderr));
        assert!(reported.contains(".git/hooks is new, and protected"), "{is_followed}: {reported}");
    }
}

#[test]
fn git_commands_that_configure_a_repository_work_at_protect() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    repository(&stage);
    stage.home.project_file("file", "text");
    git(&stage, &["add", "-A"]);
    git(&stage, &["commit", "-q", "-m", "first"]);
    let remote = stage.home.project().join("../remote.git");
    git(&stage, &["init", "-q", "--bare", "../remote.git"]);
    for line in [
        format!("git remote add origin {}", remote.display()),
        "git push -u origin main".to_owned(),
        "git checkout -b x --track origin/main".to_owned(),
    ] {
        let reported = in_yolo(&stage, &line);
        assert!(
            !reported.contains("Exit Code") && !reported.contains("Confinement"),
            "{line}: {reported}"
        );
    }
    let config = stage.home.read_project_file(".git/config");
    for section in ["[remote \"origin\"]", "[branch \"main\"]", "[branch \"x\"]"] {
        assert!(config.contains(section), "{section}: {config}");
    }
}

#[test]
fn git_configures_the_person_after_a_yes_only() {
    let stage = Stage::new();
    let line = "git config --global user.name 'A B'";
    let file = stage.home.home().join(".gitconfig");
    let reported = in_yolo(&stage, line);
    let reason = "this git changes your own configuration, which a confined command cannot";
    assert!(reported.contains(reason) && !file.exists(), "{reported}");
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git config\"\n\
                decision = \"allow\"\npriority = 950\nconfinement = \"none\"\n";
    stage.home.user_file("policies/mine.toml", rule);
    in_yolo(&stage, line);
    assert_eq!(fs::read_to_string(&file).unwrap(), "[user]\n\tname = A B\n");
    // Other commands do not see it.
    assert!(!in_yolo(&stage, "git config --list --show-origin").contains("A B"));
}

#[test]
fn a_command_at_protect_has_the_window_the_interrupt_and_its_exit_code() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    repository(&stage);
    let level = "echo x > .git/hooks/h || echo kept";
    let line = format!("{level}; stty size; (exit 7)");
    let call = |line: &str| reply().call("run_shell_command", json!({ "command": line }));
    stage.server.stream(call(&line)).stream(reply().text("All is done."));
    stage.server.stream(call("touch ready; sleep 1000"));
    let mut terminal = stage.pollux(&["--yolo", "-i", "go"]).in_terminal(40, 120);
    terminal.wait_for_text("All is done.", SOON);
    let reported = stage.response();
    for part in ["kept", "40 120", "Exit Code: 7"] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send("more");
    terminal.send_key(Key::Enter);
    wait_until("the command runs", || stage.home.project().join("ready").exists());
    terminal.send_key(Key::Ctrl('c'));
    terminal.wait_for_text("Request cancelled.", SOON);
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
}

#[test]
fn two_hundred_confined_commands_at_once_all_end() {
    if !holds_here("protect") {
        return;
    }
    let stage = Stage::new();
    repository(&stage);
    let mut calls = reply();
    for number in 0..200 {
        let line = format!("touch end{number}; echo x > .git/hooks/h");
        calls = calls.call("run_shell_command", json!({ "command": line }));
    }
    stage.server.stream(calls).stream(reply().text("done"));
    let start = Instant::now();
    stage.yolo("go");
    let responses = stage.responses();
    assert_eq!(responses.len(), 200);
    for (number, response) in responses.iter().enumerate() {
        assert!(response.to_string().contains(".git/hooks/h is protected"), "{response}");
        assert!(stage.home.project().join(format!("end{number}")).exists());
    }
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

#[test]
fn a_nested_program_works_at_protect() {
    if !holds_here("protect") {
        return;
    }
    for home in ["own", "same"] {
        let stage = Stage::new();
        let program = env!("CARGO_BIN_EXE_pollux");
        let own =
            if home == "own" { "mkdir own; HOME=$PWD/own GEMINI_CLI_HOME=$PWD/own" } else { "" };
        let line = format!("{own} GEMINI_API_KEY=k {program} -m {MODEL} -p inner");
        let call = reply().call("run_shell_command", json!({ "command": line }));
        stage.server.stream(call).stream(reply().text("inner words")).stream(reply().text("done"));
        stage.yolo("go");
        let reported = stage.response();
        assert!(
            reported.contains("inner words") && !reported.contains("Exit Code"),
            "{home}: {reported}"
        );
    }
}

/// Script that makes a repository with a history, changes of each kind and an index with outdated
/// times.
const HISTORY: &str = "rm -rf .git && git init -q -b main . && git config user.name A && git config user.email a@b
for text in first second; do echo $text >> file && git add file && git commit -qm $text; done
echo staged >> file && git add file && echo changed >> file && echo x > new && touch -d 2001-01-01 file
git config core.pager 'sed s/^/paged/' && git config diff.external 'echo external; :' && git config core.fsmonitor false";

#[test]
fn git_prints_at_inspect_what_it_prints_outside_and_leaves_the_index() {
    for user in users().into_iter().filter(|user| holds(*user, "inspect")) {
        let place = Place::new(user);
        let made = place.run("none", HISTORY);
        assert!(made.status.success(), "{made:?}");
        let index = place.path("project/.git/index");
        let state =
            || (fs::read(&index).unwrap(), fs::metadata(&index).unwrap().modified().unwrap());
        for line in [
            "git status",
            "git status --porcelain=v2 --branch",
            "git diff",
            "git diff --no-ext-diff HEAD",
            "git log -p --stat",
            // Without the revision, the lines that are not committed have the current time.
            "git blame HEAD file",
            "git show HEAD:file",
            "git ls-files --stage -o",
            "git branch -a",
        ] {
            let before = state();
            let inside = place.run("inspect", line);
            assert_eq!(state(), before, "{user:?} {line}");
            // Without confinement this command may change the index.
            let outside = place.run("none", line);
            assert!(outside.status.success() && !outside.stdout.is_empty(), "{outside:?}");
            assert_eq!(inside, outside, "{user:?} {line}");
            fs::write(&index, before.0).unwrap();
        }
        // In a terminal, Git would start the configured pager.
        let program = env!("CARGO_BIN_EXE_pollux");
        let script = format!(
            "script -qec '{program} sandbox run --level inspect -- git log --oneline' /dev/null"
        );
        let shown = place.run("none", &script);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("second") && !shown.contains("paged"), "{user:?}: {shown}");
        let variables =
            place.run("inspect", "echo $GIT_OPTIONAL_LOCKS $GIT_NO_LAZY_FETCH $GIT_PAGER");
        assert_eq!(String::from_utf8_lossy(&variables.stdout), "0 1 cat\n");
    }
}
