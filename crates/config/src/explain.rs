//! Which layer decides a setting, and why.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::Environment;
use crate::environment::names;
use crate::error::Position;
use crate::jsonc::{self, KeyPlaces};
use crate::load::{FileState, LayerKind, Loaded, read_text};
use crate::merge::merge_into;
use crate::schema::Strategy;
use crate::schema::{self, Kind, Setting};
use crate::validate::check_value;

#[cfg(test)]
mod tests;

/// Where a value can come from, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The table in the program.
    Default,
    /// The file of a layer.
    File(LayerKind),
    /// A variable of the environment or of the `.env` file.
    Environment,
    /// A flag of the command line.
    Flag,
}

impl Source {
    /// The name of the source in output.
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

/// What a source contributes in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Its value is the one that counts.
    Wins,
    /// Its value is part of the one that counts.
    Merged,
    /// A stronger source has another value.
    Overridden,
    /// It says nothing.
    Unset,
    /// What it says does not count, for this reason.
    Ignored(String),
}

impl Outcome {
    /// The name of the outcome in output.
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

/// One source and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Which source.
    pub source: Source,
    /// The file; also the `.env` file that a variable comes from.
    pub path: Option<PathBuf>,
    /// Where the key stands in it.
    pub position: Option<Position>,
    /// The variables or the flag that the source goes by.
    pub names: Vec<String>,
    /// The value as the file has it, where variables make another of it.
    pub written: Option<Value>,
    /// The value.
    pub value: Option<Value>,
    /// What becomes of it.
    pub outcome: Outcome,
}

/// A value given by a flag.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The dotted key of the setting that the flag beats.
    pub key: &'static str,
    /// The flag as written.
    pub flag: &'static str,
    /// Its value.
    pub value: Value,
}

/// Everything that is to be said about one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The dotted key.
    pub key: String,
    /// The setting, or the one that the key lies in; none for a key that no setting has.
    pub setting: Option<&'static Setting>,
    /// The value that counts.
    pub value: Option<Value>,
    /// All sources, the weakest first.
    pub steps: Vec<Step>,
    /// What else a person should know, in sentences.
    pub notes: Vec<String>,
}

/// The settings of a run, laid out to be explained.
#[derive(Debug)]
pub struct Inspection<'a> {
    loaded: &'a Loaded,
    given: &'a [Given],
    /// The settings as they count in the end.
    effective: Value,
    /// The files as they are written.
    written: Vec<Written>,
}

/// A settings file as it is written.
#[derive(Debug)]
struct Written {
    kind: LayerKind,
    value: Value,
    places: KeyPlaces,
}

impl<'a> Inspection<'a> {
    /// Reads the files of `loaded` once more, for the places of keys. `given`: what flags say.
    pub fn new(loaded: &'a Loaded, given: &'a [Given]) -> Self {
        let written = loaded.layers.iter().filter_map(|layer| {
            // A file that has changed or gone since has no places to tell.
            let text = read_text(&layer.path).ok()?;
            let value = jsonc::parse(&layer.path, &text).ok()?;
            let places = jsonc::key_places(&layer.path, &text).ok()?;
            Some(Written { kind: layer.kind, value, places })
        });
        Self { loaded, given, effective: effective(loaded, given), written: written.collect() }
    }

    /// The value at a dotted key as it counts in the end; of a setting, a group or a part of a setting.
    pub fn value(&self, key: &str) -> Option<&Value> {
        value_at(&self.effective, key).filter(|value| !value.is_null())
    }

    /// The settings that a file, a variable or a flag sets, in the order of the reference.
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

