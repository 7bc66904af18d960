//! The environment a child process gets. Pure, a list in and a list out, but for the file that stands for the
//! person's and the system's Git configuration.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use pollux_fs::{EntryKind, Expectation, WriteOptions};

/// Variables every command gets, whatever the user's own values are (as Gemini CLI 0.61 sets them):
/// no pager, no prompt and no dialog may wait for a person who cannot see it.
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

/// Variables that name Git's configuration files. They get an empty file of Pollux's own, where Gemini CLI sets
/// `/dev/null`: `git config --global` renames a new file over the one that is named, and root may do that to a
/// device. The user's own configuration is hidden, identity included: a `git commit` in a repository without
/// `user.name` of its own fails, as it does there.
const GIT_FILES: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// A path where no file is and none can be made, for when there is no empty file.
const NOWHERE: &str = "/dev/null/config";

/// Git settings that name programs. A repository's own configuration may set each of them, so they
/// are overridden from the environment, which git ranks above every file. No value of `diff.external`
/// means none: with Gemini CLI's empty one every `git diff` that has something to show fails.
const GIT_SETTINGS: &[(&str, &str)] = &[
    ("credential.helper", ""),
    ("core.fsmonitor", ""),
    ("core.hooksPath", ""),
    // An empty command is run, and fails.
    ("core.sshCommand", "ssh"),
    ("core.pager", "cat"),
    ("core.editor", ""),
    ("sequence.editor", ""),
];

const GIT_COUNT: &str = "GIT_CONFIG_COUNT";

/// The environment for a command: `base` without the variables named in `credentials_to_remove`,
/// with the fixed variables of Gemini CLI 0.61 set and its git overrides appended to those that
/// `base` already carries in `GIT_CONFIG_KEY_n`. `git_config` is an [`empty_git_config`], or `None` for a command that
/// may change the person's own configuration of Git.
///
/// Names compare as the platform does: without regard to case on Windows. The order of `base` is
/// kept; our own variables follow.
pub fn child_environment(
    base: impl IntoIterator<Item = (OsString, OsString)>,
    credentials_to_remove: &[&str],
    git_config: Option<&Path>,
) -> Vec<(OsString, OsString)> {
    let mut git_count = 0;
    let mut environment: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in base {
        if same_name(&name, GIT_COUNT) {
            // A count git cannot read would make every git command fail: start afresh.
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
/// A command can replace the file. Each call therefore checks it, and makes it again unless it is an empty file
/// that only this user may write. Where that fails, the path is one that cannot be written either.
pub fn empty_git_config(folder: &Path) -> PathBuf {
    let path = folder.join("empty.gitconfig");
    if is_empty_and_private(&path) {
        return path;
    }
    // Links are removed themselves. A file that is not there need not be removed.
    pollux_fs::remove_file(&path).ok();
    let options = WriteOptions {
        expected: Some(Expectation::Absent),
        mode: Some(0o400),
        ..WriteOptions::private()
    };
    // Another call may have made it in the meantime.
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

/// Windows keeps the folders of a person from others.
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
