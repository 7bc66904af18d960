//! Installation, update and removal of extensions.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use pollux_config::Environment;
use pollux_fs::{EntryKind, WriteOptions};
use tempfile::TempDir;

use crate::archive::{ArchiveKind, extract, extract_bytes};
use crate::enablement::ExtensionEnablement;
use crate::error::InstallError;
use crate::extension::Extension;
use crate::git::without_credentials;
use crate::manifest::{MANIFEST_FILE, Manifest, ManifestError};
use crate::record::{InstallRecord, RECORD_FILE, SourceKind, github_repository};
use crate::release::{Release, Releases};
use crate::set::extensions_folder;
use crate::succession::Succession;
use crate::values::ExtensionSetting;
use crate::variables::Variables;
use crate::{git, tree};

#[cfg(test)]
mod tests;

/// Beginnings of addresses of repositories.
const REMOTE: [&str; 7] = ["http://", "https://", "git@", "sso://", "github:", "gitlab:", "ssh://"];
/// Beginning of the names of temporary folders.
const TEMPORARY: &str = "gemini-extension-";
/// File with the values of settings, which an update keeps.
const VALUES: &str = ".env";

/// Files of an extension that is to be installed.
#[derive(Debug)]
pub struct FetchedExtension {
    /// Origin of the files.
    pub record: InstallRecord,
    /// Folder with the files.
    pub folder: PathBuf,
    /// Reason why the files are not those of a release, for the user.
    pub note: Option<String>,
    /// Copy of the source, which is removed at the end.
    _copy: Option<TempDir>,
}

/// Options of an installation.
#[derive(Debug, Clone, Default)]
pub struct SourceOptions {
    /// Branch, tag or commit.
    pub reference: Option<String>,
    /// True if the extension is updated at the start.
    pub auto_update: bool,
    /// True if a release that is not final may be installed.
    pub pre_release: bool,
}

/// Returns the origin that a user names: the address of a repository, a folder, or an archive.
///
/// # Errors
/// The message of Gemini CLI.
pub fn source(given: &str, cwd: &Path, options: &SourceOptions) -> Result<InstallRecord, String> {
    if REMOTE.iter().any(|beginning| given.starts_with(beginning)) {
        return Ok(InstallRecord {
            reference: options.reference.clone(),
            auto_update: options.auto_update.then_some(true),
            allow_pre_release: options.pre_release.then_some(true),
            ..InstallRecord::new(given, SourceKind::Git)
        });
    }
    if options.reference.is_some() || options.auto_update {
        return Err("--ref and --auto-update are not applicable for local extensions.".to_owned());
    }
    let path = pollux_fs::absolute(cwd, Path::new(given));
    let is_usable = match pollux_fs::info(&path).map(|info| info.kind) {
        Ok(EntryKind::Directory) => true,
        Ok(EntryKind::File) => ArchiveKind::of(given).is_some(),
        _ => false,
    };
    if !is_usable {
        return Err("Install source not found.".to_owned());
    }
    Ok(InstallRecord::new(path.to_string_lossy(), SourceKind::Local))
}

/// Access to the places that extensions come from.
pub struct Sources {
    environment: Vec<(OsString, OsString)>,
    releases: Releases,
}

impl Sources {
    /// Creates the value for a user with this environment. Nothing is requested.
    ///
    /// # Errors
    /// The message about a variable that cannot be used.
    pub fn new(environment: &Environment) -> Result<Self, String> {
        let releases = Releases::new(environment)?;
        Ok(Self { environment: environment.for_children(), releases })
    }

    /// Fetches the files of an extension into a temporary folder: those of a release, if the
    /// repository is on GitHub and has one, otherwise those of the repository, or of an archive.
    /// A folder is used in place.
    ///
    /// # Errors
    /// The reason why they cannot be fetched.
    pub async fn fetch(&self, record: InstallRecord) -> Result<FetchedExtension, InstallError> {
        let given = PathBuf::from(&record.source);
        match record.kind {
            SourceKind::Local if pollux_fs::info(&given)?.kind == EntryKind::File => {
                let kind = ArchiveKind::of(&record.source).unwrap_or(ArchiveKind::Zip);
                let unpack = move |to: &Path| extract(&given, kind, to);
                unpacked(record, unpack).await
            }
            SourceKind::Local | SourceKind::Link => {
                Ok(FetchedExtension { record, folder: given, note: None, _copy: None })
            }
            SourceKind::Git | SourceKind::GithubRelease => {
                let note = match self.release(&record).await {
                    Ok(Some((release, archive))) => {
                        let source = PathBuf::from(without_credentials(&record.source));
                        let unpack = move |to: &Path| {
                            extract_bytes(&archive, release.kind, to)
                                .map_err(|reason| InstallError::archive(&source, reason))
                        };
                        let (kind, tag) = (SourceKind::GithubRelease, Some(release.tag));
                        let record = InstallRecord { kind, release_tag: tag, ..record };
                        return unpacked(record, unpack).await;
                    }
                    Ok(None) => None,
                    Err(reason) => Some(reason),
                };
                self.cloned(record, note).await
            }
        }
    }

