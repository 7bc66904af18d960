//! The environment of a command.

use std::path::PathBuf;

use pollux_shell::{Dialect, Shell, child_environment};

use super::{command, outcome};

/// Returns the path of a missing Git configuration file, which Git treats as empty.
fn no_git_config() -> PathBuf {
    std::env::temp_dir().join("pollux-no-such-folder/empty.gitconfig")
}

#[tokio::test]
async fn credentials_are_gone_and_git_asks_nobody() {
    let mut command = command(
        "echo \"[$MY_KEY][$OTHER][$GEMINI_CLI][$PAGER][$GIT_TERMINAL_PROMPT]\"; \
         env | grep -c MY_KEY",
    );
    command.child.environment.push(("MY_KEY".into(), "secret".into()));
    command.child.environment.push(("OTHER".into(), "kept".into()));
    command.child.environment =
        child_environment(command.child.environment, &["MY_KEY"], Some(&no_git_config()));
    assert_eq!(outcome(command).await.text(), "[][kept][1][cat][0]\n0");
}

#[tokio::test]
async fn git_takes_our_settings_over_the_repositorys() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(
        "git init -q . && printf '[core]\\n fsmonitor = touch canary\\n pager = touch canary\\n' \
         >> .git/config && git status --short && git config core.pager; ls",
    );
    command.child.folder = folder.path().into();
    command.child.environment =
        child_environment(command.child.environment, &[], Some(&no_git_config()));
    assert_eq!(outcome(command).await.text(), "cat");
}

/// Regression test: `diff.external` was set to an empty value, which git tried to run.
#[tokio::test]
async fn git_shows_differences() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(
        "git init -q . && echo one > file && git add file && echo two > file && git diff | tail -n 1; \
         git ls-remote ssh://nowhere.invalid/x 2>&1 | grep -c 'cannot run'",
    );
    command.child.folder = folder.path().into();
    command.child.environment =
        child_environment(command.child.environment, &[], Some(&no_git_config()));
    assert_eq!(outcome(command).await.text(), "+two\n0");
}

#[tokio::test]
async fn only_the_given_environment_is_passed_on() {
    let mut command = command("echo \"[$HOME][$GIVEN]\"");
    command.child.environment = vec![("GIVEN".into(), "yes".into())];
    assert_eq!(outcome(command).await.text(), "[][yes]");
}

#[test]
fn bash_goes_before_sh_and_relative_folders_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = |names: &[&str]| {
        for name in names {
            std::os::unix::fs::symlink("/bin/sh", folder.path().join(name)).unwrap();
        }
        Shell::find_on(folder.path().as_os_str())
    };
    assert_eq!(path(&[]), None);
    assert_eq!(path(&["sh"]).unwrap().dialect, Dialect::Posix);
    assert_eq!(path(&["bash"]).unwrap().dialect, Dialect::Bash);
    assert_eq!(Shell::find_on("bin:.".as_ref()), None);
}
