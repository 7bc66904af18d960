//! Detection, after a command, of changes of protected files that no mount can block.
//!
//! A missing file cannot be mounted over, and a folder above a mount can be replaced. A file or
//! folder that was created or replaced while the command ran is moved into the private folder of
//! Pollux, before it can affect the next command. A file that existed all the time was read-only
//! for the command: if it has changed, another program changed it, and the change stays.

use std::fmt;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use pollux_fs::WriteOptions;
use pollux_protocol::ConfinementLevel;
use pollux_protocol::plain_text::visible;

use super::survey::WorkspaceSurvey;
use super::{GitConfiguration, SandboxSpec, git_config};

mod links;

/// Folder, below the private folder of Pollux, for files that were moved aside.
const MOVED: [&str; 2] = ["sandbox", "moved"];
/// Maximum size of a configuration that is compared, in bytes.
const CONFIGURATION_BYTES: u64 = 1 << 20;

/// Kind of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxChangeKind {
    /// A protected file or folder that did not exist before.
    Appeared,
    /// A protected file or folder was replaced by another one of the same name.
    Replaced,
    /// Keys of a repository's configuration whose changes were reverted.
    Configuration(Vec<String>),
}

/// A detected and reverted change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxChange {
    /// Protected path.
    pub path: PathBuf,
    /// Kind of the change.
    pub kind: SandboxChangeKind,
    /// New path of the changed file or folder; `None` if nothing was moved, or if moving failed.
    pub moved_to: Option<PathBuf>,
    /// Reason for which the change could not be reverted.
    pub error: Option<String>,
}

impl fmt::Display for SandboxChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = visible(&self.path.to_string_lossy());
        match &self.kind {
            SandboxChangeKind::Appeared => write!(formatter, "{path} is new, and protected"),
            SandboxChangeKind::Replaced => {
                write!(formatter, "{path} was replaced, and is protected")
            }
            SandboxChangeKind::Configuration(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| visible(key)).collect();
                let keys = keys.join(", ");
                write!(formatter, "{path}: changes that could start programs were reverted: {keys}")
            }
        }?;
        match (&self.moved_to, &self.error) {
            (_, Some(error)) => write!(formatter, "; this cannot be undone: {error}"),
            (Some(place), None) => {
                write!(formatter, "; moved to {}", visible(&place.to_string_lossy()))
            }
            (None, None) => Ok(()),
        }?;
        formatter.write_str(".")
    }
}

/// State of the protected paths before a command.
#[derive(Debug, PartialEq, Eq)]
pub struct SandboxAudit {
    state: PathBuf,
    watched: Vec<Watched>,
    /// Writable configuration files with their text.
    configurations: Vec<(PathBuf, Option<String>)>,
    /// Writable files that connect worktrees with their repository, with their text.
    links: Vec<(PathBuf, Option<String>)>,
}

#[derive(Debug, PartialEq, Eq)]
struct Watched {
    path: PathBuf,
    identity: Option<Identity>,
    /// Existing folders above the path, the nearest first.
    above: Vec<(PathBuf, Identity)>,
}

/// Identity of a file or folder; `link` is the target of a symbolic link.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    link: Option<PathBuf>,
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let link = path.read_link().ok();
        let (device, inode) = numbers(path)?;
        Some(Self { device, inode, link })
    }
}

#[cfg(unix)]
fn numbers(path: &Path) -> Option<(u64, u64)> {
    let info = rustix::fs::lstat(path).ok()?;
    Some((info.st_dev, info.st_ino))
}

#[cfg(not(unix))]
fn numbers(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().is_ok().then_some((0, 0))
}

