//! Explanation of the layer that determines a setting, and of the reason.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::Environment;
use crate::environment::names;
use crate::error::Position;
use crate::jsonc::{self, KeyPlaces};
use crate::load::{LayerFileState, LayerKind, Loaded, read_text};
use crate::merge::merge_into;
use crate::schema::MergeStrategy;
use crate::schema::{self, Setting, SettingKind};
use crate::validate::check_value;

#[cfg(test)]
mod tests;

/// Source of a value, ordered from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// The table of defaults in the program.
    Default,
    /// The file of a layer.
    File(LayerKind),
    /// A variable of the environment or of the `.env` file.
    Environment,
    /// A command-line flag.
    Flag,
}

impl ValueSource {
    /// Returns the name of the source in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File(LayerKind::SystemDefaults) => "system-defaults",
            Self::File(LayerKind::User) => "user",
            Self::File(LayerKind::Workspace) => "project",
            Self::File(LayerKind::System) => "system",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// Effect of a source on the final value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOutcome {
    /// The source determines the final value.
    Wins,
    /// The source's value is part of the final value.
    Merged,
    /// A stronger source replaces the value.
    Overridden,
    /// The source has no value.
    Unset,
    /// The source's value is ignored, for this reason.
    Ignored(String),
}

impl SourceOutcome {
    /// Returns the name of the outcome in output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Wins => "wins",
            Self::Merged => "merged",
            Self::Overridden => "overridden",
            Self::Unset => "unset",
            Self::Ignored(_) => "ignored",
        }
    }
}

/// A source and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplanationStep {
    /// The source.
    pub source: ValueSource,
    /// Path of the file, or of the `.env` file that a variable comes from.
    pub path: Option<PathBuf>,
    /// Position of the key in the file.
    pub position: Option<Position>,
    /// Names of the variables or the flag of the source.
    pub names: Vec<String>,
    /// Value as written in the file, if variables in it are replaced.
    pub written: Option<Value>,
    /// Value of the source.
    pub value: Option<Value>,
    /// Effect on the final value.
    pub outcome: SourceOutcome,
}

/// A value given by a flag.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Dotted key of the setting that the flag overrides.
    pub key: &'static str,
    /// Flag as written.
    pub flag: &'static str,
    /// Value of the flag.
    pub value: Value,
}

/// Explanation of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Dotted key.
    pub key: String,
    /// Setting that has this key or contains it, or `None` for an unknown key.
    pub setting: Option<&'static Setting>,
    /// Final value.
    pub value: Option<Value>,
    /// All sources, the weakest first.
    pub steps: Vec<ExplanationStep>,
    /// Further notes for the user, in sentences.
    pub notes: Vec<String>,
}

/// Settings of a run, prepared for explanations.
#[derive(Debug)]
pub struct Inspection<'a> {
    loaded: &'a Loaded,
    given: &'a [Given],
    /// Final values of the settings.
    effective: Value,
    /// Settings files as written.
    written: Vec<Written>,
}

/// A settings file as written.
#[derive(Debug)]
struct Written {
    kind: LayerKind,
    value: Value,
    places: KeyPlaces,
}

impl<'a> Inspection<'a> {
    /// Reads the files of `loaded` again to find the positions of keys. `given` are the values of
    /// flags.
    pub fn new(loaded: &'a Loaded, given: &'a [Given]) -> Self {
        let written = loaded.layers.iter().filter_map(|layer| {
            // A file that was changed or removed in the meantime has no positions.
            let text = read_text(&layer.path).ok()?;
            let value = jsonc::parse(&layer.path, &text).ok()?;
            let places = jsonc::key_places(&layer.path, &text).ok()?;
            Some(Written { kind: layer.kind, value, places })
        });
        Self { loaded, given, effective: effective(loaded, given), written: written.collect() }
    }

    /// Returns the final value at the dotted key of a setting, a group or a part of a setting.
    pub fn value(&self, key: &str) -> Option<&Value> {
        value_at(&self.effective, key).filter(|value| !value.is_null())
    }

