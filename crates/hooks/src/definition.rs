//! Hook definitions of the settings files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pollux_config::{Layer, LayerKind};
use pollux_protocol::HookEvent;
use serde_json::{Map, Value};

use crate::matcher::Matcher;

/// Default time limit of a hook.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum time limit of a hook. Longer limits are reduced to this value.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(24);
/// Keys of the group `hooks` that were settings in earlier versions and are not events.
const OLD_KEYS: [&str; 3] = ["enabled", "disabled", "notifications"];
/// Maximum number of hooks read from one file.
const MOST_HOOKS: usize = 1000;

/// Origin of a hook: a settings layer or an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookSource {
    /// Settings of the folder.
    Project,
    /// Settings of the user.
    User,
    /// Settings of the administrator.
    System,
    /// File of an extension.
    Extension,
}

impl HookSource {
    /// Returns the name of the source in listings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::System => "system",
            Self::Extension => "extensions",
        }
    }

    fn of(layer: LayerKind) -> Self {
        match layer {
            LayerKind::Workspace => Self::Project,
            LayerKind::User => Self::User,
            LayerKind::SystemDefaults | LayerKind::System => Self::System,
        }
    }
}

/// A program that runs at an event.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Event at which the hook runs.
    pub event: HookEvent,
    /// Origin of the hook.
    pub source: HookSource,
    /// File that defines the hook.
    pub file: PathBuf,
    /// Tools or reasons for which the hook runs, as written in the settings.
    pub matcher: Option<String>,
    /// True if all hooks of the event run one after the other.
    pub sequential: bool,
    /// Name of the hook.
    pub name: Option<String>,
    /// Command line for the shell.
    pub command: String,
    /// Purpose of the hook.
    pub description: Option<String>,
    /// Time limit of one run.
    pub timeout: Duration,
    /// Additional environment variables.
    pub environment: Vec<(String, String)>,
    /// Hash of the consent item that the user agreed to, if the user was asked.
    pub(crate) pin: Option<String>,
    pub(crate) compiled: Matcher,
}

impl Hook {
    /// Returns the hook's name, or its command line if the hook has no name.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }

    /// Returns true if both hooks have the same definition, regardless of consent.
    pub fn is_the_same_as(&self, other: &Self) -> bool {
        self.key() == other.key()
            && (self.event, &self.file, &self.matcher) == (other.event, &other.file, &other.matcher)
    }

    /// Returns the key for duplicate detection: hooks with equal keys run only once.
    pub(crate) fn key(&self) -> (&str, &str) {
        (self.name.as_deref().unwrap_or_default(), &self.command)
    }
}

/// Result of reading the settings.
#[derive(Debug, Clone, Default)]
pub struct HookDefinitions {
    /// Hooks in planning order: the administrator's defaults, the user's hooks, the folder's hooks,
    /// and the administrator's overrides.
    pub hooks: Vec<Hook>,
    /// Messages for the user about definitions that were skipped, with the reason.
    pub warnings: Vec<String>,
}

/// Reads the hooks of all settings files. Invalid definitions are skipped with a warning; the other
/// definitions stay in effect.
pub fn read(layers: &[Layer]) -> HookDefinitions {
    let mut found = HookDefinitions::default();
    for layer in layers {
        let Some(group) = layer.value.get("hooks") else { continue };
        let (source, file) = (HookSource::of(layer.kind), layer.path.as_path());
        Reading { source, file, found: &mut found, taken: 0 }.group(group);
    }
    found
}

/// Reads the hooks of an extension: the value of `hooks` in the file. Each program gets the
/// variables.
pub fn read_extension(hooks: &Value, file: &Path, variables: &[(&str, &str)]) -> HookDefinitions {
    let mut found = HookDefinitions::default();
    Reading { source: HookSource::Extension, file, found: &mut found, taken: 0 }.group(hooks);
    for hook in &mut found.hooks {
        hook.environment.retain(|(name, _)| variables.iter().all(|(known, _)| known != name));
        let own = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        hook.environment.extend(own);
    }
    found
}

