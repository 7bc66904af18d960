//! Resolution of the names in a prompt to files and folders.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use pollux_fs::{Access, EntryKind, Exclusions, GlobOptions, IgnoreRules, NEVER, Root, Workspace};

use super::report::Unresolved;

/// Maximum number of names that are searched for below the workspace folders because no file is at
/// the path itself.
const MAX_SEARCHES: usize = 20;
/// Time limit for all these searches together, and for all listings of folders together.
const SEARCH_TIME: Duration = Duration::from_secs(5);

/// File or folder that a token names.
#[derive(Debug, Clone)]
pub(super) struct Resolved {
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
    /// Text that replaces the typed path in the prompt.
    pub(super) shown: String,
    /// Label above the content of a file.
    pub(super) label: String,
    /// True if an ignore rule matches the path, but the reference names it explicitly.
    pub(super) despite_rules: bool,
}

/// Resolver of names, with the rest of its search budget.
pub(super) struct Resolver<'a> {
    workspace: &'a Workspace,
    /// Ignore rules for paths that no reference names explicitly.
    rules: &'a IgnoreRules,
    /// Ignore rules for explicitly named paths.
    kept: &'a IgnoreRules,
    /// True if a name without a file at its path is searched for.
    recursive_search: bool,
    searches: usize,
    deadline: Instant,
}

impl<'a> Resolver<'a> {
    /// Creates a resolver, whose time begins now.
    pub(super) fn new(
        workspace: &'a Workspace,
        rules: &'a IgnoreRules,
        kept: &'a IgnoreRules,
        recursive_search: bool,
    ) -> Self {
        let (searches, deadline) = (MAX_SEARCHES, Instant::now() + SEARCH_TIME);
        Self { workspace, rules, kept, recursive_search, searches, deadline }
    }

    /// Returns the time that is left for searches, and for listings of folders.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the first match for `name` in the workspace folders.
    pub(super) fn resolve(&mut self, name: &str) -> Result<Resolved, Unresolved> {
        let mut reason = Unresolved::Missing;
        for folder in self.workspace.walk_roots() {
            let root = folder.path.as_path();
            let path = pollux_fs::absolute(root, Path::new(name));
            let kind = pollux_fs::info(&path).map(|info| info.kind);
            let is_directory = matches!(kind, Ok(EntryKind::Directory));
            let ignored = self.rules.is_ignored(&path, is_directory);
            if ignored && (kind.is_err() || self.kept.is_ignored(&path, is_directory)) {
                return Err(if kind.is_ok() { Unresolved::Ignored } else { reason });
            }
            match kind {
                Ok(_) if self.workspace.check(&path, Access::Read).is_err() => {
                    reason = Unresolved::Outside;
                }
                Ok(_) => return Ok(resolved(root, name, path, is_directory, ignored)),
                Err(error) => {
                    if matches!(error, pollux_fs::Error::PermissionDenied { .. }) {
                        reason = Unresolved::Unreadable;
                    }
                    if let Some(path) = self.search(&folder, name) {
                        let relative = shown_path(root, &path);
                        return Ok(Resolved {
                            path,
                            is_directory: false,
                            shown: relative.clone(),
                            label: relative,
                            despite_rules: false,
                        });
                    }
                }
            }
        }
        Err(reason)
    }

    /// Returns the most likely file below `root` whose name contains `name`.
    fn search(&mut self, root: &Root, name: &str) -> Option<PathBuf> {
        let is_name = name.contains(char::is_alphanumeric)
            && name.len() <= 1024
            && !Path::new(name).is_absolute()
            && !name.split(['/', '\\']).any(|component| component == "..");
        if !self.recursive_search || !is_name || self.searches == 0 || self.time_left().is_zero() {
            return None;
        }
        self.searches -= 1;
        let exclude = Exclusions::for_glob().ok()?;
        let options = GlobOptions {
            rules: Some(self.rules),
            exclude: Some(&exclude),
            time_limit: Some(self.time_left()),
            ..GlobOptions::default()
        };
        let name = name.trim_start_matches("./").trim_end_matches('/');
        let pattern = format!("**/*{name}*");
        let mut files =
            pollux_fs::glob(std::slice::from_ref(root), &pattern, &options, NEVER).ok()?.files;
        pollux_fs::sort_by_recency(&mut files, SystemTime::now());
        let may_be_read = |path: &PathBuf| self.workspace.check(path, Access::Read).is_ok();
        files.into_iter().map(|file| file.path).find(may_be_read)
    }
}

/// Returns the match for a file or folder that exists at the named path.
fn resolved(
    root: &Path,
    name: &str,
    path: PathBuf,
    is_directory: bool,
    despite_rules: bool,
) -> Resolved {
    let relative = shown_path(root, &path);
    let label = if Path::new(name).is_absolute() { relative.clone() } else { name.to_owned() };
    let shown = match (is_directory, relative.as_str()) {
        (true, ".") => "**".to_owned(),
        (true, relative) => format!("{relative}/**"),
        (false, _) => label.clone(),
    };
    Resolved { path, is_directory, shown, label, despite_rules }
}

/// Returns the path relative to `root`, separated by `/`.
pub(super) fn shown_path(root: &Path, path: &Path) -> String {
    let relative = pollux_fs::relative_path(root, path).to_string_lossy().into_owned();
    if cfg!(windows) { relative.replace('\\', "/") } else { relative }
}