    /// Explains the dotted `key`, of a setting, something in one, or an unknown one.
    pub fn explain(&self, key: &str) -> Explanation {
        let setting = schema::owner(key);
        let mut steps = vec![default_step(key)];
        let mut notes = Vec::new();
        for file in &self.loaded.files {
            let mut step = Step { path: Some(file.path.clone()), ..step(Source::File(file.kind)) };
            match &file.state {
                FileState::Read => self.read_step(key, file.kind, &mut step),
                FileState::Absent => {}
                FileState::Skipped(reason) => {
                    step.outcome = Outcome::Ignored(format!("not read: {reason}"));
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

    /// What the file of a layer says, as it takes part and as it is written.
    fn read_step(&self, key: &str, kind: LayerKind, step: &mut Step) {
        let layer = self.loaded.layers.iter().find(|layer| layer.kind == kind);
        step.value = layer.and_then(|layer| value_at(&layer.value, key)).cloned();
        let Some(file) = self.written.iter().find(|file| file.kind == kind) else { return };
        let written = value_at(&file.value, key).cloned();
        step.position = file.places.found.get(key).copied();
        if written.is_some() && step.value.is_none() {
            let is_remote = key == "admin" || key.starts_with("admin.");
            let reason = match kind {
                _ if is_remote => REMOTE,
                LayerKind::Workspace => "it was not accepted for this folder",
                _ => "it does not take effect",
            };
            step.outcome = Outcome::Ignored(reason.to_owned());
        }
        step.written = written.filter(|written| Some(written) != step.value.as_ref());
    }

    /// Says of each source below the variables what it contributes.
    ///
    /// A source without which the value would be the same is left out, the weakest first. What remains
    /// is what the value is made of.
    fn judge(&self, key: &str, steps: &mut [Step]) {
        // All ways to merge are decided within the first name of the key.
        let top = key.split('.').next().unwrap_or_default();
        let part = |value: &Value| value.get(top).map(|value| json!({ top: value }));
        let mut parts: Vec<(Source, Value)> = Vec::new();
        parts.extend(part(&schema::defaults()).map(|part| (Source::Default, part)));
        for layer in &self.loaded.layers {
            parts.extend(part(&layer.value).map(|part| (Source::File(layer.kind), part)));
        }
        let result = merged(&parts, key);
        for step in steps.iter_mut().filter(|step| step.value.is_some()) {
            let rest: Vec<_> =
                parts.iter().filter(|(source, _)| *source != step.source).cloned().collect();
            step.outcome = Outcome::Merged;
            if merged(&rest, key) == result {
                step.outcome = Outcome::Overridden;
                parts = rest;
            }
        }
        let mut remaining = steps.iter_mut().filter(|step| step.outcome == Outcome::Merged);
        if let (Some(only), None) = (remaining.next(), remaining.next()) {
            only.outcome = Outcome::Wins;
        }
    }
}

/// The value at a dotted key. `telemetry: true` is short for an object with `enabled`.
fn value_at<'a>(settings: &'a Value, key: &str) -> Option<&'a Value> {
    schema::lookup(settings, key).or_else(|| {
        let short = settings.get("telemetry").filter(|value| value.is_boolean());
        short.filter(|_| key == "telemetry.enabled")
    })
}

/// The merged files with variables and flags over them, and defaults for what does not fit.
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

/// The value of a key once all parts are merged.
fn merged(parts: &[(Source, Value)], key: &str) -> Option<Value> {
    let mut merged = Value::Object(Map::new());
    for (_, part) in parts {
        merge_into(&mut merged, part);
    }
    value_at(&merged, key).cloned()
}

fn step(source: Source) -> Step {
    Step {
        source,
        path: None,
        position: None,
        names: Vec::new(),
        written: None,
        value: None,
        outcome: Outcome::Unset,
    }
}

fn default_step(key: &str) -> Step {
    let value = value_at(&schema::defaults(), key).cloned();
    Step { value, ..step(Source::Default) }
}

/// Why files have no say in `admin`.
pub(crate) const REMOTE: &str =
    "only the account's administrator sets this, and not through a file";

/// The variables and the flag of a setting, the weaker first.
fn over_files(loaded: &Loaded, setting: &Setting, given: &[Given]) -> Vec<Step> {
    let mut steps = Vec::new();
    if !setting.variables.is_empty() {
        let names = setting.variables.iter().map(|name| (*name).to_owned()).collect();
        let mut step = Step { names, ..step(Source::Environment) };
        if let Some((name, value)) = from_variables(setting, &loaded.environment) {
            step.names = vec![name.to_owned()];
            step.value = Some(value);
            step.path = dotenv_of(loaded, name);
        }
        steps.push(step);
    }
    if let Some(flag) = setting.flag {
        let given = given.iter().rev().find(|given| given.key == setting.key);
        let mut step = Step { names: vec![flag.to_owned()], ..step(Source::Flag) };
        if let Some(given) = given {
            step.names = vec![given.flag.to_owned()];
            step.value = Some(over_list(loaded, setting, &given.value));
        }
        steps.push(step);
    }
    // For the sandbox the variable beats the flag.
    if setting.key == "tools.sandbox" {
        steps.reverse();
    }
    steps
}

/// A flag adds to a list that layers add to.
fn over_list(loaded: &Loaded, setting: &Setting, value: &Value) -> Value {
    let base = loaded.settings.value(setting.key).cloned();
    match (setting.merge, base, value) {
        (Strategy::Concat, Some(Value::Array(mut items)), Value::Array(more)) => {
            items.extend(more.iter().cloned());
            Value::Array(items)
        }
        _ => value.clone(),
    }
}

fn judge_over_files(setting: &Setting, steps: &mut Vec<Step>, over: Vec<Step>) {
    for mut step in over {
        if step.value.is_some() {
            let adds = setting.merge == Strategy::Concat;
            for weaker in steps.iter_mut().filter(|_| !adds) {
                if matches!(weaker.outcome, Outcome::Wins | Outcome::Merged) {
                    weaker.outcome = Outcome::Overridden;
                }
            }
            step.outcome = if adds { Outcome::Merged } else { Outcome::Wins };
        }
        steps.push(step);
    }
}

/// The variable that beats a setting, with what it says.
fn from_variables<'s>(setting: &'s Setting, environment: &Environment) -> Option<(&'s str, Value)> {
    setting.variables.iter().find_map(|name| {
        let text = environment.get(name)?;
        let value = match setting.kind {
            Kind::Boolean => Value::Bool(environment.is_enabled(name)),
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

/// The `.env` file, if it is where the variable comes from.
fn dotenv_of(loaded: &Loaded, name: &str) -> Option<PathBuf> {
    let file = loaded.dotenv.as_ref()?;
    let value = loaded.environment.get(name);
    let has_it = |(known, text): &(String, String)| known == name && Some(text.as_str()) == value;
    file.variables.iter().any(has_it).then(|| file.path.clone())
}

/// What is taken instead of a value that does not fit: the default. Lists and objects are used as far
/// as they fit.
fn fallback(setting: &Setting, value: &Value) -> Option<Value> {
    let is_single =
        matches!(setting.kind, Kind::Boolean | Kind::Number | Kind::Text | Kind::Choice(_));
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
            "The files say {shown}, and the setting takes {}: the default counts.",
            setting.kind.in_words()
        ));
    }
    match setting.merge {
        Strategy::Replace => {}
        Strategy::ShallowMerge => {
            notes.push("An entry of a stronger file replaces the weaker one whole.".to_owned());
        }
        Strategy::Concat => notes.push("The lists of all files are joined.".to_owned()),
        Strategy::Union => {
            notes.push("The lists of all files are joined without repeats.".to_owned());
        }
    }
    if setting.scope == schema::Scope::NotProject {
        notes.push("A project's own file does not count here.".to_owned());
    }
    if !setting.acted_on {
        notes.push("This version of Pollux does not act on it.".to_owned());
    }
    notes
}