/// State of reading one file.
struct Reading<'a> {
    source: HookSource,
    file: &'a Path,
    found: &'a mut HookDefinitions,
    taken: usize,
}

impl Reading<'_> {
    fn warn(&mut self, place: &str, problem: &str) {
        let path = self.file.display();
        self.found.warnings.push(format!("Invalid hook in {path}, ignored: {place} {problem}."));
    }

    fn group(&mut self, group: &Value) {
        match group {
            Value::Object(events) => self.events(events),
            Value::Null => {}
            _ => self.warn("hooks", "must be an object with events as keys"),
        }
    }

    fn events(&mut self, events: &Map<String, Value>) {
        for (name, definitions) in events {
            if OLD_KEYS.contains(&name.as_str()) {
                continue;
            }
            let Some(event) = HookEvent::of_name(name) else {
                let source = self.source.as_str();
                self.found.warnings.push(format!(
                    "Invalid hook event name: \"{name}\" from {source} config. Skipping."
                ));
                continue;
            };
            let Value::Array(definitions) = definitions else {
                self.warn(&format!("hooks.{name}"), "must be a list");
                continue;
            };
            for (index, definition) in definitions.iter().enumerate() {
                self.definition(event, &format!("hooks.{name}[{index}]"), definition);
            }
        }
    }

    fn definition(&mut self, event: HookEvent, place: &str, definition: &Value) {
        let Some(Value::Array(hooks)) = definition.get("hooks") else {
            return self.warn(place, "has no \"hooks\" array");
        };
        let matcher = match definition.get("matcher") {
            None | Some(Value::Null) => None,
            Some(Value::String(matcher)) => Some(matcher.clone()),
            Some(_) => return self.warn(place, "has a \"matcher\" that is not a string"),
        };
        let sequential = definition.get("sequential") == Some(&Value::Bool(true));
        for (index, hook) in hooks.iter().enumerate() {
            if self.taken == MOST_HOOKS {
                return self.warn(place, &format!("exceeds the maximum of {MOST_HOOKS} hooks"));
            }
            match self.hook(event, matcher.clone(), sequential, hook) {
                Ok(hook) => {
                    self.taken += 1;
                    self.found.hooks.push(hook);
                }
                Err(problem) => self.warn(&format!("{place}.hooks[{index}]"), &problem),
            }
        }
    }

    fn hook(
        &self,
        event: HookEvent,
        matcher: Option<String>,
        sequential: bool,
        given: &Value,
    ) -> Result<Hook, String> {
        let text = |key: &str| match given.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        match given.get("type").and_then(Value::as_str) {
            Some("command") => {}
            Some("runtime") => {
                return Err(
                    "has the type \"runtime\", which only a program that embeds the agent can use"
                        .to_owned(),
                );
            }
            Some(other) => return Err(format!("has the unknown type {other:?}")),
            None => return Err("has no \"type\"; it must be \"command\"".to_owned()),
        }
        let command = text("command").ok_or("has no \"command\"")?;
        Ok(Hook {
            event,
            source: self.source,
            file: self.file.to_owned(),
            compiled: Matcher::new(matcher.as_deref()),
            matcher,
            sequential,
            name: text("name"),
            command,
            description: text("description"),
            timeout: timeout(given.get("timeout")),
            environment: environment(given.get("env")),
            pin: None,
        })
    }
}

/// Parses a time limit in milliseconds. Returns the default if the value is not a positive number.
fn timeout(given: Option<&Value>) -> Duration {
    let milliseconds = given.and_then(Value::as_f64).filter(|number| *number > 0.0);
    milliseconds.map_or(DEFAULT_TIMEOUT, |number| {
        Duration::try_from_secs_f64(number / 1000.0)
            .map_or(LONGEST_TIMEOUT, |limit| limit.min(LONGEST_TIMEOUT))
    })
}

