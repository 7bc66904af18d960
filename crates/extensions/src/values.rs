//! Values that the user has entered for the settings of an extension.
//!
//! Values that are not secret are in `.env` files: of the extension, and of a project. Secret ones
//! are in the encrypted file of credentials, in the form in which Gemini CLI reads them.

use std::path::{Path, PathBuf};

use pollux_config::dotenv;
use pollux_fs::WriteOptions;
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
            let value = (!value.is_empty()).then_some(value);
            return Ok(self.secrets.set(&self.service_of(scope), &account(name), value)?);
        }
        if value.contains(['\n', '\r']) {
            return Err(ValueError::LineBreak(name.clone()));
        }
        let folder = match scope {
            ValueScope::User => &self.folder,
            ValueScope::Workspace => &self.workspace,
        };
        let mut pairs = read_file(folder)?;
        pairs.retain(|(known, _)| known != name);
        if !value.is_empty() {
            pairs.push((name.clone(), value.to_owned()));
        }
        Ok(write_file(folder, &pairs)?)
    }

    fn secret(&self, name: &str, scope: ValueScope) -> Result<Option<String>, ValueError> {
        // Without the file there is no key to derive, which takes long.
        if pollux_fs::info(self.secrets.path()).is_err() {
            return Ok(None);
        }
        Ok(self.secrets.get(&self.service_of(scope), &account(name))?)
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

/// Writes variables in the form in which Gemini CLI writes them.
fn write_file(folder: &Path, pairs: &[(String, String)]) -> pollux_fs::Result<()> {
    let line = |(name, value): &(String, String)| {
        let is_plain = !value.contains([' ', '#', '"', '\'', '`']);
        if is_plain {
            return format!("{name}={value}\n");
        }
        // The syntax has no escapes, so the value decides about the quotation marks.
        let quote = ['"', '\'', '`'].into_iter().find(|quote| !value.contains(*quote));
        let quote = quote.unwrap_or('"');
        format!("{name}={quote}{value}{quote}\n")
    };
    let text: String = pairs.iter().map(line).collect();
    pollux_fs::write_atomic(&folder.join(FILE), text.as_bytes(), &WriteOptions::private()).map(drop)
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
        let error = store.set(&declarations[0], "a\nb", ValueScope::User).unwrap_err();
        assert!(matches!(error, ValueError::LineBreak(_)));
    }

    #[test]
    fn values_survive_the_file() {
        let folder = tempfile::tempdir().unwrap();
        for value in ["a", "a b", "a#b", "it's", "\"a\"", "a'b\"c", "$HOME", "="] {
            let pairs = [("A".to_owned(), value.to_owned()), ("B".to_owned(), "1".to_owned())];
            write_file(folder.path(), &pairs).unwrap();
            let read = read_file(folder.path()).unwrap();
            assert_eq!(read, pairs, "{value}");
        }
    }
}
