//! The registry `projects.json` and the marker files.

use std::path::{Path, PathBuf};

use pollux_fs::Error;
use serde_json::{Map, Value, json};

use crate::{Places, files};

/// Name of the file in a state directory that contains the project's root.
const MARKER: &str = ".project_root";

/// Maximum size of the registry, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum size of a marker, in bytes.
const MAX_MARKER: u64 = 64 * 1024;

/// Maximum length of a short name. It fits any file system, even with a suffix.
const MAX_SLUG: usize = 100;

/// Returns the form of a root in the registry and in markers.
pub(super) fn key(root: &Path) -> String {
    let text = root.to_string_lossy();
    if cfg!(windows) { text.to_lowercase() } else { text.into_owned() }
}

/// Returns the preferred short name of a root: its last component in lower case, with dashes for
/// other characters.
pub(super) fn slug_of(root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut slug = String::new();
    for character in name.chars() {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= MAX_SLUG {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

/// Returns the short name of a registered project with matching markers, without writing anything.
pub(super) fn find(places: &Places, key: &str) -> Option<String> {
    let registry = Registry::read(places).ok()?;
    let slug = registry.slug(key)?;
    let state = owner(&places.projects_temporary().join(slug))?;
    let history = owner(&places.projects_history().join(slug));
    let agrees = state == key && history.is_none_or(|owner| owner == key);
    agrees.then(|| slug.to_owned())
}

/// Finds or creates the short name of a project under the lock.
///
/// A mapping that contradicts the markers is dropped. A mapping that is missing is restored from
/// the markers. `hash` is the name of the directories of old versions, whose content is copied to
/// new directories.
pub(super) fn register(places: &Places, key: &str, hash: &str) -> Result<String, Error> {
    let file = places.projects_file();
    files::create_private_dir(&places.gemini_dir())?;
    let _lock = files::lock(&file)?;
    let mut registry = Registry::read(places)?;
    let known = registry.slug(key).map(str::to_owned).filter(|slug| is_free(places, slug, key));
    let slug = match known.or_else(|| marked(places, key)) {
        Some(slug) => {
            claim(places, &slug, key, hash)?;
            slug
        }
        None => new_slug(places, &registry, key, hash)?,
    };
    if registry.slug(key) != Some(&slug) {
        registry.set(key, &slug);
        registry.write(places)?;
    }
    Ok(slug)
}

/// Content of the registry. Unknown keys are kept.
struct Registry {
    root: Map<String, Value>,
    /// Text of a file that could not be parsed.
    broken: Option<String>,
}

impl Registry {
    fn read(places: &Places) -> Result<Self, Error> {
        let text = match files::read_whole(&places.projects_file(), MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.is_not_found() => "{}".to_owned(),
            Err(error) => return Err(error),
        };
        Ok(match serde_json::from_str(&text) {
            Ok(root) => Self { root, broken: None },
            Err(_) => Self { root: Map::new(), broken: Some(text) },
        })
    }

    /// Returns the short name for the root if it is valid; an invalid one could lead out of the
    /// directory.
    fn slug(&self, key: &str) -> Option<&str> {
        self.root.get("projects")?.get(key)?.as_str().filter(|slug| is_slug(slug))
    }

    fn is_taken(&self, slug: &str) -> bool {
        let projects = self.root.get("projects").and_then(Value::as_object);
        projects.is_some_and(|projects| projects.values().any(|taken| taken == slug))
    }

    fn set(&mut self, key: &str, slug: &str) {
        let projects = self.root.entry("projects").or_insert_with(|| json!({}));
        match projects.as_object_mut() {
            Some(projects) => {
                projects.insert(key.to_owned(), slug.into());
            }
            None => *projects = json!({ key: slug }),
        }
    }

    fn write(&self, places: &Places) -> Result<(), Error> {
        let file = places.projects_file();
        if let Some(broken) = &self.broken {
            // The mappings are restored one by one from the markers, but the invalid text is kept
            // as well.
            files::write_private(&file.with_extension("json.broken"), broken)?;
        }
        files::write_private(&file, &format!("{:#}", Value::Object(self.root.clone())))
    }
}

fn is_slug(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= 255 && text.bytes().all(allowed)
}

/// Returns the root that a state directory belongs to.
pub(super) fn owner(directory: &Path) -> Option<String> {
    let text = files::read_whole(&directory.join(MARKER), MAX_MARKER).ok()?;
    let owner = text.trim();
    (!owner.is_empty()).then(|| key(Path::new(owner)))
}

fn state_directories(places: &Places, slug: &str) -> [PathBuf; 2] {
    [places.projects_temporary().join(slug), places.projects_history().join(slug)]
}

/// Returns true if no marker assigns the short name to another project.
fn is_free(places: &Places, slug: &str, key: &str) -> bool {
    state_directories(places, slug)
        .iter()
        .all(|directory| owner(directory).is_none_or(|owner| owner == key))
}

/// Returns a short name whose markers name this project although the registry does not.
fn marked(places: &Places, key: &str) -> Option<String> {
    [places.projects_temporary(), places.projects_history()].into_iter().find_map(|parent| {
        files::folders_in(&parent).into_iter().find(|slug| {
            is_slug(slug)
                && owner(&parent.join(slug)).is_some_and(|owner| owner == key)
                && is_free(places, slug, key)
        })
    })
}

fn new_slug(places: &Places, registry: &Registry, key: &str, hash: &str) -> Result<String, Error> {
    let wanted = slug_of(Path::new(key));
    let numbered = (1_u64..).map(|number| format!("{wanted}-{number}"));
    let slug = std::iter::once(wanted.clone())
        .chain(numbered)
        .find(|slug| !registry.is_taken(slug) && is_free(places, slug, key))
        .unwrap_or(wanted);
    claim(places, &slug, key, hash)?;
    Ok(slug)
}

/// Creates both state directories and their markers.
fn claim(places: &Places, slug: &str, key: &str, hash: &str) -> Result<(), Error> {
    for directory in state_directories(places, slug) {
        let fresh = !files::exists(&directory);
        files::create_private_dir(&directory)?;
        let old = directory.with_file_name(hash);
        if fresh && files::is_dir(&old) {
            files::copy_tree(&old, &directory)?;
        }
        let marker = directory.join(MARKER);
        if !files::exists(&marker) {
            files::create_new(&marker, key)?;
        }
    }
    Ok(())
}
