//! The environment a child process gets. Pure: a list in, a list out.

use std::ffi::{OsStr, OsString};

/// Variables every command gets, whatever the user's own values are (as Gemini CLI 0.61 sets them):
/// no pager, no prompt and no dialog may wait for a person who cannot see it.
///
/// The two `GIT_CONFIG_*=/dev/null` entries hide the user's own git configuration, identity
/// included: a `git commit` in a repository without `user.name` of its own fails, as it does there.
const FIXED: &[(&str, &str)] = &[
    ("GEMINI_CLI", "1"),
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GH_PROMPT_DISABLED", "1"),
    ("GCM_INTERACTIVE", "never"),
    ("DISPLAY", ""),
    ("DBUS_SESSION_BUS_ADDRESS", ""),
];

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
/// `base` already carries in `GIT_CONFIG_KEY_n`.
///
/// Names compare as the platform does: without regard to case on Windows. The order of `base` is
/// kept; our own variables follow.
pub fn child_environment(
    base: impl IntoIterator<Item = (OsString, OsString)>,
    credentials_to_remove: &[&str],
) -> Vec<(OsString, OsString)> {
    let mut git_count = 0;
    let mut environment: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in base {
        if same_name(&name, GIT_COUNT) {
            // A count git cannot read would make every git command fail: start afresh.
            git_count = value.to_str().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
            continue;
        }
        let replaced = FIXED.iter().any(|(fixed, _)| same_name(&name, fixed));
        let secret = credentials_to_remove.iter().any(|secret| same_name(&name, secret));
        if !replaced && !secret {
            environment.push((name, value));
        }
    }
    let fixed = FIXED.iter().map(|&(name, value)| (name.into(), value.into()));
    environment.extend(fixed);
    append_git_settings(&mut environment, git_count);
    environment
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
