//! Report of entries in settings files that have no effect, or not the apparent one.

use std::path::PathBuf;

use serde_json::Value;

use crate::error::Position;
use crate::explain::REMOTE;
use crate::interpolate::interpolate;
use crate::jsonc::{self, KeyPlaces};
use crate::load::{Layer, LayerFile, LayerFileState, LayerKind, Loaded, read_text};
use crate::schema::{self, SettingScope};
use crate::validate::{self, Issue};
use crate::{Environment, migrate};

#[cfg(test)]
mod tests;

/// Kind of a remark about a key.
#[derive(Debug, Clone, PartialEq)]
pub enum RemarkKind {
    /// The key is unknown. Contains the key that the user may have meant.
    Unknown(Option<&'static str>),
    /// The key is known, but this version of Pollux does not use it.
    NotActedOn,
    /// The value has the wrong type.
    WrongValue(Issue),
    /// The key has a new name, but the old one still takes effect.
    OldName,
    /// The key belongs to the first format of settings files, and has no effect. Contains the key
    /// of the current format.
    Flat(&'static str),
    /// A later key of the same name in the same object hides this one.
    Hidden,
    /// The key has no effect in this file, for this reason.
    NotHonoured(&'static str),
}

impl RemarkKind {
    /// Returns the name of the kind in output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown",
            Self::NotActedOn => "not-acted-on",
            Self::WrongValue(_) => "wrong-value",
            Self::OldName => "old-name",
            Self::Flat(_) => "flat",
            Self::Hidden => "hidden",
            Self::NotHonoured(_) => "not-honoured",
        }
    }
}

/// A remark about one key of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// Path of the file.
    pub path: PathBuf,
    /// Position of the key.
    pub position: Option<Position>,
    /// Dotted key as written.
    pub key: String,
    /// Kind of the remark.
    pub kind: RemarkKind,
}

/// Checks all settings files that are merged, the weakest first.
pub fn report(loaded: &Loaded) -> Vec<Remark> {
    let read = loaded.files.iter().filter(|file| file.state == LayerFileState::Read);
    let layer = |file: &LayerFile| loaded.layers.iter().find(|layer| layer.kind == file.kind);
    read.flat_map(|file| of_file(file, layer(file), &loaded.environment)).collect()
}

/// Returns the remarks about one file. `layer` is the file as it is merged.
fn of_file(file: &LayerFile, layer: Option<&Layer>, environment: &Environment) -> Vec<Remark> {
    let path = &file.path;
    // The code that loaded the settings has already reported unreadable files.
    let Ok(text) = read_text(path) else { return Vec::new() };
    let (Ok(mut value), Ok(places)) = (jsonc::parse(path, &text), jsonc::key_places(path, &text))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    found.extend(not_in_effect(&value, file.kind, layer));
    let original = value.clone();
    let steps = migrate::migrate(&mut value);
    found.extend(
        migrate::old_keys(&steps).into_iter().map(|key| (key.to_owned(), RemarkKind::OldName)),
    );
    interpolate(&mut value, environment);
    let findings = validate::check(&mut value);
    let issues = findings.issues.into_iter();
    found.extend(issues.map(|issue| (issue.key.clone(), RemarkKind::WrongValue(issue))));
    let unknown = findings.unknown_keys.into_iter();
    found.extend(unknown.map(|key| {
        let meant = schema::suggestion(&key);
        (key, RemarkKind::Unknown(meant))
    }));
    let fields = findings.unknown_fields.into_iter();
    found.extend(fields.map(|(key, meant)| (key, RemarkKind::Unknown(meant))));
    for (key, kind) in &mut found {
        if matches!(kind, RemarkKind::Unknown(_) | RemarkKind::WrongValue(_))
            && let Some(new) = migrate::flat::new_key(&original, key)
        {
            *kind = RemarkKind::Flat(new);
        }
    }
    let remark = |(key, kind): (String, RemarkKind)| Remark {
        path: path.clone(),
        position: place_of(&places, &key),
        key,
        kind,
    };
    let mut remarks: Vec<Remark> = found.into_iter().map(remark).collect();
    remarks.extend(places.hidden.iter().map(|(key, position)| Remark {
        path: path.clone(),
        position: Some(*position),
        key: key.clone(),
        kind: RemarkKind::Hidden,
    }));
    remarks.sort_by_key(|remark| remark.position.map(|place| (place.line, place.column)));
    remarks
}

/// Returns the settings of the file that have no effect.
fn not_in_effect(
    value: &Value,
    kind: LayerKind,
    layer: Option<&Layer>,
) -> Vec<(String, RemarkKind)> {
    let is_set = |key: &str| schema::lookup(value, key).is_some();
    let is_refused =
        |key: &str| layer.is_some_and(|layer| schema::lookup(&layer.value, key).is_none());
    let said = |setting: &&schema::Setting| is_set(setting.key);
    let remark = |setting: &schema::Setting| {
        let kind = match setting.scope {
            SettingScope::Remote => RemarkKind::NotHonoured(REMOTE),
            SettingScope::NotProject if kind == LayerKind::Workspace => {
                RemarkKind::NotHonoured("a project's own file cannot set it here")
            }
            SettingScope::NotProject | SettingScope::Any if is_refused(setting.key) => {
                RemarkKind::NotHonoured("you have not approved it for this folder")
            }
            SettingScope::NotProject | SettingScope::Any if !setting.acted_on => {
                setting.needless.map_or(RemarkKind::NotActedOn, RemarkKind::NotHonoured)
            }
            SettingScope::NotProject | SettingScope::Any => return None,
        };
        Some((setting.key.to_owned(), kind))
    };
    schema::all().filter(said).filter_map(remark).collect()
}

/// Returns the position of a key. An item of a list has the position of the list.
fn place_of(places: &KeyPlaces, key: &str) -> Option<Position> {
    let key = key.split('[').next().unwrap_or(key);
    let mut key = Some(key);
    while let Some(wanted) = key {
        if let Some(position) = places.found.get(wanted) {
            return Some(*position);
        }
        key = wanted.rsplit_once('.').map(|(group, _)| group);
    }
    None
}
