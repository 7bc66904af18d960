//! Conversations that the user has saved under a tag, in files that Gemini CLI reads, too:
//! `checkpoint-TAG.json` in the folder of the project's state.

use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use pollux_config::ProjectIdentity;
use pollux_fs::{EntryKind, Expectation, WriteOptions};
use pollux_protocol::History;
use serde_json::json;

use crate::contents;
use crate::error::SessionError;

/// Characters that JavaScript's `encodeURIComponent` encodes.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

const PREFIX: &str = "checkpoint-";
const SUFFIX: &str = ".json";

/// Conversation that was saved under a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedConversation {
    /// Tag as the user typed it.
    pub tag: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Time at which it was saved.
    pub saved: SystemTime,
}

/// Tagged conversations of a project. All functions block the thread.
#[derive(Debug, Clone)]
pub struct TaggedConversations {
    folder: PathBuf,
}

impl TaggedConversations {
    /// Creates the store for the tagged conversations of `project`. Reads nothing.
    pub fn new(project: &ProjectIdentity) -> Self {
        Self { folder: project.temporary_dir.clone() }
    }

    /// Returns all tagged conversations, the newest first.
    ///
    /// # Errors
    /// [`SessionError::Files`]. A folder that does not exist contains no conversations.
    pub fn list(&self) -> Result<Vec<TaggedConversation>, SessionError> {
        let entries = match pollux_fs::list_directory(&self.folder) {
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            entries => entries?,
        };
        let tagged = entries.into_iter().filter_map(|entry| {
            let tag = entry.name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
            let saved = pollux_fs::link_info(&entry.path).ok()?.modified?;
            let tag = percent_decode_str(tag).decode_utf8_lossy().into_owned();
            let is_file = entry.kind == EntryKind::File && !tag.is_empty();
            is_file.then_some(TaggedConversation { tag, path: entry.path, saved })
        });
        let mut tagged: Vec<_> = tagged.collect();
        tagged.sort_by(|one, other| other.saved.cmp(&one.saved).then(one.tag.cmp(&other.tag)));
        Ok(tagged)
    }

    /// Returns the file of a tag; `None` if there is none.
    pub fn find(&self, tag: &str) -> Option<PathBuf> {
        let is_file = |path: &PathBuf| {
            pollux_fs::link_info(path).is_ok_and(|info| info.kind == EntryKind::File)
        };
        let encoded = Some(self.path(tag));
        encoded.into_iter().chain(self.unencoded_path(tag)).find(is_file)
    }

    /// Saves a conversation under a tag.
    ///
    /// # Errors
    /// [`SessionError::NothingToSave`]; [`SessionError::Files`], with
    /// [`pollux_fs::Error::ChangedOnDisk`] if the tag exists and `replaces` is false.
    pub fn save(&self, tag: &str, history: &History, replaces: bool) -> Result<(), SessionError> {
        let contents = contents::contents(history);
        if !was_said(history) {
            return Err(SessionError::NothingToSave);
        }
        let text = contents::pretty(&json!({ "history": contents }));
        let expected = (!replaces).then_some(Expectation::Absent);
        let options = WriteOptions { expected, ..WriteOptions::private() };
        pollux_fs::write_atomic(&self.path(tag), text.as_bytes(), &options)?;
        Ok(())
    }

    /// Deletes the conversation with this tag. Returns false if there is none.
    ///
    /// # Errors
    /// [`SessionError::Files`].
    pub fn delete(&self, tag: &str) -> Result<bool, SessionError> {
        let Some(path) = self.find(tag) else { return Ok(false) };
        pollux_fs::remove_file(&path)?;
        Ok(true)
    }

    fn path(&self, tag: &str) -> PathBuf {
        let encoded = utf8_percent_encode(tag, ENCODED);
        self.folder.join(format!("{PREFIX}{encoded}{SUFFIX}"))
    }

    /// Returns the path that early versions of Gemini CLI used, if the tag is safe in it.
    fn unencoded_path(&self, tag: &str) -> Option<PathBuf> {
        let name = format!("{PREFIX}{tag}{SUFFIX}");
        let mut components = Path::new(&name).components();
        let is_name =
            matches!(components.next(), Some(Component::Normal(first)) if *first == *name);
        let is_safe =
            is_name && components.next().is_none() && !tag.contains(['/', '\\', ':', '\0']);
        is_safe.then(|| self.folder.join(name))
    }
}

/// True if the conversation has more than its context.
fn was_said(history: &History) -> bool {
    history.entries().len() > 1
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{EntryId, Part};
    use pretty_assertions::assert_eq;

    use super::*;

    fn store(folder: &Path) -> TaggedConversations {
        TaggedConversations { folder: folder.to_owned() }
    }

    fn conversation() -> History {
        let mut history = History::new();
        history.push_user(EntryId::new("a"), vec![Part::text("hi")]);
        history.push_model(EntryId::new("b"), vec![Part::text("ho")]);
        history
    }

    #[test]
    fn tags_are_encoded_as_in_javascript_and_stay_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder.path().join("state"));
        let tags =
            ["plain", "one tag/../x", "..", "../../etc", "ü*'()!~", "a\\b", "nul\0", ".", "%2e"];
        for tag in tags {
            store.save(tag, &conversation(), false).unwrap();
            assert!(store.find(tag).is_some(), "{tag:?}");
        }
        let mut found: Vec<String> =
            store.list().unwrap().into_iter().map(|tagged| tagged.tag).collect();
        found.sort();
        let mut expected = tags.map(str::to_owned);
        expected.sort();
        assert_eq!(found, expected);
        let outside = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(outside, 1, "only the folder of the state");
        // Observed in Gemini CLI 0.61.
        assert!(folder.path().join("state/checkpoint-one%20tag%2F..%2Fx.json").exists());
        for tag in tags {
            assert!(store.delete(tag).unwrap(), "{tag:?}");
            assert!(!store.delete(tag).unwrap(), "{tag:?}");
        }
        assert_eq!(store.list().unwrap(), []);
    }

    #[test]
    fn a_tag_is_not_replaced_by_accident() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        store.save("a", &conversation(), false).unwrap();
        assert!(store.save("a", &conversation(), false).is_err());
        store.save("a", &conversation(), true).unwrap();
        assert!(matches!(store.save("b", &History::new(), true), Err(SessionError::NothingToSave)));
    }

    #[test]
    fn an_old_file_is_found_by_its_plain_name_only_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        std::fs::create_dir(&state).unwrap();
        std::fs::create_dir(state.join("checkpoint-x")).unwrap();
        std::fs::write(state.join("checkpoint-a b.json"), "{}").unwrap();
        std::fs::write(folder.path().join("y.json"), "{}").unwrap();
        let store = store(&state);
        assert_eq!(store.find("a b"), Some(state.join("checkpoint-a b.json")));
        assert_eq!(store.find("x/../../y"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_saved_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "[]").unwrap();
        std::os::unix::fs::symlink(&secret, folder.path().join("checkpoint-a.json")).unwrap();
        let store = store(folder.path());
        assert_eq!((store.list().unwrap().len(), store.find("a")), (0, None));
    }
}
