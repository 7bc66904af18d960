//! With real links and real git: where git is looked at, it is run too, and a canary tells what it does.

use std::fs;
use std::process::Command;

use pollux_protocol::{ApprovalMode, Effects};
use serde_json::json;

use super::*;
use crate::{Policy, PolicyFile, Query, Subject, Tier};

struct Disk {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = pollux_fs::real_path(folder.path()).unwrap().join("project");
        fs::create_dir_all(&root).unwrap();
        Self { folder, root }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn append(&self, name: &str, text: &str) {
        let old = fs::read_to_string(self.root.join(name)).unwrap_or_default();
        self.write(name, &(old + text));
    }

    /// A repository in `place` with one file that is committed and one change in it.
    fn repository(&self, place: &str) {
        fs::create_dir_all(self.root.join(place)).unwrap();
        self.git(place, &["init", "--quiet"]);
        self.write(&format!("{place}/a.txt"), "one\n");
        self.git(place, &["add", "."]);
        self.git(place, &["commit", "--quiet", "--message", "one"]);
        self.write(&format!("{place}/a.txt"), "two\n");
    }

    fn git(&self, place: &str, arguments: &[&str]) {
        let run = self.command(place).args(arguments).output().unwrap();
        assert!(run.status.success(), "git {arguments:?}: {run:?}");
    }

    /// Git as the shell tool starts it.
    fn command(&self, place: &str) -> Command {
        let mut command = Command::new("git");
        let base = std::env::vars_os().filter(|(name, _)| name == "PATH");
        command.current_dir(self.root.join(place)).env_clear();
        let git_config = pollux_shell::empty_git_config(self.folder.path());
        command.envs(pollux_shell::child_environment(base, &[], &git_config));
        for name in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{name}_NAME"), "n").env(format!("GIT_{name}_EMAIL"), "e");
        }
        command
    }

    fn canary(&self) -> PathBuf {
        self.folder.path().join("canary")
    }

    /// A program that touches the canary.
    fn program(&self) -> String {
        let path = self.folder.path().join("program");
        if !path.exists() {
            let script = format!("#!/bin/sh\ntouch {}\ncat\n", self.canary().display());
            fs::write(&path, script).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        path.display().to_string()
    }

    fn facts(&self) -> Facts {
        Facts {
            interactive: true,
            folder: self.root.clone(),
            workspace: vec![self.root.clone()],
            ..Facts::default()
        }
    }

    fn by_default(&self, line: &str) -> &'static str {
        decide(self.facts(), "", line, ApprovalMode::Default)
    }

    /// What git does in `place` when it is asked for what only reads.
    fn hits(&self, place: &str) -> bool {
        for verb in [["status", "-s"], ["diff", "-b"], ["log", "-1p"], ["show", "-s"]] {
            self.command(place).args(verb).output().unwrap();
        }
        let hit = self.canary().exists();
        drop(fs::remove_file(self.canary()));
        hit
    }
}

fn decide(facts: Facts, rules: &str, line: &str, mode: ApprovalMode) -> &'static str {
    let file = crate::read(Tier::User, Path::new("a.toml"), rules);
    let (args, effects) = (json!({ "command": line }), Effects::command(line, &facts.folder));
    let subject = Subject::named("run_shell_command");
    let query = Query { subject, args: &args, effects: &effects, mode };
    Policy::new(facts, file).decide(query).as_str()
}

const ECHO: &str = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"echo\"\ndecision = \"allow\"\npriority = 9\n";

