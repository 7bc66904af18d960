//! Sample projects, created in an existing folder (usually
//! [`TestHome::project`](crate::TestHome::project)).

use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes files below `folder` and creates the folders they need.
pub fn files<B: AsRef<[u8]>>(folder: impl AsRef<Path>, files: &[(&str, B)]) {
    for (path, content) in files {
        let file = folder.as_ref().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
}

/// Creates a small project with a bug: `src/lib.rs` adds wrongly, and `check.sh` (which needs only
/// a POSIX shell) exits with 1 until the bug is fixed.
pub fn rust_like_project(folder: impl AsRef<Path>) {
    files(
        &folder,
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            ),
            ("README.md", "# Sample\n\nAdds two numbers.\n"),
            ("src/lib.rs", "pub fn add(left: i64, right: i64) -> i64 {\n    left - right\n}\n"),
            ("src/main.rs", "fn main() {\n    println!(\"{}\", sample::add(1, 2));\n}\n"),
            (
                "check.sh",
                "#!/bin/sh\nif grep -q 'left + right' src/lib.rs; then\n    echo ok\nelse\n    \
                 echo 'FAILED: add(1, 2) is not 3' >&2\n    exit 1\nfi\n",
            ),
        ],
    );
}

/// Creates a git repository with one commit on `main`, its own identity, and ignore rules at two
/// levels:
///
/// - tracked: `README.md`, `src/lib.rs`, `docs/guide.md`, `docs/keep.log`, both `.gitignore` files;
/// - ignored by the top-level rules: `debug.log`, `target/out.txt`;
/// - ignored by the rules in `docs`: `docs/drafts/idea.md`. These rules also include `keep.log`
///   again.
///
/// The settings of the machine and of its user have no effect. Fails the test if git is missing.
pub fn git_repo(folder: impl AsRef<Path>) {
    files(
        &folder,
        &[
            (".gitignore", "target/\n*.log\n"),
            ("README.md", "# Sample\n"),
            ("src/lib.rs", "//! Nothing yet.\n"),
            ("docs/.gitignore", "drafts/\n!keep.log\n"),
            ("docs/guide.md", "Read the source.\n"),
            ("docs/keep.log", "kept\n"),
            ("docs/drafts/idea.md", "Perhaps.\n"),
            ("debug.log", "noise\n"),
            ("target/out.txt", "built\n"),
        ],
    );
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    for (key, value) in
        [("user.name", "Test"), ("user.email", "test@example.com"), ("commit.gpgsign", "false")]
    {
        git(&folder, &["config", key, value]);
    }
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "First"]);
}

/// Runs git in `folder`, without the settings of the machine and its user, and returns its output.
/// Dates are fixed, so that the same files give the same commit. Fails the test if git fails.
pub fn git(folder: impl AsRef<Path>, arguments: &[&str]) -> String {
    const DATE: &str = "2026-01-02T03:04:05Z";
    let mut command = Command::new("git");
    // These variables are set when the tests themselves run in a git hook.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let output = command
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", if cfg!(windows) { "NUL" } else { "/dev/null" })
        .env("GIT_AUTHOR_DATE", DATE)
        .env("GIT_COMMITTER_DATE", DATE)
        .output()
        .expect("git is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
