//! Installation, update and removal of extensions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pollux_fs::EntryKind;
use tempfile::TempDir;

use crate::enablement::ExtensionEnablement;
use crate::error::InstallError;
use crate::manifest::{MANIFEST_FILE, Manifest, ManifestError};
use crate::record::{InstallRecord, RECORD_FILE, SourceKind, github_repository};
use crate::set::extensions_folder;
use crate::variables::Variables;
use crate::{git, tree};

/// Beginnings of addresses of repositories.
const REMOTE: [&str; 7] = ["http://", "https://", "git@", "sso://", "github:", "gitlab:", "ssh://"];
/// File with the values of settings, which an update keeps.
const VALUES: &str = ".env";

/// Files of an extension that is to be installed.
#[derive(Debug)]
pub struct FetchedExtension {
    /// Origin of the files.
    pub record: InstallRecord,
    /// Folder with the files.
    pub folder: PathBuf,
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

/// Returns the origin that a user names: the address of a repository, or a folder.
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
    match pollux_fs::info(&path).map(|info| info.kind) {
        Ok(EntryKind::Directory) => {
            Ok(InstallRecord::new(path.to_string_lossy(), SourceKind::Local))
        }
        _ => Err("Install source not found.".to_owned()),
    }
}

impl FetchedExtension {
    /// Fetches the files of an extension: a repository into a temporary folder; others are used in
    /// place.
    ///
    /// # Errors
    /// The reason why they cannot be fetched.
    pub async fn fetch(
        record: InstallRecord,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Self, InstallError> {
        match record.kind {
            SourceKind::Local | SourceKind::Link => {
                let folder = PathBuf::from(&record.source);
                Ok(Self { record, folder, _copy: None })
            }
            // Of a release the files of its tag are used.
            SourceKind::Git | SourceKind::GithubRelease => {
                let copy = tree::temporary("gemini-extension-")?;
                let reference = record.reference.as_ref().or(record.release_tag.as_ref());
                let address = address(&record.source);
                let reference = reference.map(String::as_str);
                git::clone(&address, reference, copy.path(), environment).await?;
                Ok(Self { record, folder: copy.path().to_owned(), _copy: Some(copy) })
            }
        }
    }

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

    /// Installs the extension under its name, in place of an earlier version in `earlier`. Whatever
    /// fails, and even if the process is killed, the earlier version is either complete or replaced
    /// as a whole. Returns the folder. Blocks the thread.
    ///
    /// # Errors
    /// The reason why it was not installed.
    pub fn install(
        &self,
        name: &str,
        state: &Path,
        earlier: Option<&Path>,
    ) -> Result<PathBuf, InstallError> {
        let home = extensions_folder(state).join(name);
        if pollux_fs::link_info(&home).is_ok() && earlier != Some(home.as_path()) {
            return Err(InstallError::Occupied(name.to_owned()));
        }
        let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
        let (from, to) = (real(&self.folder), real(&extensions_folder(state)).join(name));
        if from.starts_with(&to) || to.starts_with(&from) {
            let reason = format!("it is the place of the installation, {}", home.display());
            return Err(InstallError::folder(&self.folder, reason));
        }
        let finish = |new: &Path| {
            // A source may contain these files, too, but only the user writes them.
            for file in [VALUES, RECORD_FILE] {
                match pollux_fs::remove_file(&new.join(file)) {
                    Err(error) if !error.is_not_found() => return Err(error),
                    _ => {}
                }
            }
            if let Some(earlier) = earlier {
                keep(&earlier.join(VALUES), &new.join(VALUES))?;
            }
            self.record.write(new)
        };
        match self.record.kind {
            SourceKind::Link => tree::install_empty(&home, &finish)?,
            kind => tree::install_as(&self.folder, &home, kind.is_remote(), &finish)?,
        }
        if let Some(earlier) = earlier.filter(|earlier| *earlier != home) {
            tree::remove(earlier)?;
        }
        Ok(home)
    }
}

/// Removes an installed extension, but not what a link leads to. Blocks the thread.
///
/// # Errors
/// The reason why it was not removed.
pub fn uninstall(home: &Path, name: &str, state: &Path) -> Result<(), InstallError> {
    tree::remove(home)?;
    let mut enablement =
        ExtensionEnablement::read(&extensions_folder(state)).map_err(InstallError::Name)?;
    enablement.remove(name);
    Ok(enablement.save()?)
}

/// Returns true if the source of an installed extension has another version.
///
/// # Errors
/// The reason why this cannot be known.
pub async fn has_update(
    record: &InstallRecord,
    installed: &Manifest,
    home: &Path,
    environment: Vec<(OsString, OsString)>,
) -> Result<bool, InstallError> {
    match record.kind {
        SourceKind::Link => Ok(false),
        SourceKind::Local => {
            let folder = Path::new(&record.source);
            let read = Manifest::read(folder, &Variables::default());
            let (source, _) = read.map_err(|error| InstallError::Name(error.to_string()))?;
            Ok(source.version != installed.version)
        }
        SourceKind::Git | SourceKind::GithubRelease => {
            let address = address(&record.source);
            let reference = record.reference.as_ref().or(record.release_tag.as_ref());
            let reference = reference.map(String::as_str);
            let there = git::remote_hash(&address, reference, environment.clone()).await?;
            Ok(there != git::local_hash(home, &address, environment).await?)
        }
    }
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

/// Copies a file, if it exists.
fn keep(from: &Path, to: &Path) -> pollux_fs::Result<()> {
    match pollux_fs::read_bytes(from, 1 << 20) {
        Ok(bytes) => {
            pollux_fs::write_atomic(to, &bytes, &pollux_fs::WriteOptions::private()).map(drop)
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    fn extension(folder: &Path, version: &str) {
        fs::create_dir_all(folder).unwrap();
        let text = format!("{{\"name\": \"x\", \"version\": \"{version}\"}}");
        fs::write(folder.join(MANIFEST_FILE), text).unwrap();
    }

    #[tokio::test]
    async fn a_folder_is_installed_updated_and_removed() {
        let base = tempfile::tempdir().unwrap();
        let (state, from) = (base.path().join("state"), base.path().join("from"));
        extension(&from, "1");
        fs::write(from.join(".env"), "PLANTED=1").unwrap();
        fs::create_dir(from.join(".git")).unwrap();
        let options = SourceOptions::default();
        let record = source("from", base.path(), &options).unwrap();
        let fetch = || FetchedExtension::fetch(record.clone(), Vec::new());
        let home = fetch().await.unwrap().install("x", &state, None).unwrap();
        assert_eq!(home, extensions_folder(&state).join("x"));
        assert!(!home.join(".env").exists() && !home.join(".git").exists());
        assert_eq!(InstallRecord::read(&home).unwrap().unwrap(), record);
        let again = fetch().await.unwrap().install("x", &state, None).unwrap_err();
        assert!(matches!(again, InstallError::Occupied(_)), "{again}");
        let installed = Manifest::read(&home, &Variables::default()).unwrap().0;
        assert!(!has_update(&record, &installed, &home, Vec::new()).await.unwrap());
        extension(&from, "2");
        assert!(has_update(&record, &installed, &home, Vec::new()).await.unwrap());
        fs::write(home.join(".env"), "MINE=1").unwrap();
        fetch().await.unwrap().install("x", &state, Some(&home)).unwrap();
        assert_eq!(fs::read_to_string(home.join(".env")).unwrap(), "MINE=1");
        assert_eq!(Manifest::read(&home, &Variables::default()).unwrap().0.version, "2");
        uninstall(&home, "x", &state).unwrap();
        assert!(!home.exists() && from.exists());
    }

    #[tokio::test]
    async fn a_link_is_only_a_record() {
        let base = tempfile::tempdir().unwrap();
        let from = base.path().join("from");
        extension(&from, "1");
        let record = InstallRecord::new(from.to_string_lossy(), SourceKind::Link);
        let fetched = FetchedExtension::fetch(record, Vec::new()).await.unwrap();
        let home = fetched.install("x", base.path(), None).unwrap();
        assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
        uninstall(&home, "x", base.path()).unwrap();
        assert!(from.join(MANIFEST_FILE).exists());
    }

    #[test]
    fn sources() {
        let base = tempfile::tempdir().unwrap();
        let of = |given: &str, options: &SourceOptions| source(given, base.path(), options);
        let with = SourceOptions { reference: Some("v1".to_owned()), ..SourceOptions::default() };
        let plain = SourceOptions::default();
        for given in REMOTE.map(|beginning| format!("{beginning}h/o/r")) {
            let record = of(&given, &with).unwrap();
            assert_eq!((record.kind, record.reference.as_deref()), (SourceKind::Git, Some("v1")));
        }
        let error = "--ref and --auto-update are not applicable for local extensions.";
        assert_eq!(of(".", &with).unwrap_err(), error);
        assert_eq!(of("nosuch", &plain).unwrap_err(), "Install source not found.");
        assert_eq!(of(".", &plain).unwrap().kind, SourceKind::Local);
        assert_eq!(address("github:o/r"), "https://github.com/o/r");
        assert_eq!(address("gitlab:o/r"), "https://gitlab.com/o/r");
        assert_eq!(address("git@h:o/r"), "git@h:o/r");
    }
}
