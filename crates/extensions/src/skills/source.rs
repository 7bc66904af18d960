//! Places from which skills are installed.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use super::install::SkillFolder;
use super::skill::Skill;
use crate::archive::{ArchiveKind, extract};
use crate::error::InstallError;
use crate::git;
use crate::tree::temporary;

/// Extension of archives.
const ARCHIVE: &str = "skill";
/// Beginning of the names of temporary folders.
const TEMPORARY: &str = "gemini-skill-";

/// Place from which skills are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSource {
    /// Address of a Git repository.
    Git(String),
    /// Archive.
    Archive(PathBuf),
    /// Folder.
    Folder(PathBuf),
}

/// Skills that were found in a source, before anything is installed.
#[derive(Debug)]
pub struct FetchedSkills {
    /// Folder in which they were searched.
    pub root: PathBuf,
    /// The skills. There is at least one.
    pub skills: Vec<Skill>,
    /// Copy of the source, which is removed at the end.
    _copy: Option<TempDir>,
}

/// Folder of a source that is ready to be searched.
#[derive(Debug)]
pub struct FetchedSource {
    root: PathBuf,
    copy: Option<TempDir>,
}

impl SkillSource {
    /// Reads a source as the user writes it; `cwd` is the base of relative paths.
    pub fn read(source: &str, cwd: &Path) -> Self {
        if git::is_git_address(source) {
            return Self::Git(source.to_owned());
        }
        let path = pollux_fs::absolute(cwd, Path::new(source));
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case(ARCHIVE) => Self::Archive(path),
            _ => Self::Folder(path),
        }
    }

    /// Fetches the source into a temporary folder, except for a folder, which is used in place.
    ///
    /// # Errors
    /// The reason why the source cannot be fetched.
    pub async fn fetch(
        &self,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<FetchedSource, InstallError> {
        let copy = match self {
            Self::Folder(root) => return Ok(FetchedSource { root: root.clone(), copy: None }),
            Self::Git(address) => {
                let copy = temporary(TEMPORARY)?;
                git::clone(address, None, copy.path(), environment).await?;
                copy
            }
            Self::Archive(archive) => {
                let copy = temporary(TEMPORARY)?;
                let (from, to) = (archive.clone(), copy.path().to_owned());
                let extracted =
                    tokio::task::spawn_blocking(move || extract(&from, ArchiveKind::Zip, &to));
                let failed = |error: tokio::task::JoinError| error.to_string();
                extracted
                    .await
                    .map_err(|error| InstallError::archive(archive, failed(error)))??;
                copy
            }
        };
        Ok(FetchedSource { root: copy.path().to_owned(), copy: Some(copy) })
    }
}

impl FetchedSource {
    /// Returns the folder in which skills are searched: that of the source, or one below it.
    ///
    /// # Errors
    /// [`InstallError::Traversal`] for a path that leads out of the source.
    pub fn root(&self, below: Option<&Path>) -> Result<PathBuf, InstallError> {
        let Some(below) = below else { return Ok(self.root.clone()) };
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !below.components().all(is_plain) {
            return Err(InstallError::Traversal);
        }
        let root = self.root.join(below);
        let is_inside = match (pollux_fs::real_path(&root), pollux_fs::real_path(&self.root)) {
            (Ok(root), Ok(source)) => root.starts_with(source),
            // A missing folder has no skills.
            _ => true,
        };
        if is_inside { Ok(root) } else { Err(InstallError::Traversal) }
    }

    /// Finds the skills in a folder of this source. Blocks the thread.
    ///
    /// # Errors
    /// [`InstallError::NoSkill`], with the name of the source for the message, and
    /// [`InstallError::Duplicate`].
    pub fn skills(self, root: PathBuf, source_name: &str) -> Result<FetchedSkills, InstallError> {
        let skills = SkillFolder::new(&root).skills();
        if skills.is_empty() {
            return Err(InstallError::NoSkill { source_name: source_name.to_owned() });
        }
        for (index, skill) in skills.iter().enumerate() {
            let same: Vec<&Skill> =
                skills[index..].iter().filter(|other| other.name == skill.name).collect();
            if same.len() > 1 {
                return Err(InstallError::Duplicate {
                    name: skill.name.clone(),
                    files: same.into_iter().map(Skill::file).collect(),
                });
            }
        }
        Ok(FetchedSkills { root, skills, _copy: self.copy })
    }
}