impl SandboxAudit {
    /// Records the protected paths before a command starts.
    pub fn begin(spec: &SandboxSpec) -> Self {
        let mut audit = Self {
            state: spec.places.state.clone(),
            watched: Vec::new(),
            configurations: Vec::new(),
            links: Vec::new(),
        };
        if matches!(spec.level, ConfinementLevel::Inspect | ConfinementLevel::None) {
            return audit;
        }
        let survey = WorkspaceSurvey::of(spec.level, &spec.places);
        let mut paths = spec.places.protected.clone();
        for repository in survey.repositories {
            paths.extend(repository.protected);
            match spec.git_configuration {
                GitConfiguration::Protected => {
                    paths.extend(repository.configurations);
                    paths.extend(repository.links);
                }
                GitConfiguration::Writable => {
                    let with_text = |path: PathBuf| {
                        let text = text_of(&path);
                        (path, text)
                    };
                    audit
                        .configurations
                        .extend(repository.configurations.into_iter().map(with_text));
                    audit.links.extend(repository.links.into_iter().map(with_text));
                }
            }
        }
        paths.extend(links::on_the_way(&paths));
        // The private folder of Pollux is created by Pollux itself.
        paths.retain(|path| !audit.state.starts_with(path));
        paths.sort();
        paths.dedup();
        audit.watched = paths.into_iter().map(Watched::new).collect();
        audit
    }

    /// Reverts the changes of the command, and returns them.
    pub fn finish(mut self) -> Vec<SandboxChange> {
        self.check()
    }

    /// Accepts the current state at and above a path as the state before the command.
    pub(super) fn accept(&mut self, path: &Path) {
        for watched in self.watched.iter_mut().filter(|watched| path.starts_with(&watched.path)) {
            *watched = Watched::new(mem::take(&mut watched.path));
        }
    }

    /// Reverts the changes of the command until now, and returns them. The command may still run.
    pub(super) fn check(&mut self) -> Vec<SandboxChange> {
        let Self { state, watched, configurations, links } = self;
        let mut changes = Vec::new();
        for watched in watched {
            if let Some((path, kind)) = watched.change() {
                let (moved_to, error) = match move_aside(state, &path, watched.identity.as_ref()) {
                    Ok(moved_to) => (Some(moved_to), None),
                    Err(error) => (None, Some(error.to_string())),
                };
                changes.push(SandboxChange { path, kind, moved_to, error });
                // Each change is reported once.
                watched.identity = Identity::of(&watched.path);
            }
        }
        for (path, before) in configurations {
            let Some(after) = text_of(path) else { continue };
            let before = before.as_deref().unwrap_or_default();
            if let Some((text, keys)) = git_config::reverted(before, &after) {
                let written =
                    pollux_fs::write_atomic(path, text.as_bytes(), &WriteOptions::default());
                let error = written.err().map(|error| error.to_string());
                let kind = SandboxChangeKind::Configuration(keys);
                changes.push(SandboxChange { path: path.clone(), kind, moved_to: None, error });
            }
        }
        changes.extend(links.iter().filter_map(|(path, before)| {
            // A worktree that was removed has no links.
            let is_same = !path.is_symlink() && text_of(path) == *before;
            if is_same || path.symlink_metadata().is_err() {
                return None;
            }
            let restored = restore(state, path, before.as_deref());
            let (moved_to, error) = match restored {
                Ok(moved_to) => (Some(moved_to), None),
                Err(error) => (None, Some(error.to_string())),
            };
            let kind = SandboxChangeKind::Replaced;
            Some(SandboxChange { path: path.clone(), kind, moved_to, error })
        }));
        changes
    }
}

/// Moves the current file aside and writes the original file again.
fn restore(state: &Path, path: &Path, text: Option<&str>) -> io::Result<PathBuf> {
    let moved_to = move_aside(state, path, None)?;
    if let Some(text) = text {
        pollux_fs::write_atomic(path, text.as_bytes(), &WriteOptions::default())
            .map_err(io::Error::other)?;
    }
    Ok(moved_to)
}

