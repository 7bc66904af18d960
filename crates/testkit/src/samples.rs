//! Sample projects, made in a folder that exists (most often
//! [`TestHome::project`](crate::TestHome::project)).

use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes files, and the folders they need, below `folder`.
pub fn files<B: AsRef<[u8]>>(folder: impl AsRef<Path>, files: &[(&str, B)]) {
    for (path, content) in files {
        let file = folder.as_ref().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
}

/// A small project with a mistake: `src/lib.rs` adds wrongly, and `check.sh` (a POSIX shell is
/// all it needs) exits 1 until that is mended.
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

/// A git repository with one commit on `main`, an identity of its own, and ignore rules at two
/// levels:
///
/// - tracked: `README.md`, `src/lib.rs`, `docs/guide.md`, `docs/keep.log`, both `.gitignore`s;
/// - ignored by the top one: `debug.log`, `target/out.txt`;
/// - ignored by the one in `docs`: `docs/drafts/idea.md`. It also takes `keep.log` back.
///
/// Settings of the machine and of its user play no part. Fails the test where git is missing.
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

/// Runs git in `folder`, apart from the settings of the machine and its user, and returns what it
/// printed. Dates are fixed, so that the same files give the same commit. Fails the test when git
/// fails.
pub fn git(folder: impl AsRef<Path>, arguments: &[&str]) -> String {
    const DATE: &str = "2026-01-02T03:04:05Z";
    let mut command = Command::new("git");
    // Set when the tests themselves run in a git hook.
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
