//! `/settings`: settings with their values and origins, and changes of them.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::schema::Setting;
use pollux_config::{ConfigError, FileScope, Inspection, Loaded, SourceOutcome, schema};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use super::continuations;
use crate::reload::LiveSettings;
use crate::settings_files::{SettingsFiles, explanation_text, shown};
use crate::setup::Setup;

const USAGE: &str = "Usage: /settings [TEXT], /settings KEY, /settings set KEY VALUE [--scope user|project], or /settings unset KEY [--scope user|project]";
/// Maximum number of settings in a list.
const LISTED: usize = 40;
/// Maximum number of characters of a value in a list.
const LONGEST: usize = 40;

/// `/settings`, with the files and the settings of the session.
pub(super) struct SettingsCommand {
    files: SettingsFiles,
    live: LiveSettings,
}

impl SettingsCommand {
    pub(super) fn new(setup: &Arc<Setup>, live: &LiveSettings) -> Self {
        Self { files: files(setup), live: live.clone() }
    }
}

/// Returns the settings files of a session.
pub(crate) fn files(setup: &Setup) -> SettingsFiles {
    SettingsFiles {
        environment: setup.input.environment.clone(),
        places: setup.places.clone(),
        cwd: setup.input.request.folder.clone(),
        skip_trust: setup.input.options.rules.skip_trust,
    }
}

#[async_trait]
impl Command for SettingsCommand {
    fn name(&self) -> &'static str {
        "settings"
    }

    fn description(&self) -> &'static str {
        "search, explain and change settings"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[TEXT|KEY|set KEY VALUE [--scope user|project]|unset KEY]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let keys = || schema::all().map(|setting| setting.key);
        for verb in ["set ", "unset "] {
            if let Some(key) = partial.strip_prefix(verb) {
                let fitting = keys().filter(|known| known.starts_with(key));
                return fitting.map(|known| format!("{verb}{known}")).collect();
            }
        }
        continuations(partial, ["set", "unset"].into_iter().chain(keys()))
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let (files, live) = (self.files.clone(), self.live.clone());
        let arguments = context.arguments.trim().to_owned();
        let work = tokio::task::spawn_blocking(move || answer(&files, &live, &arguments)).await;
        let text = work.map_err(|error| CommandError(error.to_string()))?.map_err(CommandError)?;
        context.say(text);
        Ok(None)
    }
}

fn answer(files: &SettingsFiles, live: &LiveSettings, arguments: &str) -> Result<String, String> {
    let (verb, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let (rest, scope) = scope_of(rest.trim())?;
    let change = match (verb, rest.split_once(char::is_whitespace)) {
        ("set", Some((key, value))) => files.set(key, value.trim(), scope),
        ("unset", None) if !rest.is_empty() => files.unset(rest, scope),
        ("set" | "unset", _) => return Err(USAGE.to_owned()),
        _ => return shown_settings(files, arguments),
    };
    let change = change.map_err(|error| error.to_string())?;
    let mut lines = vec![change.text];
    lines.extend(change.notes);
    // Reports the settings that are in effect at once, and those that need a restart.
    live.reload().map_err(|failure| failure.to_string())?;
    Ok(lines.iter().map(|line| visible(line)).collect::<Vec<_>>().join("\n"))
}

/// Removes `--scope` and its value from the end of the arguments.
fn scope_of(arguments: &str) -> Result<(&str, FileScope), String> {
    let Some((rest, word)) = arguments.rsplit_once("--scope") else {
        return Ok((arguments, FileScope::User));
    };
    let scope = match word.trim_start_matches('=').trim() {
        "user" => FileScope::User,
        "project" | "workspace" => FileScope::Project,
        _ => return Err(USAGE.to_owned()),
    };
    Ok((rest.trim_end(), scope))
}

/// Explains the setting with this key, or lists those that contain the text.
fn shown_settings(files: &SettingsFiles, text: &str) -> Result<String, String> {
    let loaded = files.load().map_err(|error: ConfigError| error.to_string())?;
    let inspection = Inspection::new(&loaded, &[]);
    if schema::all().any(|setting| setting.key == text) {
        return Ok(explanation_text(&loaded, &inspection.explain(text)));
    }
    let keys = if text.is_empty() { inspection.set_keys() } else { found(text) };
    if keys.is_empty() && !text.is_empty() {
        return Err(format!("No setting contains {text:?}."));
    }
    let mut lines = list(&loaded, &keys);
    if lines.is_empty() {
        lines.push("No setting is set.".to_owned());
    }
    if keys.len() > LISTED {
        lines.push(format!("({} more)", keys.len() - LISTED));
    }
    lines.push("/settings TEXT searches, /settings KEY explains one.".to_owned());
    Ok(lines.join("\n"))
}

/// Returns the keys that contain a text, also in their descriptions, those with it in their names
/// first.
fn found(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let contains = |whole: &str| whole.to_lowercase().contains(&text);
    let (named, others): (Vec<&Setting>, Vec<&Setting>) =
        schema::all().partition(|setting| contains(setting.key));
    let described = others.into_iter().filter(|setting| contains(setting.description));
    named.into_iter().chain(described).map(|setting| setting.key).collect()
}

/// Returns a line for each setting: its key, its value, and the source of the value.
fn list(loaded: &Loaded, keys: &[&str]) -> Vec<String> {
    let inspection = Inspection::new(loaded, &[]);
    let keys = &keys[..keys.len().min(LISTED)];
    let width = keys.iter().map(|key| key.len()).max().unwrap_or_default();
    let line = |key: &&str| {
        let explanation = inspection.explain(key);
        let value = explanation.value.as_ref().map_or("-".to_owned(), |value| shown(key, value));
        let value = match value.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &value[..end]),
            None => value,
        };
        let sources = explanation
            .steps
            .iter()
            .filter(|step| matches!(step.outcome, SourceOutcome::Wins | SourceOutcome::Merged));
        let sources: Vec<&str> = sources.map(|step| step.source.as_str()).collect();
        let sources = if sources.is_empty() {
            "not set".to_owned()
        } else {
            format!("{}  ({})", visible(&value), sources.join(", "))
        };
        format!("{key:<width$}  {sources}")
    };
    keys.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_scope_stands_at_the_end() {
        for (arguments, expected) in [
            ("a b", Some(("a b", "user"))),
            ("a b --scope project", Some(("a b", "project"))),
            ("a b --scope=workspace", Some(("a b", "project"))),
            ("a --scope user", Some(("a", "user"))),
            ("a --scope system", None),
            ("a --scope", None),
        ] {
            let found = scope_of(arguments).ok().map(|(rest, scope)| (rest, scope.as_str()));
            assert_eq!(found, expected, "{arguments}");
        }
    }

    #[test]
    fn names_are_found_before_descriptions() {
        let keys = found("VIMMODE");
        assert_eq!(keys.first(), Some(&"general.vimMode"));
        assert_eq!(found("no such words at all"), [""; 0]);
    }
}