    /// Returns the settings that a file, a variable or a flag sets, in the order of the reference.
    pub fn set_keys(&self) -> Vec<&'static str> {
        let in_file = |key: &str| {
            self.loaded.layers.iter().any(|layer| value_at(&layer.value, key).is_some())
        };
        let over = |setting: &Setting| {
            over_files(self.loaded, setting, self.given).iter().any(|step| step.value.is_some())
        };
        let is_set = |setting: &&Setting| in_file(setting.key) || over(setting);
        schema::all().filter(is_set).map(|setting| setting.key).collect()
    }

    /// Explains a dotted key: that of a setting, of a part of a setting, or an unknown one.
    pub fn explain(&self, key: &str) -> Explanation {
        let setting = schema::owner(key);
        let mut steps = vec![default_step(key)];
        let mut notes = Vec::new();
        for file in &self.loaded.files {
            let mut step = ExplanationStep {
                path: Some(file.path.clone()),
                ..step(ValueSource::File(file.kind))
            };
            match &file.state {
                LayerFileState::Read => self.read_step(key, file.kind, &mut step),
                LayerFileState::Absent => {}
                LayerFileState::Skipped(reason) => {
                    step.outcome = SourceOutcome::Ignored(format!("not read: {reason}"));
                }
            }
            steps.push(step);
        }
        self.judge(key, &mut steps);
        if let Some(setting) = setting.filter(|setting| setting.key == key) {
            let over = over_files(self.loaded, setting, self.given);
            judge_over_files(setting, &mut steps, over);
            notes.extend(remarks(self.loaded, setting));
        }
        let value = self.value(key).cloned();
        Explanation { key: key.to_owned(), setting, value, steps, notes }
    }

    /// Fills in the value of a layer's file, as merged and as written.
    fn read_step(&self, key: &str, kind: LayerKind, step: &mut ExplanationStep) {
        let layer = self.loaded.layers.iter().find(|layer| layer.kind == kind);
        step.value = layer.and_then(|layer| value_at(&layer.value, key)).cloned();
        let Some(file) = self.written.iter().find(|file| file.kind == kind) else { return };
        let written = value_at(&file.value, key).cloned();
        step.position = file.places.found.get(key).copied();
        if written.is_some() && step.value.is_none() {
            let is_remote = key == "admin" || key.starts_with("admin.");
            let reason = match kind {
                _ if is_remote => REMOTE,
                LayerKind::Workspace => "you have not approved it for this folder",
                _ => "it does not take effect",
            };
            step.outcome = SourceOutcome::Ignored(reason.to_owned());
        }
        step.written = written.filter(|written| Some(written) != step.value.as_ref());
    }

    /// Determines the outcome of each source below the variables.
    ///
    /// Sources whose removal does not change the value are overridden; the weakest source is
    /// checked first. The remaining sources determine the value.
    fn judge(&self, key: &str, steps: &mut [ExplanationStep]) {
        // Merging never crosses the first name of the key, so only that part is merged.
        let top = key.split('.').next().unwrap_or_default();
        let part = |value: &Value| value.get(top).map(|value| json!({ top: value }));
        let mut parts: Vec<(ValueSource, Value)> = Vec::new();
        parts.extend(part(&schema::defaults()).map(|part| (ValueSource::Default, part)));
        for layer in &self.loaded.layers {
            parts.extend(part(&layer.value).map(|part| (ValueSource::File(layer.kind), part)));
        }
        let result = merged(&parts, key);
        for step in steps.iter_mut().filter(|step| step.value.is_some()) {
            let rest: Vec<_> =
                parts.iter().filter(|(source, _)| *source != step.source).cloned().collect();
            step.outcome = SourceOutcome::Merged;
            if merged(&rest, key) == result {
                step.outcome = SourceOutcome::Overridden;
                parts = rest;
            }
        }
        let mut remaining = steps.iter_mut().filter(|step| step.outcome == SourceOutcome::Merged);
        if let (Some(only), None) = (remaining.next(), remaining.next()) {
            only.outcome = SourceOutcome::Wins;
        }
    }
}

/// Returns the value at a dotted key. `telemetry: true` is short for an object with `enabled`.
fn value_at<'a>(settings: &'a Value, key: &str) -> Option<&'a Value> {
    schema::lookup(settings, key).or_else(|| {
        let short = settings.get("telemetry").filter(|value| value.is_boolean());
        short.filter(|_| key == "telemetry.enabled")
    })
}

/// Returns the final settings: the merged files, overridden by variables and flags, with defaults
/// instead of values of the wrong type.
fn effective(loaded: &Loaded, given: &[Given]) -> Value {
    let mut value = loaded.settings.merged().clone();
    if let Some(Value::Bool(enabled)) = value.get("telemetry") {
        value["telemetry"] = json!({ "enabled": enabled });
    }
    for setting in schema::all() {
        let steps = over_files(loaded, setting, given);
        let strongest = steps.into_iter().rev().find_map(|step| step.value);
        let over = match (strongest, value_at(&value, setting.key)) {
            (Some(over), _) => over,
            (None, Some(found)) => match fallback(setting, found) {
                Some(over) => over,
                None => continue,
            },
            (None, None) => continue,
        };
        if let Value::Object(root) = &mut value {
            schema::insert(root, setting.key, over);
        }
    }
    value
}

/// Returns the value of a key after merging all parts.
fn merged(parts: &[(ValueSource, Value)], key: &str) -> Option<Value> {
    let mut merged = Value::Object(Map::new());
    for (_, part) in parts {
        merge_into(&mut merged, part);
    }
    value_at(&merged, key).cloned()
}

fn step(source: ValueSource) -> ExplanationStep {
    ExplanationStep {
        source,
        path: None,
        position: None,
        names: Vec::new(),
        written: None,
        value: None,
        outcome: SourceOutcome::Unset,
    }
}

fn default_step(key: &str) -> ExplanationStep {
    let value = value_at(&schema::defaults(), key).cloned();
    ExplanationStep { value, ..step(ValueSource::Default) }
}

/// Reason why files cannot set `admin`.
pub(crate) const REMOTE: &str = "only the account's administrator can set it";

