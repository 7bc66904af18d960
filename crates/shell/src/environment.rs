//! The environment of a child process. Computed by pure functions on a list, except for the empty
//! file that replaces the Git configuration of the user and the system.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use pollux_fs::{EntryKind, Expectation, WriteOptions};

/// Variables with a fixed value for every command, independent of the user's own values (as in
/// Gemini CLI 0.61): no pager, prompt or dialog may wait for a user who cannot see it.
const FIXED: &[(&str, &str)] = &[
    ("GEMINI_CLI", "1"),
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GH_PROMPT_DISABLED", "1"),
    ("GCM_INTERACTIVE", "never"),
    ("DISPLAY", ""),
    ("DBUS_SESSION_BUS_ADDRESS", ""),
];

/// Variables that name Git's configuration files. They name an empty file of Pollux, where Gemini
/// CLI sets `/dev/null`: `git config --global` replaces the named file by renaming a new one, and
/// root may do that to a device. The user's own configuration is hidden, including name and email:
/// as in Gemini CLI, `git commit` fails in a repository that does not set `user.name`.
const GIT_FILES: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// Path at which no file exists and none can be created, used if there is no empty file.
const NOWHERE: &str = "/dev/null/config";

/// Git settings that name programs. A repository's configuration may set each of them, so they are
/// overridden from the environment, which takes precedence over every file. `diff.external` has no
/// value that means "no program": with the empty value of Gemini CLI, every `git diff` with
/// differences fails.
const GIT_SETTINGS: &[(&str, &str)] = &[
    ("credential.helper", ""),
    ("core.fsmonitor", ""),
    ("core.hooksPath", ""),
    // Git would run an empty command, which fails.
    ("core.sshCommand", "ssh"),
    ("core.pager", "cat"),
    ("core.editor", ""),
    ("sequence.editor", ""),
    // A folder of a cloned repository may be a bare repository, whose configuration names programs.
    ("safe.bareRepository", "explicit"),
];

const GIT_COUNT: &str = "GIT_CONFIG_COUNT";

/// Returns the environment for a command: `base` without the variables named in
/// `credentials_to_remove`, with the fixed variables of Gemini CLI 0.61. The Git settings are
/// appended to those that `base` already has in `GIT_CONFIG_KEY_n`. `git_config` is an
/// [`empty_git_config`], or `None` for a command that may change the user's own Git configuration.
///
/// Names are compared as on the platform: on Windows letter case is ignored. The order of `base` is
/// kept; the variables of Pollux follow.
pub fn child_environment(
    base: impl IntoIterator<Item = (OsString, OsString)>,
    credentials_to_remove: &[&str],
    git_config: Option<&Path>,
) -> Vec<(OsString, OsString)> {
    let mut git_count = 0;
    let mut environment: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in base {
        if same_name(&name, GIT_COUNT) {
            // With a count that git cannot read, every git command would fail: restart at 0.
            git_count = value.to_str().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
            continue;
        }
        let git_files = git_config.map_or(&[][..], |_| &GIT_FILES);
        let mut fixed = FIXED.iter().map(|(fixed, _)| fixed).chain(git_files);
        let replaced = fixed.any(|fixed| same_name(&name, fixed));
        let secret = credentials_to_remove.iter().any(|secret| same_name(&name, secret));
        if !replaced && !secret {
            environment.push((name, value));
        }
    }
    let fixed = FIXED.iter().map(|&(name, value)| (name.into(), value.into()));
    environment.extend(fixed);
    environment.extend(
        git_config.into_iter().flat_map(|path| GIT_FILES.map(|name| (name.into(), path.into()))),
    );
    append_git_settings(&mut environment, git_count);
    environment
}

/// Returns the path of an empty, private, read-only file in `folder`, for [`child_environment`].
///
/// A command can replace the file. Each call therefore checks it, and creates it again unless it is
/// an empty file that only this user may write. If that fails, the result is a path that cannot be
/// written either. Blocks the thread.
pub fn empty_git_config(folder: &Path) -> PathBuf {
    let path = folder.join("empty.gitconfig");
    if is_empty_and_private(&path) {
        return path;
    }
    // A link itself is removed, not its target. An error for a missing file is harmless.
    pollux_fs::remove_file(&path).ok();
    let options = WriteOptions {
        expected: Some(Expectation::Absent),
        mode: Some(0o400),
        without_sync: true,
        ..WriteOptions::private()
    };
    // Another call may have created the file in the meantime.
    let is_made = pollux_fs::write_atomic(&path, b"", &options).is_ok();
    if is_made || is_empty_and_private(&path) { path } else { NOWHERE.into() }
}

fn is_empty_and_private(path: &Path) -> bool {
    let is_empty =
        pollux_fs::link_info(path).is_ok_and(|info| info.kind == EntryKind::File && info.size == 0);
    is_empty && is_private(path)
}

#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    pollux_fs::ownership(path).is_ok_and(|owned| owned.user == user && owned.mode & 0o022 == 0)
}

/// Returns true: Windows keeps a user's folders private.
#[cfg(not(unix))]
fn is_private(_path: &Path) -> bool {
    true
}

fn append_git_settings(environment: &mut Vec<(OsString, OsString)>, first: u32) {
    let end = first.saturating_add(GIT_SETTINGS.len() as u32);
    let ours: Vec<(OsString, OsString)> = (first..end)
        .zip(GIT_SETTINGS)
        .flat_map(|(index, &(key, value))| {
            [
                (format!("GIT_CONFIG_KEY_{index}").into(), key.into()),
                (format!("GIT_CONFIG_VALUE_{index}").into(), value.into()),
            ]
        })
        .collect();
    environment.retain(|(name, _)| !ours.iter().any(|(our_name, _)| our_name == name));
    environment.extend(ours);
    environment.push((GIT_COUNT.into(), end.to_string().into()));
}

fn same_name(name: &OsStr, other: &str) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(other) } else { name == other }
}

#[cfg(test)]
mod tests;
