//! Values that the user has entered for the settings of an extension.
//!
//! Values that are not secret are in `.env` files: of the extension, and of a project. Secret ones
//! are in the encrypted file of credentials, in the form in which Gemini CLI reads them.

use std::path::{Path, PathBuf};

use pollux_config::dotenv;
use pollux_fs::{Expectation, Fingerprint, RealPath, WriteOptions};
use pollux_net::credentials::{CredentialError, SecretStore};

use crate::manifest::SettingDeclaration;

/// Name of the files with values.
const FILE: &str = ".env";
/// Maximum size of such a file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Scope of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueScope {
    /// All projects of the user.
    User,
    /// One project.
    Workspace,
}

impl ValueScope {
    /// Both scopes.
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Workspace];
}

/// Setting of an extension with its value.
#[derive(Clone, PartialEq, Eq)]
pub struct ExtensionSetting {
    /// Declaration in the manifest.
    pub declaration: SettingDeclaration,
    /// The value; `None` if the user has entered none.
    pub value: Option<String>,
    /// Scope of the value.
    pub scope: Option<ValueScope>,
}

impl std::fmt::Debug for ExtensionSetting {
    /// Shows no value.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("ExtensionSetting");
        fields.field("declaration", &self.declaration).field("scope", &self.scope);
        fields.finish_non_exhaustive()
    }
}

/// Reason why a value cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] pollux_fs::Error),
    /// The secrets cannot be read or written.
    #[error(transparent)]
    Secret(#[from] CredentialError),
    /// The value cannot be written to a `.env` file.
    #[error("The value of {0} contains a line break, which a .env file cannot hold.")]
    LineBreak(String),
    /// The syntax of a `.env` file has no form for the value.
    #[error("The value of {name} cannot be written to {}: the file has no escapes. Use a value without quotation marks.", file.display())]
    NoForm {
        /// Name of the variable.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// The file is not text that can be changed.
    #[error("Cannot change {}: it is not UTF-8.", .0.display())]
    Encoding(PathBuf),
    /// The file is a link to a place outside of its folder.
    #[error(
        "{} is a link that leads out of its folder, to {}, and is not followed.\nReplace the link by a file, or set {name} in {} yourself.",
        file.display(), target.display(), target.display()
    )]
    Link {
        /// Name of the variable.
        name: String,
        /// The file.
        file: PathBuf,
        /// Place that the link leads to.
        target: PathBuf,
    },
}

/// Places of the values of one extension.
#[derive(Debug, Clone)]
pub struct ValueStore {
    /// Folder of the extension below `~/.gemini/extensions`.
    pub(crate) folder: PathBuf,
    /// Folder of the project.
    pub(crate) workspace: PathBuf,
    /// Service of the secrets: it names the extension.
    pub(crate) service: String,
    pub(crate) secrets: SecretStore,
}