    /// Copies the files of a repository.
    async fn cloned(
        &self,
        record: InstallRecord,
        note: Option<String>,
    ) -> Result<FetchedExtension, InstallError> {
        let copy = tree::temporary(TEMPORARY)?;
        let reference = record.reference.as_deref();
        let environment = self.environment.clone();
        git::clone(&address(&record.source), reference, copy.path(), environment).await?;
        let record = InstallRecord { kind: SourceKind::Git, release_tag: None, ..record };
        Ok(FetchedExtension { record, folder: copy.path().to_owned(), note, _copy: Some(copy) })
    }

    /// Returns the release of a repository on GitHub, with its archive; `None` if it has none.
    async fn release(&self, record: &InstallRecord) -> Result<Option<(Release, Bytes)>, String> {
        let Some(release) = self.find_release(record).await? else { return Ok(None) };
        let archive = self.releases.download(&release).await?;
        Ok(Some((release, archive)))
    }

    async fn find_release(&self, record: &InstallRecord) -> Result<Option<Release>, String> {
        let Some(repository) = github_repository(&record.source) else { return Ok(None) };
        let may_be_early = record.allow_pre_release == Some(true);
        self.releases.find(repository, record.reference.as_deref(), may_be_early).await
    }

    /// Returns true if the source of an installed extension has another version.
    ///
    /// # Errors
    /// The reason why this cannot be known.
    pub async fn has_update(
        &self,
        record: &InstallRecord,
        installed: &Manifest,
        home: &Path,
    ) -> Result<bool, InstallError> {
        match record.kind {
            SourceKind::Link => Ok(false),
            SourceKind::Local => {
                let fetched = self.fetch(record.clone()).await?;
                let read = Manifest::read(&fetched.folder, &Variables::default());
                let (source, _) = read.map_err(|error| InstallError::Name(error.to_string()))?;
                Ok(source.version != installed.version)
            }
            SourceKind::Git => {
                let (address, environment) = (address(&record.source), self.environment.clone());
                let reference = record.reference.as_deref();
                let there = git::remote_hash(&address, reference, environment.clone()).await?;
                Ok(there != git::local_hash(home, &address, environment).await?)
            }
            SourceKind::GithubRelease => {
                let failed = |reason: String| {
                    let source = without_credentials(&record.source);
                    InstallError::Name(format!("Cannot find the release of {source}: {reason}"))
                };
                let release = self.find_release(record).await.map_err(failed)?;
                let release = release.ok_or_else(|| failed("there is none".to_owned()))?;
                Ok(record.release_tag.as_ref() != Some(&release.tag))
            }
        }
    }
}

/// Fetches the files of an archive, which `unpack` extracts into a folder.
async fn unpacked(
    record: InstallRecord,
    unpack: impl FnOnce(&Path) -> Result<(), InstallError> + Send + 'static,
) -> Result<FetchedExtension, InstallError> {
    let copy = tree::temporary(TEMPORARY)?;
    let to = copy.path().to_owned();
    let work = tokio::task::spawn_blocking(move || unpack(&to).map(|()| inner_folder(to)));
    let done = work.await.map_err(|error| InstallError::Name(error.to_string()))?;
    Ok(FetchedExtension { record, folder: done?, note: None, _copy: Some(copy) })
}

/// Returns the folder with the manifest: the folder itself, or the only entry in it.
fn inner_folder(folder: PathBuf) -> PathBuf {
    let is_extension = |folder: &Path| pollux_fs::info(&folder.join(MANIFEST_FILE)).is_ok();
    let entries = pollux_fs::list_directory(&folder).unwrap_or_default();
    match &entries[..] {
        [only] if !is_extension(&folder) && is_extension(&only.path) => only.path.clone(),
        _ => folder,
    }
}