/// Returns the steps of a setting's variables and flag, the weaker first.
fn over_files(loaded: &Loaded, setting: &Setting, given: &[Given]) -> Vec<ExplanationStep> {
    let mut steps = Vec::new();
    if !setting.variables.is_empty() {
        let names = setting.variables.iter().map(|name| (*name).to_owned()).collect();
        let mut step = ExplanationStep { names, ..step(ValueSource::Environment) };
        if let Some((name, value)) = from_variables(setting, &loaded.environment) {
            step.names = vec![name.to_owned()];
            step.value = Some(value);
            step.path = dotenv_of(loaded, name);
        }
        steps.push(step);
    }
    if let Some(flag) = setting.flag {
        let given = given.iter().rev().find(|given| given.key == setting.key);
        let mut step = ExplanationStep { names: vec![flag.to_owned()], ..step(ValueSource::Flag) };
        if let Some(given) = given {
            step.names = vec![given.flag.to_owned()];
            step.value = Some(over_list(loaded, setting, &given.value));
        }
        steps.push(step);
    }
    // For the sandbox the variable overrides the flag.
    if setting.key == "tools.sandbox" {
        steps.reverse();
    }
    steps
}

/// Returns a flag's value. For a list that layers append to, the value is appended to the setting's
/// list.
fn over_list(loaded: &Loaded, setting: &Setting, value: &Value) -> Value {
    let base = loaded.settings.value(setting.key).cloned();
    match (setting.merge, base, value) {
        (MergeStrategy::Concat, Some(Value::Array(mut items)), Value::Array(more)) => {
            items.extend(more.iter().cloned());
            Value::Array(items)
        }
        _ => value.clone(),
    }
}

fn judge_over_files(
    setting: &Setting,
    steps: &mut Vec<ExplanationStep>,
    over: Vec<ExplanationStep>,
) {
    for mut step in over {
        if step.value.is_some() {
            let adds = setting.merge == MergeStrategy::Concat;
            for weaker in steps.iter_mut().filter(|_| !adds) {
                if matches!(weaker.outcome, SourceOutcome::Wins | SourceOutcome::Merged) {
                    weaker.outcome = SourceOutcome::Overridden;
                }
            }
            step.outcome = if adds { SourceOutcome::Merged } else { SourceOutcome::Wins };
        }
        steps.push(step);
    }
}

/// Returns the variable that overrides a setting, with its value.
fn from_variables<'s>(setting: &'s Setting, environment: &Environment) -> Option<(&'s str, Value)> {
    setting.variables.iter().find_map(|name| {
        let text = environment.get(name)?;
        let value = match setting.kind {
            SettingKind::Boolean => Value::Bool(environment.is_enabled(name)),
            _ if text.is_empty() => return None,
            _ if *name == names::GEMINI_SANDBOX => sandbox(text),
            _ => Value::from(text),
        };
        Some((*name, value))
    })
}

fn sandbox(text: &str) -> Value {
    match text.trim().to_lowercase().as_str() {
        "0" | "false" => Value::Bool(false),
        "1" | "true" => Value::Bool(true),
        _ => Value::from(text),
    }
}

/// Returns the path of the `.env` file if the variable comes from it.
fn dotenv_of(loaded: &Loaded, name: &str) -> Option<PathBuf> {
    let file = loaded.dotenv.as_ref()?;
    let value = loaded.environment.get(name);
    let has_it = |(known, text): &(String, String)| known == name && Some(text.as_str()) == value;
    file.variables.iter().any(has_it).then(|| file.path.clone())
}

/// Returns the default if the value has the wrong type. Returns `None` for lists and objects, whose
/// valid parts are used.
fn fallback(setting: &Setting, value: &Value) -> Option<Value> {
    let is_single = matches!(
        setting.kind,
        SettingKind::Boolean | SettingKind::Number | SettingKind::Text | SettingKind::Choice(_)
    );
    let fits = check_value(setting.kind, setting.key, &mut value.clone()).is_empty();
    if !is_single || fits {
        return None;
    }
    Some(setting.default.to_value().unwrap_or(Value::Null))
}

fn remarks(loaded: &Loaded, setting: &Setting) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(value) = loaded.settings.value(setting.key)
        && fallback(setting, value).is_some()
    {
        let shown = crate::masked(setting.key, value);
        notes.push(format!(
            "The files contain {shown}, but the setting takes {}. The default is used.",
            setting.kind.in_words()
        ));
    }
    match setting.merge {
        MergeStrategy::Replace => {}
        MergeStrategy::ShallowMerge => {
            notes.push(
                "An entry of a stronger file replaces the whole entry of a weaker file.".to_owned(),
            );
        }
        MergeStrategy::Concat => notes.push("The lists of all files are joined.".to_owned()),
        MergeStrategy::Union => {
            notes.push("The lists of all files are joined without duplicates.".to_owned());
        }
    }
    if setting.scope == schema::SettingScope::NotProject {
        notes.push("This key is ignored in a project's own file.".to_owned());
    }
    notes.extend(setting.without_effect().map(str::to_owned));
    notes
}
