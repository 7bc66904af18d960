//! Configuration of Gemini CLI that this version does not act on. It is reported once, and again
//! after each change of it, because a user would otherwise rely on it. Settings that only change
//! the appearance are left to `config report`.

use pollux_config::consent::short;
use pollux_config::{Loaded, ProjectIdentity, schema};
use pollux_fs::WriteOptions;
use pollux_protocol::Notices;
use serde_json::Value;

/// Beginnings of the keys of settings that only change the appearance, the editor or updates.
const COSMETIC: [&str; 14] = [
    "ui.",
    "ide.",
    "general.preferredEditor",
    "general.openEditorInNewWindow",
    "general.devtools",
    "general.enableAutoUpdate",
    "general.enableNotifications",
    "general.notificationMethod",
    "general.debugKeystrokeLogging",
    "experimental.useOSC52",
    "experimental.voice",
    "hooksConfig.notifications",
    "advanced.autoConfigureMemory",
    "tools.useRipgrep",
];

/// File in the state of a project with the report that was shown last.
const REPORTED: &str = "not-available.txt";
/// Maximum size of this file, in bytes.
const MAX_REPORTED: usize = 64 << 10;

/// Maximum number of names of one kind in the report.
const MAX_NAMES: usize = 4;

/// Reports in one line what is configured without effect, unless the last report was the same.
pub(crate) fn report(loaded: &Loaded, project: &ProjectIdentity, notices: &dyn Notices) {
    let found = found(loaded);
    let file = project.temporary_dir.join(REPORTED);
    let reported = pollux_fs::read_head(&file, MAX_REPORTED).unwrap_or_default();
    if found.as_bytes() == reported {
        return;
    }
    if !found.is_empty() {
        notices.warning(&format!(
            "[WARNING] Not available in this version of Pollux, and ignored: {found}. \
             This is reported once; config report lists settings without effect."
        ));
    }
    // If the report cannot be recorded, it is shown again.
    drop(pollux_fs::write_atomic(&file, found.as_bytes(), &WriteOptions::private()));
}

/// Returns the configuration without effect.
fn found(loaded: &Loaded) -> String {
    let defaults = schema::defaults();
    let is_idle = |setting: &&schema::Setting| {
        let value = loaded.settings.value(setting.key);
        !setting.acted_on
            && !COSMETIC.iter().any(|beginning| setting.key.starts_with(beginning))
            // A feature that does not exist is off already.
            && value.is_some_and(|value| {
                let default = schema::lookup(&defaults, setting.key);
                *value != Value::Bool(false) && default != Some(value)
            })
    };
    let settings: Vec<String> =
        schema::all().filter(is_idle).map(|setting| setting.key.to_owned()).collect();
    listed("settings", &settings).unwrap_or_default()
}

/// Returns the kind with the first names; `None` if there are no names.
fn listed(plural: &str, names: &[String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| short(name)).collect();
    let more = names.len() - shown.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("{plural} ({}{more})", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_few_names_are_listed() {
        let names = |count| (0..count).map(|number| format!("n{number}")).collect::<Vec<_>>();
        assert_eq!(listed("extensions", &[]), None);
        assert_eq!(listed("extensions", &names(2)).unwrap(), "extensions (n0, n1)");
        let expected = "extensions (n0, n1, n2, n3 and 5 more)";
        assert_eq!(listed("extensions", &names(9)).unwrap(), expected);
        let name = "\u{1b}[2J".to_owned();
        assert_eq!(listed("extensions", &[name]).unwrap(), "extensions (\\u{1b}[2J)");
    }
}