#[cfg(unix)]
#[test]
fn a_redirection_through_a_link_out_of_the_workspace_is_asked_about() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new();
    disk.write("src/a.txt", "");
    disk.write(".git/config", "");
    symlink("/etc", disk.root.join("out")).unwrap();
    symlink("../elsewhere.txt", disk.root.join("dangling.txt")).unwrap();
    symlink(".git/config", disk.root.join("config.txt")).unwrap();
    symlink("src/a.txt", disk.root.join("inside.txt")).unwrap();
    symlink("loop.txt", disk.root.join("loop.txt")).unwrap();
    for (line, expected) in [
        ("echo x > src/b.txt", "allow"),
        ("echo x > inside.txt", "allow"),
        ("echo x > new/deep/b.txt", "allow"),
        ("echo x > out/passwd", "ask_user"),
        ("echo x >> out/deep/er", "ask_user"),
        ("echo x > dangling.txt", "ask_user"),
        ("echo x > config.txt", "ask_user"),
        ("echo x > loop.txt", "ask_user"),
        ("echo x > src/b.txt; echo y > out/passwd", "ask_user"),
    ] {
        let decided = decide(disk.facts(), ECHO, line, ApprovalMode::AutoEdit);
        assert_eq!(decided, expected, "{line}");
    }
    let rule = ECHO.to_owned() + "allowRedirection = true\n";
    let line = "echo x > out/passwd";
    assert_eq!(decide(disk.facts(), &rule, line, ApprovalMode::AutoEdit), "allow");
    assert_eq!(decide(disk.facts(), ECHO, line, ApprovalMode::Yolo), "allow");
    let alone = Facts { interactive: false, ..disk.facts() };
    assert_eq!(decide(alone, ECHO, line, ApprovalMode::AutoEdit), "ask_user");
}

#[test]
fn git_passes_for_reading_where_it_runs_nothing_of_the_repository() {
    let disk = Disk::new();
    assert_eq!(disk.by_default("git status"), "allow", "no repository");
    disk.repository(".");
    let config = fs::read_to_string(disk.root.join(".git/config")).unwrap();
    for line in ["git status", "git diff | head", "cd src && git log -p", "timeout 5 git show"] {
        assert_eq!(disk.by_default(line), "allow", "{line}");
    }
    assert!(!disk.hits("."));
    // What the shell overrides for its children does no harm.
    let program = disk.program();
    disk.append(".git/config", &format!("[core]\n\tfsmonitor = {program}\n\thooksPath = ../hooks\n\tpager = {program}\n\tsshCommand = {program}\n\teditor = {program}\n"));
    disk.write("hooks/post-index-change", &format!("#!/bin/sh\n{program}\n"));
    assert_eq!(disk.by_default("git status"), "allow");
    assert!(!disk.hits("."));
    // What it cannot override is asked about, and it does run.
    disk.write("more", &format!("[filter \"x\"]\n\tclean = {program}\n"));
    for (more, attribute) in [
        (format!("[filter \"x\"] clean = {program}\n"), "filter=x"),
        (format!("[filter \"x\"]\n\tsmudge = cat\n\tCLEAN={program}\n"), "filter=x"),
        (format!("[filter \"x\"]\n\ta = b\\\n[core]\n\tclean = {program}\n"), "filter=x"),
        ("[include]\n\tpath = ../more\n".to_owned(), "filter=x"),
        (format!("[diff]\n\texternal = {program}\n"), "-text"),
        (format!("[diff \"x\"]\n\ttextconv = {program}\n"), "diff=x"),
        (format!("[diff \"x\"]\n\tcommand = {program}\n"), "diff=x"),
    ] {
        disk.write(".git/config", &(config.clone() + &more));
        disk.write(".gitattributes", &format!("*.txt {attribute}\n"));
        for line in ["git status", "git diff", "cat a.txt; git log -p", "cd src; git show"] {
            assert_eq!(disk.by_default(line), "ask_user", "{line} with {more}");
        }
        assert!(disk.hits("."), "{more}");
        assert_eq!(disk.by_default("ls"), "allow");
    }
}

#[test]
fn a_rule_that_names_git_is_taken_at_its_word_in_a_trusted_folder_only() {
    let disk = Disk::new();
    disk.repository(".");
    let rule = ECHO.replace("echo", "git diff");
    let untrusted = || Facts { trusted: false, ..disk.facts() };
    let said = |facts| decide(facts, &rule, "git diff", ApprovalMode::Default);
    assert_eq!((said(disk.facts()), said(untrusted())), ("allow", "allow"));
    disk.append(".git/config", "[diff]\n\texternal = x\n");
    assert_eq!((said(disk.facts()), said(untrusted())), ("allow", "ask_user"));
}