impl ValueStore {
    /// Creates the value for an extension with this name and id.
    pub(crate) fn new(
        folder: &Path,
        workspace: &Path,
        (name, id): (&str, &str),
        secrets: &SecretStore,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            workspace: workspace.to_owned(),
            service: format!("Gemini CLI Extensions {name} {id}"),
            secrets: secrets.clone(),
        }
    }

    /// Reads the values of the user, and those of the project for which `accepts` returns true,
    /// which take precedence. Blocks the thread.
    ///
    /// # Errors
    /// Values that cannot be read.
    pub(crate) fn read(
        &self,
        declarations: &[SettingDeclaration],
        accepts: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Vec<ExtensionSetting>, ValueError> {
        if declarations.is_empty() {
            return Ok(Vec::new());
        }
        let (user, project) = (read_file(&self.folder)?, read_file(&self.workspace)?);
        let of = |pairs: &[(String, String)], name: &str| {
            pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let setting = |declaration: &SettingDeclaration| {
            let name = &declaration.variable;
            let (user, project) = if declaration.is_sensitive {
                (self.secret(name, ValueScope::User)?, self.secret(name, ValueScope::Workspace)?)
            } else {
                let accepted = of(&project, name).filter(|value| accepts(name, value));
                (of(&user, name), accepted)
            };
            let scope = match (&user, &project) {
                (_, Some(_)) => Some(ValueScope::Workspace),
                (Some(_), None) => Some(ValueScope::User),
                (None, None) => None,
            };
            Ok(ExtensionSetting {
                declaration: declaration.clone(),
                value: project.or(user),
                scope,
            })
        };
        declarations.iter().map(setting).collect()
    }

    /// Stores a value; an empty one removes it. Blocks the thread.
    ///
    /// # Errors
    /// For a value that cannot be stored.
    pub fn set(
        &self,
        declaration: &SettingDeclaration,
        value: &str,
        scope: ValueScope,
    ) -> Result<(), ValueError> {
        let name = &declaration.variable;
        if declaration.is_sensitive {
            self.set_secret(name, (!value.is_empty()).then_some(value), scope)?;
            // An earlier version may have had the value in the file. A project's file is not only
            // for extensions.
            return match scope {
                ValueScope::User => self.write(name, "", scope),
                ValueScope::Workspace => Ok(()),
            };
        }
        if value.contains(['\n', '\r']) {
            return Err(ValueError::LineBreak(name.clone()));
        }
        self.write(name, value, scope)
    }

    /// Writes a value to the file of the scope, or removes it if it is empty. Everything else in
    /// the file stays.
    fn write(&self, name: &str, value: &str, scope: ValueScope) -> Result<(), ValueError> {
        let file = self.folder_of(scope).join(FILE);
        let real = RealPath::of(&file)?;
        // A repository can contain a link to any file of the user.
        if !real.starts_with(RealPath::of(self.folder_of(scope))?) {
            let target = real.into_path_buf();
            return Err(ValueError::Link { name: name.to_owned(), file, target });
        }
        let (bytes, expected) = match real.read_bytes(MAX_BYTES) {
            Ok(bytes) => {
                let read = Fingerprint::of_bytes(&bytes, None);
                (bytes, Expectation::Unchanged(read))
            }
            Err(error) if error.is_not_found() => (Vec::new(), Expectation::Absent),
            Err(error) => return Err(error.into()),
        };
        let mut options = WriteOptions { expected: Some(expected), ..WriteOptions::private() };
        if scope == ValueScope::Workspace && expected != Expectation::Absent {
            // Others may be allowed to read the file of a project.
            options.mode = None;
        }
        let text = String::from_utf8(bytes).map_err(|_| ValueError::Encoding(file.clone()))?;
        let value = (!value.is_empty()).then_some(value);
        let changed = dotenv::assign(&text, name, value)
            .ok_or_else(|| ValueError::NoForm { name: name.to_owned(), file })?;
        if changed != text {
            real.write_atomic(changed.as_bytes(), &options)?;
        }
        Ok(())
    }

    /// Returns the text of the extension's own file, which is empty if there is none. Blocks the
    /// thread.
    ///
    /// # Errors
    /// For a file that cannot be read.
    pub(crate) fn text(&self) -> Result<String, ValueError> {
        let file = self.folder.join(FILE);
        match pollux_fs::read_bytes(&file, MAX_BYTES) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| ValueError::Encoding(file)),
            Err(error) if error.is_not_found() => Ok(String::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the secret with a name in both scopes, if there is one. Blocks the thread.
    ///
    /// # Errors
    /// For secrets that cannot be read or written.
    pub(crate) fn forget_secret(&self, name: &str) -> Result<(), ValueError> {
        for scope in ValueScope::ALL {
            if self.secret(name, scope)?.is_some() {
                self.set_secret(name, None, scope)?;
            }
        }
        Ok(())
    }

    /// Stores a secret; `None` removes it. Blocks the thread.
    pub(crate) fn set_secret(
        &self,
        name: &str,
        value: Option<&str>,
        scope: ValueScope,
    ) -> Result<(), ValueError> {
        Ok(self.secrets.set(&self.service_of(scope), &account(name), value)?)
    }

    /// Returns a secret. Blocks the thread.
    pub(crate) fn secret(
        &self,
        name: &str,
        scope: ValueScope,
    ) -> Result<Option<String>, ValueError> {
        // Without the file there is no key to derive, which takes long.
        if pollux_fs::info(self.secrets.path()).is_err() {
            return Ok(None);
        }
        Ok(self.secrets.get(&self.service_of(scope), &account(name))?)
    }

    fn folder_of(&self, scope: ValueScope) -> &Path {
        match scope {
            ValueScope::User => &self.folder,
            ValueScope::Workspace => &self.workspace,
        }
    }

    fn service_of(&self, scope: ValueScope) -> String {
        match scope {
            ValueScope::User => self.service.clone(),
            ValueScope::Workspace => format!("{} {}", self.service, self.workspace.display()),
        }
    }
}

fn account(name: &str) -> String {
    format!("__secret__{name}")
}

fn read_file(folder: &Path) -> pollux_fs::Result<Vec<(String, String)>> {
    match pollux_fs::read_bytes(&folder.join(FILE), MAX_BYTES) {
        Ok(bytes) => Ok(dotenv::parse(&String::from_utf8_lossy(&bytes))),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn declaration(variable: &str, is_sensitive: bool) -> SettingDeclaration {
        let name = variable.to_lowercase();
        SettingDeclaration {
            name,
            description: String::new(),
            variable: variable.into(),
            is_sensitive,
        }
    }

    #[test]
    fn values_are_stored_where_they_belong() {
        let base = tempfile::tempdir().unwrap();
        let secrets = SecretStore::in_state(base.path());
        let (folder, workspace) = (base.path().join("e"), base.path().join("w"));
        let store = ValueStore::new(&folder, &workspace, ("x", "id"), &secrets);
        let declarations = [declaration("REGION", false), declaration("TOKEN", true)];
        let values = |accepts: bool| {
            let read = store.read(&declarations, &|_, _| accepts).unwrap();
            read.into_iter().map(|setting| setting.value.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(values(true), ["", ""]);
        store.set(&declarations[0], "eu west", ValueScope::User).unwrap();
        store.set(&declarations[1], "hidden", ValueScope::User).unwrap();
        assert_eq!(values(true), ["eu west", "hidden"]);
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap();
        assert_eq!(text, "REGION=\"eu west\"\n");
        store.set(&declarations[0], "us", ValueScope::Workspace).unwrap();
        store.set(&declarations[1], "own", ValueScope::Workspace).unwrap();
        assert_eq!(values(true), ["us", "own"]);
        // Nobody has agreed to the project's file; secrets are the user's own.
        assert_eq!(values(false), ["eu west", "own"]);
        store.set(&declarations[1], "", ValueScope::Workspace).unwrap();
        store.set(&declarations[0], "", ValueScope::User).unwrap();
        assert_eq!(values(false), ["", "hidden"]);
        // The setting was not secret in an earlier version.
        std::fs::write(folder.join(FILE), "# Mine.\nTOKEN=plain\nREGION=eu\n").unwrap();
        store.set(&declarations[1], "entered", ValueScope::User).unwrap();
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap();
        assert_eq!(text, "# Mine.\nREGION=eu\n");
        let error = store.set(&declarations[0], "a\nb", ValueScope::User).unwrap_err();
        assert!(matches!(error, ValueError::LineBreak(_)));
    }

    #[test]
    fn values_survive_the_file() {
        let base = tempfile::tempdir().unwrap();
        let secrets = SecretStore::in_state(base.path());
        let store = ValueStore::new(base.path(), base.path(), ("x", "id"), &secrets);
        let declaration = declaration("A", false);
        for value in ["a", "a b", "a#b", "it's", "\"a\"", "a'b\"c", "$HOME", "=", r"C:\new 1"] {
            store.set(&declaration, value, ValueScope::User).unwrap();
            let read = read_file(base.path()).unwrap();
            assert_eq!(read, [("A".to_owned(), value.to_owned())]);
        }
        let error = store.set(&declaration, "'\"`#", ValueScope::User).unwrap_err();
        assert!(matches!(error, ValueError::NoForm { .. }), "{error}");
        std::fs::write(base.path().join(FILE), b"A=\xff\n").unwrap();
        let error = store.set(&declaration, "a", ValueScope::User).unwrap_err();
        assert!(matches!(error, ValueError::Encoding(_)), "{error}");
        assert_eq!(std::fs::read(base.path().join(FILE)).unwrap(), b"A=\xff\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_a_project_is_changed_only_in_its_folder() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let base = tempfile::tempdir().unwrap();
        let secrets = SecretStore::in_state(base.path());
        let workspace = base.path().join("w");
        std::fs::create_dir_all(workspace.join("conf")).unwrap();
        let store = ValueStore::new(base.path(), &workspace, ("x", "id"), &secrets);
        let set = |value: &str| store.set(&declaration("A", false), value, ValueScope::Workspace);
        let (link, outside, inside) =
            (workspace.join(FILE), base.path().join("rc"), workspace.join("conf/env"));
        let text = "# mine\nexport B='1'\nA=0 # why\n";
        std::fs::write(&outside, text).unwrap();
        for target in ["../rc", "../missing", "conf/../../rc"] {
            symlink(target, &link).unwrap();
            for value in ["1", ""] {
                let error = set(value).unwrap_err();
                assert!(matches!(error, ValueError::Link { .. }), "{target}: {error}");
            }
            std::fs::remove_file(&link).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), text);
        assert!(!base.path().join("missing").exists());
        symlink("conf/env", &link).unwrap();
        std::fs::write(&inside, text).unwrap();
        std::fs::set_permissions(&inside, std::fs::Permissions::from_mode(0o644)).unwrap();
        set("2 3").unwrap();
        let read = || std::fs::read_to_string(&inside).unwrap();
        assert_eq!(read(), "# mine\nexport B='1'\nA=\"2 3\" # why\n");
        set("").unwrap();
        assert_eq!(read(), "# mine\nexport B='1'\n");
        assert_eq!(std::fs::metadata(&inside).unwrap().permissions().mode() & 0o777, 0o644);
    }
}