/// Moves a file or folder into the private folder of Pollux, and restores a link that it replaced.
fn move_aside(state: &Path, path: &Path, before: Option<&Identity>) -> io::Result<PathBuf> {
    let folder = MOVED.iter().fold(state.to_owned(), |folder, name| folder.join(name));
    pollux_fs::create_private_directories(&folder).map_err(io::Error::other)?;
    let folder = tempfile::Builder::new().prefix("").rand_bytes(8).tempdir_in(&folder)?.keep();
    let target = folder.join(path.file_name().unwrap_or(path.as_os_str()));
    if pollux_fs::rename(path, &target).is_err() {
        // The paths are on different file systems.
        pollux_fs::copy_tree(path, &target).map_err(io::Error::other)?;
        let is_folder = path.symlink_metadata()?.is_dir();
        if is_folder { pollux_fs::remove_tree(path) } else { pollux_fs::remove_file(path) }
            .map_err(io::Error::other)?;
    }
    #[cfg(unix)]
    if let Some(link) = before.and_then(|before| before.link.as_ref()) {
        std::os::unix::fs::symlink(link, path)?;
    }
    #[cfg(not(unix))]
    let _ = before;
    Ok(target)
}

impl Watched {
    fn new(path: PathBuf) -> Self {
        let identity = Identity::of(&path);
        let above = path
            .ancestors()
            .skip(1)
            .filter_map(|folder| Some((folder.to_owned(), Identity::of(folder)?)))
            .collect();
        Self { path, identity, above }
    }

    /// Returns the path to move aside, and the kind of its change.
    fn change(&self) -> Option<(PathBuf, SandboxChangeKind)> {
        let now = Identity::of(&self.path)?;
        if self.identity.as_ref() == Some(&now) {
            return None;
        }
        let is_moved =
            self.above.iter().any(|(folder, before)| Identity::of(folder).as_ref() != Some(before));
        let kind = match &self.identity {
            None => SandboxChangeKind::Appeared,
            // A link can be replaced, because nothing is mounted over it.
            Some(before) if is_moved || before.link.is_some() => SandboxChangeKind::Replaced,
            Some(_) => return None,
        };
        // A new link above the path leads to another folder, whose contents must not be moved.
        let existed = |folder: &Path| {
            self.above.iter().any(|(known, before)| {
                known == folder && Identity::of(folder).as_ref() == Some(before)
            })
        };
        let mut new: Vec<&Path> =
            self.path.ancestors().skip(1).take_while(|folder| !existed(folder)).collect();
        new.reverse();
        let link = new.into_iter().find(|folder| folder.is_symlink());
        let path = link.unwrap_or(&self.path).to_owned();
        (!is_harmless(&path)).then_some((path, kind))
    }
}

/// Returns true for the folder that Git creates from its templates: a folder of hooks of which no
/// hook is active.
fn is_harmless(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "hooks")
        && !path.is_symlink()
        && pollux_fs::list_directory(path).is_ok_and(|entries| {
            entries.iter().all(|entry| {
                Path::new(&entry.name).extension().is_some_and(|ending| ending == "sample")
            })
        })
}