impl FetchedExtension {
    /// Reads the manifest as it will be after the installation. Blocks the thread.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn manifest(&self, state: &Path, workspace: &Path) -> Result<Manifest, ManifestError> {
        let (plain, value) = Manifest::read(&self.folder, &Variables::default())?;
        let mut value = value;
        self.variables(&plain.name, state, workspace).fill(&mut value);
        let path = self.folder.join(MANIFEST_FILE);
        Manifest::of(&value, &path).map_err(|reason| ManifestError::Unusable { path, reason })
    }

    /// Returns the variables of the extension after its installation.
    pub fn variables(&self, name: &str, state: &Path, workspace: &Path) -> Variables {
        let folder = match self.record.kind {
            SourceKind::Link => self.folder.clone(),
            _ => extensions_folder(state).join(name),
        };
        Variables::new(&folder, workspace)
    }

    /// Installs the extension, whose manifest this is, in place of an earlier version. Whatever
    /// fails, and even if the process is killed, the earlier version is either complete or replaced
    /// as a whole. The new version gets the values of the settings that it still has. `places` are
    /// the state folder and the folder of the project. Returns the folder. Blocks the thread.
    ///
    /// # Errors
    /// The reason why it was not installed, or why not everything of the earlier version was
    /// removed.
    pub fn install(
        &self,
        manifest: &Manifest,
        places: (&Path, &Path),
        earlier: Option<&Extension>,
    ) -> Result<PathBuf, InstallError> {
        let (state, _) = places;
        let mut enablement = enablement(state)?;
        let home = self.place(&manifest.name, state, earlier)?;
        let record = &self.record;
        let succession = earlier.map(|earlier| Succession::new(earlier, manifest, record, places));
        let values = succession.as_ref().map(Succession::give_values).transpose()?;
        let finish = |new: &Path| {
            // A source may contain these files, too, but only the user writes them.
            for file in [VALUES, RECORD_FILE] {
                match pollux_fs::remove_file(&new.join(file)) {
                    Err(error) if !error.is_not_found() => return Err(error),
                    _ => {}
                }
            }
            if let Some(values) = values.as_ref().filter(|values| !values.is_empty()) {
                let options = WriteOptions::private();
                pollux_fs::write_atomic(&new.join(VALUES), values.as_bytes(), &options)?;
            }
            self.record.write(new)
        };
        match self.record.kind {
            SourceKind::Link => tree::install_empty(&home, &finish)?,
            kind => {
                tree::install_as(&self.folder, &home, kind == SourceKind::Git, &finish)?;
            }
        }
        if let Some(earlier) = earlier.filter(|earlier| earlier.home != home) {
            tree::remove(&earlier.home)?;
        }
        if let Some(succession) = succession {
            succession.complete(&mut enablement)?;
        }
        Ok(home)
    }

    /// Returns the place of the installation, which is free except for an earlier version.
    fn place(
        &self,
        name: &str,
        state: &Path,
        earlier: Option<&Extension>,
    ) -> Result<PathBuf, InstallError> {
        let home = extensions_folder(state).join(name);
        if pollux_fs::link_info(&home).is_ok() && earlier.is_none_or(|one| one.home != home) {
            return Err(InstallError::Occupied(name.to_owned()));
        }
        let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
        let (from, to) = (real(&self.folder), real(&extensions_folder(state)).join(name));
        if from.starts_with(&to) || to.starts_with(&from) {
            let reason = format!("it is the place of the installation, {}", home.display());
            return Err(InstallError::folder(&self.folder, reason));
        }
        Ok(home)
    }
}

/// Removes an installed extension with the user's secrets for it, but not what a link leads to.
/// `workspace` is the project whose secrets are removed, too. Blocks the thread.
///
/// # Errors
/// The reason why it was not removed.
pub fn uninstall(
    extension: &Extension,
    state: &Path,
    workspace: &Path,
) -> Result<(), InstallError> {
    let mut enablement = enablement(state)?;
    let values = extension.value_store(state, workspace);
    let is_secret = |setting: &&ExtensionSetting| setting.declaration.is_sensitive;
    for setting in extension.settings.iter().filter(is_secret) {
        values.forget_secret(&setting.declaration.variable)?;
    }
    tree::remove(&extension.home)?;
    enablement.remove(extension.name());
    Ok(enablement.save()?)
}

/// Removes the folder of an extension that cannot be read, by the name of the folder. Its secrets
/// are not known. Returns false if there is no such folder. Blocks the thread.
///
/// # Errors
/// The reason why it was not removed.
pub fn uninstall_folder(name: &str, state: &Path) -> Result<bool, InstallError> {
    let folder = extensions_folder(state).join(name);
    let is_inner = Path::new(name).file_name() == Some(OsStr::new(name));
    let info = pollux_fs::link_info(&folder).ok().filter(|_| is_inner);
    if !info.is_some_and(|info| matches!(info.kind, EntryKind::Directory | EntryKind::Symlink)) {
        return Ok(false);
    }
    let mut enablement = enablement(state)?;
    tree::remove(&folder)?;
    enablement.remove(name);
    enablement.save()?;
    Ok(true)
}

/// Reads where extensions are enabled. An installation or removal that could not change this is not
/// begun.
fn enablement(state: &Path) -> Result<ExtensionEnablement, InstallError> {
    ExtensionEnablement::read(&extensions_folder(state)).map_err(|problem| {
        let problem = problem.trim_end_matches('.');
        InstallError::Name(format!(
            "{problem}.\nCorrect the file, or remove it. Nothing was changed."
        ))
    })
}

/// Returns the address that Git understands.
fn address(source: &str) -> String {
    match (github_repository(source), source.strip_prefix("gitlab:")) {
        (Some((owner, name)), _) if source.starts_with("github:") => {
            format!("https://github.com/{owner}/{name}")
        }
        (_, Some(path)) => format!("https://gitlab.com/{path}"),
        _ => source.to_owned(),
    }
}
