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

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_a_command_could_not_read_is_asked_about() {
    let disk = Disk::new();
    let above = disk.root.parent().unwrap().to_owned();
    for name in ["a.txt", "sub/b.txt", ".env", "../home/x.txt", "../home/.gitconfig"] {
        disk.write(name, "x");
    }
    for name in ["../other/x", "../home/.cargo/registry/x", "../home/.cargo/credentials"] {
        disk.write(name, "x");
    }
    std::os::unix::fs::symlink("../other/x", disk.root.join("link")).unwrap();
    let home = above.join("home");
    let facts = || {
        let mut facts = Facts { home: Some(home.clone()), ..disk.facts() };
        facts.protected.homes = vec![home.clone()];
        facts
    };
    if !facts().confinement.inspects() {
        return;
    }
    let (root, above) = (disk.root.display(), above.display());
    for (line, expected) in [
        ("cat a.txt sub/b.txt".to_owned(), "allow"),
        (format!("cat {root}/a.txt"), "allow"),
        ("grep -rn x .".to_owned(), "allow"),
        ("cd sub && cat b.txt ../a.txt".to_owned(), "allow"),
        ("cat /etc/hostname /etc/passwd /usr/bin/env".to_owned(), "allow"),
        ("grep -r x /usr/include/linux/a.out.h".to_owned(), "allow"),
        ("cat ~/.gitconfig ~/.cargo/registry/x".to_owned(), "allow"),
        ("cat /proc/self/status /dev/null".to_owned(), "allow"),
        ("cat < a.txt".to_owned(), "allow"),
        ("cat ../missing ~/missing".to_owned(), "allow"),
        ("ls -la .. ~ ../other".to_owned(), "allow"),
        ("stat ../other/x ~/x.txt".to_owned(), "allow"),
        ("find ../other -name x".to_owned(), "allow"),
        ("echo ../other/x ~/x.txt".to_owned(), "allow"),
        ("grep ../other/x a.txt".to_owned(), "allow"),
        ("grep x ../other".to_owned(), "allow"),
        ("sed -n s/x/y/p a.txt".to_owned(), "allow"),
        ("head -n 5 a.txt".to_owned(), "allow"),
        ("cat *.txt".to_owned(), "allow"),
        ("git log -- a.txt".to_owned(), "allow"),
        ("cat ../other/x".to_owned(), "ask_user"),
        (format!("cat {above}/other/x"), "ask_user"),
        ("head -n 5 a.txt ~/x.txt".to_owned(), "ask_user"),
        ("cat link".to_owned(), "ask_user"),
        ("cat .env".to_owned(), "ask_user"),
        ("cat ~/.cargo/credentials".to_owned(), "ask_user"),
        ("cat \"$HOME/x.txt\"".to_owned(), "ask_user"),
        ("cat \"$PWD/../other/x\"".to_owned(), "ask_user"),
        ("cat < ../other/x".to_owned(), "ask_user"),
        ("cat a.txt | sort - ../other/x".to_owned(), "ask_user"),
        ("grep -r x ../other".to_owned(), "ask_user"),
        ("grep -Rn x ../other".to_owned(), "ask_user"),
        ("rg x ../other".to_owned(), "ask_user"),
        ("grep -e x ../other/x".to_owned(), "ask_user"),
        ("grep --file=../other/x a.txt".to_owned(), "ask_user"),
        ("wc --files0-from=../other/x".to_owned(), "ask_user"),
        ("sed -n p ../other/x".to_owned(), "ask_user"),
        ("timeout 5 cat ../other/x".to_owned(), "ask_user"),
        ("cd sub && cat ../../other/x".to_owned(), "ask_user"),
        ("cat ../other/*".to_owned(), "ask_user"),
        ("git -C ../other log".to_owned(), "ask_user"),
    ] {
        assert_eq!(decide(facts(), "", &line, ApprovalMode::Default), expected, "{line}");
        let plan = decide(facts(), "", &line, ApprovalMode::Plan);
        assert_eq!(plan, decide(facts(), "", "cat a.txt", ApprovalMode::Plan), "{line}");
    }
    // Commands that a rule allows run at a level that reads everything.
    let rule = ECHO.replace("echo", "cat");
    assert_eq!(decide(facts(), &rule, "cat ../other/x", ApprovalMode::Default), "allow");
}
