//! Verdicts that depend on directories with real links.

use std::fs;

use pollux_protocol::{ApprovalMode, Effects};
use serde_json::json;

use super::*;
use crate::facts::workspace;
use crate::{Policy, Query, Subject, Tier};

struct Disk {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = pollux_fs::real_path(folder.path()).unwrap().join("project");
        fs::create_dir_all(&root).unwrap();
        Self { _folder: folder, root }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn facts(&self) -> Facts {
        Facts { interactive: true, workspace: workspace([&self.root]), ..Facts::default() }
    }
}

fn decide(facts: Facts, rules: &str, line: &str, mode: ApprovalMode) -> &'static str {
    let file = crate::read(Tier::User, Path::new("a.toml"), rules);
    let (args, effects) = (json!({ "command": line }), Effects::command(line, facts.folder()));
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

#[cfg(unix)]
#[test]
fn a_line_may_begin_with_cd_into_the_workspace_only() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new();
    disk.write("src/deep/a.txt", "");
    symlink("/etc", disk.root.join("out")).unwrap();
    symlink("src/deep", disk.root.join("inside")).unwrap();
    symlink("/usr/share", disk.root.join("share")).unwrap();
    let root = disk.root.display().to_string();
    for (line, expected) in [
        ("cd src && ls".to_owned(), "allow"),
        ("cd inside && ls".to_owned(), "allow"),
        (format!("cd {root}/src && ls"), "allow"),
        ("cd \"$PWD/src\" && ls".to_owned(), "allow"),
        ("cd .. && ls".to_owned(), "ask_user"),
        ("cd /etc && ls".to_owned(), "ask_user"),
        ("cd out && ls".to_owned(), "ask_user"),
        ("cd inside/../../.. && ls".to_owned(), "ask_user"),
        ("cd share/../src && ls".to_owned(), "ask_user"),
        ("cd nowhere && ls".to_owned(), "allow"),
        ("cd ~/x && ls".to_owned(), "ask_user"),
        ("cd src; ls".to_owned(), "ask_user"),
    ] {
        let decided = decide(disk.facts(), "", &line, ApprovalMode::Default);
        assert_eq!(decided, expected, "{line}");
    }
    let facts = Facts { environment: ["CDPATH".to_owned()].into(), ..disk.facts() };
    assert_eq!(decide(facts, "", "cd src && ls", ApprovalMode::Default), "ask_user");
    let facts = Facts { home: Some(disk.root.clone()), ..disk.facts() };
    assert_eq!(decide(facts, "", "cd ~/src && ls", ApprovalMode::Default), "allow");
}