/// Parses environment variables: strings are taken unchanged, numbers and booleans are converted to
/// text.
fn environment(given: Option<&Value>) -> Vec<(String, String)> {
    let variable = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        // Operating systems cannot pass on other names and values.
        let passes = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        passes.then(|| (name.clone(), value))
    };
    given.and_then(Value::as_object).into_iter().flatten().filter_map(variable).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "tests hand it a literal")]
    fn layer(kind: LayerKind, hooks: Value) -> Layer {
        Layer { kind, path: "/s.json".into(), value: json!({ "hooks": hooks }) }
    }

    #[test]
    fn hooks_of_all_files_in_order() {
        let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
        let found = read(&[
            layer(LayerKind::User, json!({"BeforeTool": hook("u")})),
            layer(LayerKind::Workspace, json!({"BeforeTool": hook("w"), "enabled": true})),
            layer(LayerKind::System, json!({"AfterTool": hook("s")})),
        ]);
        let reported: Vec<_> = found
            .hooks
            .iter()
            .map(|hook| (hook.event.as_str(), hook.source.as_str(), hook.label()))
            .collect();
        assert_eq!(
            reported,
            [
                ("BeforeTool", "user", "u"),
                ("BeforeTool", "project", "w"),
                ("AfterTool", "system", "s")
            ]
        );
        assert_eq!(found.warnings, Vec::<String>::new());
    }

    #[test]
    fn all_fields() {
        let found = read(&[layer(
            LayerKind::User,
            json!({"BeforeTool": [{"matcher": "a|b", "sequential": true, "hooks": [{
                "type": "command", "name": "n", "command": "c", "description": "d",
                "timeout": 1500, "env": {"A": "b", "N": 5, "X": null, "B=": "x"}}]}]}),
        )]);
        let hook = &found.hooks[0];
        assert_eq!((hook.matcher.as_deref(), hook.sequential), (Some("a|b"), true));
        assert_eq!((hook.label(), hook.command.as_str()), ("n", "c"));
        assert_eq!(hook.timeout, Duration::from_millis(1500));
        assert_eq!(hook.environment, [("A".into(), "b".into()), ("N".into(), "5".into())]);
    }

    #[test]
    fn what_makes_no_sense_is_named_and_left_out() {
        let good = json!({"hooks": [{"type": "command", "command": "ok"}]});
        let table = [
            (json!([]), "hooks must be an object with events as keys."),
            (json!({"Nope": []}), "Invalid hook event name: \"Nope\" from user config. Skipping."),
            (json!({"BeforeTool": {"x": 1}}), "hooks.BeforeTool must be a list."),
            (json!({"BeforeTool": [5, good]}), "hooks.BeforeTool[0] has no \"hooks\" array."),
            (
                json!({"BeforeTool": [{"matcher": 5, "hooks": []}]}),
                "hooks.BeforeTool[0] has a \"matcher\" that is not a string.",
            ),
            (
                json!({"BeforeTool": [{"hooks": [{"type": "x", "command": "c"}]}]}),
                "hooks.BeforeTool[0].hooks[0] has the unknown type \"x\".",
            ),
            (
                json!({"BeforeTool": [{"hooks": [{"type": "command"}]}]}),
                "hooks.BeforeTool[0].hooks[0] has no \"command\".",
            ),
        ];
        for (hooks, warning) in table {
            let found = read(&[layer(LayerKind::User, hooks)]);
            assert_eq!(found.warnings.len(), 1, "{warning}");
            assert!(found.warnings[0].ends_with(warning), "{:?}", found.warnings);
        }
    }

    #[test]
    fn time_limits() {
        let table = [
            (json!(1), Duration::from_millis(1)),
            (json!(0.5), Duration::from_micros(500)),
            (json!(0), DEFAULT_TIMEOUT),
            (json!(-5), DEFAULT_TIMEOUT),
            (json!("5"), DEFAULT_TIMEOUT),
            (json!(1e300), LONGEST_TIMEOUT),
        ];
        for (given, expected) in table {
            assert_eq!(timeout(Some(&given)), expected, "{given}");
        }
    }
}