#[test]
fn repositories_inside_and_beside_are_looked_into() {
    let disk = Disk::new();
    disk.repository("inner");
    disk.repository(".");
    let program = disk.program();
    assert_eq!(disk.by_default("git status"), "allow");
    // The outer index names the inner repository, and git goes there.
    let config = fs::read_to_string(disk.root.join("inner/.git/config")).unwrap();
    let hostile = format!("{config}[filter \"x\"]\n\tclean = {program}\n");
    disk.write("inner/.git/config", &hostile);
    disk.write("inner/.gitattributes", "*.txt filter=x\n");
    for version in ["2", "3", "4"] {
        disk.git(".", &["update-index", "--index-version", version]);
        assert_eq!(disk.by_default("git status"), "ask_user", "version {version}");
    }
    assert!(disk.hits("."));
    disk.git(".", &["update-index", "--split-index"]);
    assert_eq!(disk.by_default("git status"), "ask_user");
    disk.write("inner/.git/config", &config);
    assert_eq!(disk.by_default("git status"), "ask_user", "its entries are in another file");
    disk.git(".", &["update-index", "--no-split-index"]);
    assert_eq!(disk.by_default("git status"), "allow");

    // A repository without files, as anybody can commit one.
    disk.git(".", &["init", "--quiet", "--bare", "bare"]);
    assert_eq!(disk.by_default("cd bare && git log"), "allow");
    disk.append("bare/config", &format!("[diff]\n\texternal = {program}\n"));
    assert_eq!(disk.by_default("cd bare && git log"), "ask_user");
    assert_eq!(disk.by_default("cd ba\"\"re/refs; git log"), "ask_user");
    assert_eq!(disk.by_default("git log"), "allow");
    for line in ["cd \"$X\"; git log", "cd; git log", "pushd src; git log", "cd -; git log"] {
        assert_eq!(disk.by_default(line), "ask_user", "{line}");
    }
    // A linked worktree shares the configuration.
    disk.git(".", &["worktree", "add", "--quiet", "../linked"]);
    let linked = Facts { folder: disk.root.join("../linked"), ..disk.facts() };
    let said = || decide(linked.clone(), "", "git status", ApprovalMode::Default);
    assert_eq!(said(), "allow");
    disk.append(".git/config", "[diff]\n\texternal = x\n");
    assert_eq!(said(), "ask_user");
}

#[test]
fn what_cannot_be_understood_counts_as_a_program() {
    let disk = Disk::new();
    disk.repository(".");
    let index = fs::read(disk.root.join(".git/index")).unwrap();
    for bytes in [&index[..index.len() / 2], b"DIRC\0\0\0\x09\0\0\0\0", b""] {
        fs::write(disk.root.join(".git/index"), bytes).unwrap();
        assert_eq!(disk.by_default("git status"), "ask_user", "{} bytes", bytes.len());
    }
    fs::write(disk.root.join(".git/index"), &index).unwrap();
    assert_eq!(disk.by_default("git status"), "allow");
    disk.append(".git/config", "[core]\n\tworktree = /etc\n");
    assert_eq!(disk.by_default("git status"), "ask_user");
    disk.write(".git/config", &"#".repeat(2 << 20));
    assert_eq!(disk.by_default("git status"), "ask_user");
}

#[test]
fn in_a_repository_with_sha256() {
    let disk = Disk::new();
    let run = disk.command(".").args(["init", "--quiet", "--object-format=sha256"]).output();
    assert!(run.unwrap().status.success());
    disk.write("a.txt", "x");
    disk.git(".", &["add", "."]);
    assert_eq!(disk.by_default("git status"), "allow");
}

#[test]
fn the_policy_without_rules_is_no_exception() {
    let disk = Disk::new();
    disk.repository(".");
    disk.append(".git/config", "[diff]\n\texternal = x\n");
    let args = json!({ "command": "git status" });
    let effects = Effects::command("git status", &disk.facts().folder);
    let subject = Subject::named("run_shell_command");
    let query = Query { subject, args: &args, effects: &effects, mode: ApprovalMode::Default };
    let policy = Policy::new(disk.facts(), PolicyFile::default());
    let judgement = policy.judge(query);
    let reason = judgement.reason.unwrap();
    assert!(reason.starts_with("git may run what the repository names: "), "{reason}");
    assert!(reason.ends_with(".git/config sets external"), "{reason}");
}
