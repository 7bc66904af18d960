//! Which programs git would run because a repository says so.
//!
//! `git status`, `git diff` and `git log` only look, but they run what the repository's own configuration names: filters
//! and text converters, external diffs, verifiers of signatures, servers of a partial clone. The shell overrides single
//! settings for its children (`pollux_shell`); those that carry a name of the repository's own choice cannot be overridden.
//! The files are looked at the way git does, but rather too closely: what cannot be read or understood counts as a program.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::index;

/// Bytes of one configuration file, and of an index.
const LARGEST_CONFIGURATION: u64 = 1 << 20;
const LARGEST_INDEX: u64 = 128 << 20;
/// Repositories inside of repositories that are looked into.
const MOST_REPOSITORIES: usize = 200;

/// Keys whose value is a program, or a file with more keys, whatever section they stand in: a value that goes on in the
/// next line makes the sections uncertain. Those that `pollux_shell` overrides for its children are not among them.
static PROGRAMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let keys = "clean|smudge|process|textconv|command|external|program|path|uploadpack|vcs\
                |alternaterefscommand";
    Regex::new(&format!(r"(?im)(?:^|\])\s*({keys})(?:[^a-z0-9-]|$)")).ok()
});
/// The folder of files, where it is not the one around `.git`.
static WORKTREE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?im)(?:^|\])\s*worktree\s*=[ \t]*(.*?)\s*$").ok());
static SHA256: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?im)(?:^|\])\s*objectformat\s*=\s*.?sha256").ok());

/// Why git would run more than itself when it is started in `folder`; none when it would not, or finds no repository.
///
/// All repositories around the folder count, not just the first one that git would take for valid.
pub(super) fn programs(folder: &Path) -> Option<String> {
    let folder = pollux_fs::real_path(folder).unwrap_or_else(|_| folder.to_owned());
    let mut search = Search { waiting: Vec::new(), seen: 0 };
    for place in folder.ancestors() {
        search.waiting.extend(Repository::at(place));
        if is_bare(place) {
            search.waiting.push(Repository { git: place.to_owned(), tree: None });
        }
    }
    while let Some(repository) = search.waiting.pop() {
        search.seen += 1;
        if search.seen > MOST_REPOSITORIES {
            return Some("there are too many repositories to look into".to_owned());
        }
        if let Err(fault) = search.look_into(&repository) {
            return Some(fault);
        }
    }
    None
}

/// A folder with git's data.
struct Repository {
    git: PathBuf,
    /// The folder with its files; none for a bare one.
    tree: Option<PathBuf>,
}

impl Repository {
    /// The repository whose files are in `place`, if there is one.
    fn at(place: &Path) -> Option<Self> {
        let git = place.join(".git");
        let info = pollux_fs::info(&git).ok()?;
        let git = if info.kind == pollux_fs::EntryKind::Directory {
            git
        } else {
            // Of a linked worktree or a submodule: the file says where the data is.
            place.join(text_of(&git).ok()??.trim().strip_prefix("gitdir:")?.trim())
        };
        Some(Self { git, tree: Some(place.to_owned()) })
    }

    /// The folder with what all worktrees have in common.
    fn common(&self) -> Result<PathBuf, String> {
        let named = text_of(&self.git.join("commondir"))?;
        Ok(named.map_or_else(|| self.git.clone(), |named| self.git.join(named.trim())))
    }
}

struct Search {
    waiting: Vec<Repository>,
    seen: usize,
}

impl Search {
    /// # Errors
    /// Why git would run more than itself.
    fn look_into(&mut self, repository: &Repository) -> Result<(), String> {
        let common = repository.common()?;
        let mut hash = index::SHA1;
        for folder in [&common, &repository.git] {
            for name in ["config", "config.worktree"] {
                let file = folder.join(name);
                let Some(text) = text_of(&file)? else { continue };
                look_at(&text, &file)?;
                look_at_tree(&text, repository)?;
                if matches(&SHA256, &text) {
                    hash = index::SHA256;
                }
            }
        }
        let Some(tree) = &repository.tree else { return Ok(()) };
        let path = repository.git.join("index");
        let bytes = match pollux_fs::read_bytes(&path, LARGEST_INDEX) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(format!("git's index cannot be looked at: {error}")),
        };
        let links = index::repositories_in(&bytes, hash)
            .ok_or_else(|| format!("git's index cannot be understood: {}", path.display()))?;
        let inner = links.iter().filter_map(|link| Repository::at(&tree.join(link)));
        self.waiting.extend(inner);
        Ok(())
    }
}

const UNCERTAIN: &str = "git's configuration cannot be looked at";

/// # Errors
/// The key of a program.
fn look_at(text: &str, file: &Path) -> Result<(), String> {
    let Some(regex) = PROGRAMS.as_ref() else { return Err(UNCERTAIN.to_owned()) };
    match regex.captures(text).and_then(|found| found.get(1)) {
        Some(key) => Err(format!(
            "git may run what the repository names: {} sets {}",
            file.display(),
            key.as_str()
        )),
        None => Ok(()),
    }
}

/// The files of a repository may be elsewhere than around its data.
///
/// # Errors
/// They are.
fn look_at_tree(text: &str, repository: &Repository) -> Result<(), String> {
    let Some(regex) = WORKTREE.as_ref() else { return Err(UNCERTAIN.to_owned()) };
    for found in regex.captures_iter(text) {
        let value = found.get(1).map_or("", |value| value.as_str()).trim_matches('"');
        let there = pollux_fs::real_path(&repository.git.join(value)).ok();
        if there.is_none() || there != repository.tree {
            return Err(format!("git's files are said to be in {value}"));
        }
    }
    Ok(())
}

fn matches(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// A file of git's; none when there is none.
///
/// # Errors
/// It cannot be read.
fn text_of(path: &Path) -> Result<Option<String>, String> {
    match pollux_fs::read_bytes(path, LARGEST_CONFIGURATION) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(pollux_fs::Error::NotFound { .. } | pollux_fs::Error::NotADirectory { .. }) => Ok(None),
        Err(error) => Err(format!("{UNCERTAIN}: {error}")),
    }
}

/// It may be a repository without files around it, which anybody can put into a project.
fn is_bare(place: &Path) -> bool {
    pollux_fs::link_info(&place.join("HEAD")).is_ok()
}