fn text_of(path: &Path) -> Option<String> {
    let bytes = pollux_fs::read_bytes(path, CONFIGURATION_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use pollux_config::protected::ProtectedPlaces;
    use std::fs;
    use std::sync::Arc;

    use pretty_assertions::assert_eq;

    use super::super::SandboxPlaces;
    use super::*;

    struct Project(tempfile::TempDir);

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("p/.git")).unwrap();
            fs::write(folder.path().join("p/.git/config"), "[core]\n\tbare = false\n").unwrap();
            fs::create_dir(folder.path().join("home")).unwrap();
            Self(folder)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn begin(&self, git_configuration: GitConfiguration) -> SandboxAudit {
            let places = SandboxPlaces::standard(
                &ProtectedPlaces { homes: vec![self.path("home")], ..ProtectedPlaces::default() },
                vec![self.path("p")],
                self.path("state"),
                "/tmp".into(),
            );
            let spec = SandboxSpec::new(ConfinementLevel::Protect, Arc::new(places));
            SandboxAudit::begin(&SandboxSpec { git_configuration, ..spec })
        }
    }

    fn found(changes: &[SandboxChange]) -> Vec<(PathBuf, SandboxChangeKind)> {
        assert!(changes.iter().all(|change| change.error.is_none()), "{changes:?}");
        changes.iter().map(|change| (change.path.clone(), change.kind.clone())).collect()
    }

    #[test]
    fn links_on_the_way_to_a_protected_file_lead_to_the_same_file_afterwards() {
        use std::os::unix::fs::symlink;
        type Attack = fn(&Project);
        let cases: [(&str, Attack); 4] = [
            ("a dangling link", |project| {
                fs::write(project.path("dotfiles/new"), "evil").unwrap();
            }),
            ("another folder of the target", |project| {
                fs::rename(project.path("dotfiles"), project.path("old")).unwrap();
                fs::create_dir(project.path("dotfiles")).unwrap();
                fs::write(project.path("dotfiles/target"), "evil").unwrap();
            }),
            ("another link in a chain", |project| {
                fs::remove_file(project.path("dotfiles/middle")).unwrap();
                symlink(project.path("evil"), project.path("dotfiles/middle")).unwrap();
            }),
            ("another link to the folder", |project| {
                fs::remove_file(project.path("current")).unwrap();
                symlink(project.path("evil-folder"), project.path("current")).unwrap();
            }),
        ];
        for (name, attack) in cases {
            let project = Project::new();
            fs::create_dir(project.path("dotfiles")).unwrap();
            fs::create_dir(project.path("evil-folder")).unwrap();
            fs::write(project.path("dotfiles/target"), "good").unwrap();
            for evil in ["evil", "evil-folder/target"] {
                fs::write(project.path(evil), "evil").unwrap();
            }
            symlink("dotfiles", project.path("current")).unwrap();
            symlink("target", project.path("dotfiles/middle")).unwrap();
            let protected = [
                (".env", "dotfiles/new"),
                (".zshenv", "dotfiles/target"),
                (".bashrc", "dotfiles/middle"),
                (".profile", "current/target"),
            ];
            for (file, target) in protected {
                symlink(project.path(target), project.path("home").join(file)).unwrap();
            }
            let audit = project.begin(GitConfiguration::Protected);
            attack(&project);
            assert!(!audit.finish().is_empty(), "{name}");
            for (file, _) in protected {
                let text = fs::read_to_string(project.path("home").join(file)).unwrap_or_default();
                assert_ne!(text, "evil", "{name}: {file}");
            }
        }
    }

    #[test]
    fn what_appears_is_moved_aside() {
        let project = Project::new();
        let audit = project.begin(GitConfiguration::Protected);
        fs::create_dir(project.path("p/.git/hooks")).unwrap();
        fs::write(project.path("p/.git/hooks/pre-commit"), "evil").unwrap();
        fs::write(project.path("home/.bashrc"), "evil").unwrap();
        fs::write(project.path("home/other"), "good").unwrap();
        let changes = audit.finish();
        let appeared = |name: &str| (project.path(name), SandboxChangeKind::Appeared);
        assert_eq!(found(&changes), [appeared("home/.bashrc"), appeared("p/.git/hooks")]);
        assert!(!project.path("p/.git/hooks").exists() && !project.path("home/.bashrc").exists());
        let moved = changes[1].moved_to.clone().unwrap();
        assert_eq!(fs::read_to_string(moved.join("pre-commit")).unwrap(), "evil");
    }

    #[test]
    fn a_replaced_parent_and_a_link_to_elsewhere_are_found() {
        let project = Project::new();
        fs::create_dir_all(project.path("real/policies")).unwrap();
        let audit = project.begin(GitConfiguration::Protected);
        fs::rename(project.path("p/.git"), project.path("p/old")).unwrap();
        fs::create_dir(project.path("p/.git")).unwrap();
        fs::write(project.path("p/.git/config"), "evil").unwrap();
        std::os::unix::fs::symlink(project.path("real"), project.path("p/.gemini")).unwrap();
        let changes = found(&audit.finish());
        let replaced = (project.path("p/.git/config"), SandboxChangeKind::Replaced);
        let link = (project.path("p/.gemini"), SandboxChangeKind::Appeared);
        assert!(changes.contains(&replaced) && changes.contains(&link), "{changes:?}");
        assert!(project.path("real/policies").exists());
        assert!(!project.path("p/.gemini").exists());
    }

    #[test]
    fn hooks_that_are_only_samples_and_changes_by_others_stay() {
        let project = Project::new();
        fs::write(project.path("home/.bashrc"), "mine").unwrap();
        let audit = project.begin(GitConfiguration::Protected);
        fs::create_dir(project.path("p/.git/hooks")).unwrap();
        fs::write(project.path("p/.git/hooks/update.sample"), "").unwrap();
        fs::write(project.path("home/new"), "edited").unwrap();
        fs::rename(project.path("home/new"), project.path("home/.bashrc")).unwrap();
        assert_eq!(found(&audit.finish()), []);
    }

    #[test]
    fn a_writable_configuration_keeps_only_harmless_changes() {
        let project = Project::new();
        let audit = project.begin(GitConfiguration::Writable);
        let text = "[core]\n\tbare = false\n\tfsmonitor = x\n[user]\n\tname = A\n";
        fs::write(project.path("p/.git/config"), text).unwrap();
        let changes = found(&audit.finish());
        let keys = SandboxChangeKind::Configuration(vec!["core.fsmonitor".to_owned()]);
        assert_eq!(changes, [(project.path("p/.git/config"), keys)]);
        let text = fs::read_to_string(project.path("p/.git/config")).unwrap();
        assert_eq!(text, "[core]\n\tbare = false\n[user]\n\tname = A\n");
    }
    #[test]
    fn a_worktree_can_be_removed_and_its_link_leads_nowhere_else() {
        let project = Project::new();
        let links =
            ["p/tree/.git", "p/.git/worktrees/tree/commondir", "p/.git/worktrees/tree/gitdir"];
        let texts = [format!("gitdir: {}\n", project.path("p/.git/worktrees/tree").display())]
            .into_iter()
            .chain(["../..\n".to_owned(), "x\n".to_owned()]);
        fs::create_dir_all(project.path("p/.git/worktrees/tree")).unwrap();
        fs::create_dir(project.path("p/.git/objects")).unwrap();
        fs::create_dir(project.path("p/tree")).unwrap();
        for (link, text) in links.iter().zip(texts) {
            fs::write(project.path(link), text).unwrap();
        }
        let audit = project.begin(GitConfiguration::Writable);
        let text = fs::read_to_string(project.path(links[0])).unwrap();
        fs::write(project.path(links[0]), "gitdir: ../evil\n").unwrap();
        fs::remove_file(project.path(links[1])).unwrap();
        fs::create_dir(project.path(links[1])).unwrap();
        let changes = found(&audit.finish());
        let replaced = |name: &str| (project.path(name), SandboxChangeKind::Replaced);
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert!(changes.contains(&replaced(links[0])) && changes.contains(&replaced(links[1])));
        assert_eq!(fs::read_to_string(project.path(links[0])).unwrap(), text);
        assert_eq!(fs::read_to_string(project.path(links[1])).unwrap(), "../..\n");
        let audit = project.begin(GitConfiguration::Writable);
        fs::remove_dir_all(project.path("p/tree")).unwrap();
        fs::remove_dir_all(project.path("p/.git/worktrees")).unwrap();
        assert_eq!(found(&audit.finish()), []);
    }
}
