//! The file of answers: `consent.json` in Pollux's own folder.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pollux_protocol::ConsentItem;
use serde::{Deserialize, Serialize};

use crate::error::{Position, SyntaxError};
use crate::{ConfigError, Places, files};

/// Maximum size of the file, in bytes, for reading and writing.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum number of stored answers for one folder. The oldest answers are removed first.
const MAX_PINS: usize = 4096;
/// The only supported version of the file format.
const VERSION: u32 = 1;

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pin {
    kind: String,
    name: String,
    /// [`ConsentItem::hash`].
    hash: String,
    /// True if the user agreed.
    accepted: bool,
    /// Seconds since 1970.
    time: u64,
}

/// Answers about one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderPins {
    items: Vec<Pin>,
}

impl FolderPins {
    /// Returns the latest answer about exactly this content.
    pub fn answer(&self, item: &ConsentItem) -> Option<bool> {
        self.latest().get(item)
    }

    /// Returns the latest answer about each content.
    pub(super) fn latest(&self) -> LatestAnswers<'_> {
        // Later pins replace earlier ones.
        let answers = self.items.iter().map(|pin| {
            let Pin { kind, name, hash, accepted, .. } = pin;
            ((kind.as_str(), name.as_str(), hash.as_str()), *accepted)
        });
        LatestAnswers(answers.collect())
    }

    /// Returns the latest answer about each item: kind, name, and whether the user agreed; in the
    /// order of the answers.
    pub fn answers(&self) -> Vec<(&str, &str, bool)> {
        let mut answers: Vec<(&str, &str, bool)> = Vec::new();
        for pin in &self.items {
            answers
                .retain(|(kind, name, _)| (*kind, *name) != (pin.kind.as_str(), pin.name.as_str()));
            answers.push((&pin.kind, &pin.name, pin.accepted));
        }
        answers
    }

    /// Returns the items of one kind by name, with the content that the user agreed to last. Names
    /// with a content that the user refused are left out.
    pub(super) fn agreed(&self, kind: &str) -> HashMap<&str, &Pin> {
        let of_kind = || self.items.iter().filter(|pin| pin.kind == kind);
        let mut agreed: HashMap<_, _> = of_kind().map(|pin| (&*pin.name, pin)).collect();
        for refused in of_kind().filter(|pin| !pin.accepted) {
            agreed.remove(&*refused.name);
        }
        agreed
    }

    fn add(&mut self, item: &ConsentItem, accepted: bool, time: u64) {
        self.items.retain(|pin| !pin.is(item));
        let ConsentItem { kind, name, hash, .. } = item.clone();
        self.items.push(Pin { kind, name, hash, accepted, time });
        let more = self.items.len().saturating_sub(MAX_PINS);
        self.items.drain(..more);
    }
}

/// Latest answers about items, by kind, name and hash.
#[derive(Debug, Default)]
pub(super) struct LatestAnswers<'a>(HashMap<(&'a str, &'a str, &'a str), bool>);

impl LatestAnswers<'_> {
    /// Returns the latest answer about exactly this content.
    pub(super) fn get(&self, item: &ConsentItem) -> Option<bool> {
        self.0.get(&(item.kind.as_str(), item.name.as_str(), item.hash.as_str())).copied()
    }
}

impl Pin {
    /// Returns the item that the answer is about, without the text for the question.
    pub(super) fn item(&self) -> ConsentItem {
        let Self { kind, name, hash, .. } = self.clone();
        ConsentItem { kind, name, detail: String::new().into(), hash, needs_user: false }
    }

    fn is(&self, item: &ConsentItem) -> bool {
        self.hash == item.hash && self.kind == item.kind && self.name == item.name
    }
}

/// Content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsentStore {
    version: u32,
    /// Answers by real path, with forward slashes on Windows too.
    folders: BTreeMap<String, FolderPins>,
}

impl Default for ConsentStore {
    fn default() -> Self {
        Self { version: VERSION, folders: BTreeMap::new() }
    }
}

impl ConsentStore {
    /// Returns the path of the file.
    pub fn path(places: &Places) -> PathBuf {
        places.pollux_dir().join("consent.json")
    }

    /// Reads the file. A missing file contains no answers.
    ///
    /// Fails with the problem and its position. In that case there is no consent to anything.
    pub fn load(places: &Places) -> Result<Self, SyntaxError> {
        let path = Self::path(places);
        match files::read_whole(&path, MAX_BYTES) {
            Ok(text) => Self::parse(&path, &text),
            Err(error) if files::is_absent(&path, &error) => Ok(Self::default()),
            Err(error) => Err(SyntaxError::whole(&path, files::node_message(&error))),
        }
    }

    /// Parses the text of the file. `path` is only used in errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SyntaxError> {
        let store: Self = serde_json::from_str(text).map_err(|error| SyntaxError {
            path: path.to_owned(),
            position: Some(Position { line: error.line(), column: error.column() }),
            message: without_place(&error),
        })?;
        if store.version != VERSION {
            let message =
                format!("This version of Pollux does not support version {}.", store.version);
            return Err(SyntaxError::whole(path, message));
        }
        Ok(store)
    }

    /// Returns the answers about `folder`, or `None` if there was never a question about it.
    pub fn folder(&self, folder: &Path) -> Option<&FolderPins> {
        self.folders.get(&key(folder))
    }

    /// Saves answers about `folder`: locks the file, reads it again, and keeps everything else in
    /// it. An empty list records that the folder was checked and contained nothing to ask about.
    ///
    /// Fails if the file is invalid, in which case it stays unchanged, or if it cannot be written.
    pub fn record(
        places: &Places,
        folder: &Path,
        answers: &[(&ConsentItem, bool)],
    ) -> Result<(), ConfigError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self::change(places, folder, |pins| {
            for (item, accepted) in answers {
                pins.add(item, *accepted, now);
            }
        })
    }

    /// Removes every answer about `folder`, so that all its items are new. The record that the
    /// folder was checked remains: without a user, none of its items takes effect.
    ///
    /// Fails like [`ConsentStore::record`].
    pub fn forget(places: &Places, folder: &Path) -> Result<(), ConfigError> {
        Self::change(places, folder, |pins| pins.items.clear())
    }

    fn change(
        places: &Places,
        folder: &Path,
        change: impl FnOnce(&mut FolderPins),
    ) -> Result<(), ConfigError> {
        let path = Self::path(places);
        let failed = |message: String| ConfigError::Save { path: path.clone(), message };
        let system = |error: pollux_fs::Error| failed(files::node_message(&error));
        files::create_private_dir(&places.pollux_dir()).map_err(system)?;
        let _lock = files::lock(&path).map_err(system)?;
        let mut store = Self::load(places).map_err(|error| failed(error.to_string()))?;
        change(store.folders.entry(key(folder)).or_default());
        let text =
            serde_json::to_string_pretty(&store).map_err(|error| failed(error.to_string()))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(failed(format!("it would be larger than {MAX_BYTES} bytes")));
        }
        files::write_owner_only(&path, &(text + "\n")).map_err(system)
    }
}

fn key(folder: &Path) -> String {
    let text = files::real_path_or_given(folder).to_string_lossy().into_owned();
    if cfg!(windows) { text.replace('\\', "/").to_lowercase() } else { text }
}

/// Returns the parser's message without the line and column, which are reported separately.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
