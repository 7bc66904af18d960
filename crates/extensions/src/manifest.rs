//! `gemini-extension.json`: what an extension says about itself.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::variables::Variables;

#[cfg(test)]
mod tests;

/// Name of the file.
pub const MANIFEST_FILE: &str = "gemini-extension.json";

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of entries of a list or an object.
const MAX_ENTRIES: usize = 200;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 128;

/// Content of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manifest {
    /// Name: ASCII letters, digits and dashes.
    pub name: String,
    /// Version, in any form.
    pub version: String,
    /// Text for the user.
    pub description: Option<String>,
    /// Entries of MCP servers by name, in the form of the setting `mcpServers`.
    pub servers: Vec<(String, Value)>,
    /// Context files, relative to the extension's folder; `None` if the file names none.
    pub context_files: Option<Vec<String>>,
    /// Names of tools that the extension removes.
    pub exclude_tools: Vec<String>,
    /// Settings that the user enters.
    pub settings: Vec<SettingDeclaration>,
    /// Themes of the screen, in the form of the setting `ui.customThemes`.
    pub themes: Vec<Value>,
    /// Folder of plans, if the user has not set one.
    pub plan_directory: Option<String>,
    /// Address of the repository to which the extension has moved.
    pub migrated_to: Option<String>,
}

/// Setting of an extension that the user enters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingDeclaration {
    /// Name for the user.
    pub name: String,
    /// Description for the user.
    pub description: String,
    /// Name of the variable that gets the value.
    pub variable: String,
    /// True for a value that must not be readable in a file.
    pub is_sensitive: bool,
}

/// Reason why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// There is no such file.
    #[error("Configuration file not found at {}", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read.
    #[error("Failed to load extension config from {}: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Reason, without a full stop at the end.
        reason: String,
    },
}

impl Manifest {
    /// Reads the manifest in a folder, and replaces these variables. Returns also the value that it
    /// was read from. Blocks the thread.
    ///
    /// # Errors
    /// The reason why there is no manifest that can be used.
    pub fn read(folder: &Path, variables: &Variables) -> Result<(Self, Value), ManifestError> {
        let path = folder.join(MANIFEST_FILE);
        let unusable = |reason: String| ManifestError::Unusable { path: path.clone(), reason };
        let bytes = match pollux_fs::read_bytes(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return Err(ManifestError::Missing(path)),
            Err(error) => return Err(unusable(error.to_string().trim_end_matches('.').to_owned())),
        };
        let mut value = parse(&bytes).map_err(&unusable)?;
        variables.fill(&mut value);
        let manifest = Self::of(&value, &path).map_err(unusable)?;
        Ok((manifest, value))
    }

    /// Returns the content of a JSON value. `path` is only for messages.
    ///
    /// # Errors
    /// The first field that is missing or has a wrong type.
    pub fn of(value: &Value, path: &Path) -> Result<Self, String> {
        let invalid =
            |problem: &str| format!("Invalid configuration in {}: {problem}", path.display());
        let map = value.as_object().ok_or_else(|| invalid("it must be an object"))?;
        let fields = Fields { map, path };
        let name = fields.required("name")?;
        check_name(&name)?;
        Ok(Self {
            name,
            version: fields.required("version")?,
            description: fields.text("description")?,
            servers: fields.servers()?,
            context_files: fields.context_files()?,
            exclude_tools: fields.texts("excludeTools")?.unwrap_or_default(),
            settings: fields.settings()?,
            themes: fields.objects("themes")?.into_iter().map(Value::from).collect(),
            plan_directory: fields.plan_directory()?,
            migrated_to: fields.text("migratedTo")?,
        })
    }
}

/// Parses the bytes of a file, which may begin with a byte order mark.
///
/// # Errors
/// The message about bytes that are not JSON.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Refuses a name that is not a name of an extension.
///
/// # Errors
/// The message of Gemini CLI.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!(
        "Invalid extension name: \"{name}\". Only letters (a-z, A-Z), numbers (0-9), and dashes (-) are allowed."
    ))
}

/// Returns true for a path below a folder, without `..`.
pub(crate) fn is_inner_path(path: &str) -> bool {
    let path = Path::new(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    path.components().all(is_plain) && path.file_name().is_some()
}

/// Fields of an object of the file.
struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: &'a Path,
}

impl Fields<'_> {
    fn wrong(&self, field: &str, expected: &str) -> String {
        format!("Invalid configuration in {}: \"{field}\" must be {expected}", self.path.display())
    }

    fn given(&self, field: &str) -> Option<&Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    fn required(&self, field: &str) -> Result<String, String> {
        match self.text(field)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(format!(
                "Invalid configuration in {}: missing \"{field}\"",
                self.path.display()
            )),
        }
    }

    fn text(&self, field: &str) -> Result<Option<String>, String> {
        match self.given(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(field, "a string")),
        }
    }

    fn texts(&self, field: &str) -> Result<Option<Vec<String>>, String> {
        let wrong = || self.wrong(field, "an array of strings");
        let Some(value) = self.given(field) else { return Ok(None) };
        let items = value.as_array().ok_or_else(wrong)?;
        self.few(field, items.len())?;
        let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<_>>>().map(Some).ok_or_else(wrong)
    }

    fn objects(&self, field: &str) -> Result<Vec<Map<String, Value>>, String> {
        let wrong = || self.wrong(field, "an array of objects");
        let Some(value) = self.given(field) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(wrong)?;
        self.few(field, items.len())?;
        items.iter().map(|item| item.as_object().cloned().ok_or_else(wrong)).collect()
    }

    fn few(&self, field: &str, count: usize) -> Result<(), String> {
        if count <= MAX_ENTRIES {
            return Ok(());
        }
        Err(self.wrong(field, &format!("of at most {MAX_ENTRIES} entries")))
    }

    fn servers(&self) -> Result<Vec<(String, Value)>, String> {
        let Some(value) = self.given("mcpServers") else { return Ok(Vec::new()) };
        let entries = value.as_object().ok_or_else(|| self.wrong("mcpServers", "an object"))?;
        self.few("mcpServers", entries.len())?;
        let server = |(name, entry): (&String, &Value)| {
            let field = format!("mcpServers.{name}");
            let mut entry =
                entry.as_object().ok_or_else(|| self.wrong(&field, "an object"))?.clone();
            // Only the user can trust a server.
            entry.shift_remove("trust");
            Ok((name.clone(), Value::Object(entry)))
        };
        entries.iter().map(server).collect()
    }

    fn context_files(&self) -> Result<Option<Vec<String>>, String> {
        let field = "contextFileName";
        let names = match self.given(field) {
            Some(Value::String(name)) => vec![name.clone()],
            Some(Value::Array(_)) => self.texts(field)?.unwrap_or_default(),
            Some(_) => return Err(self.wrong(field, "a string or an array of strings")),
            None => return Ok(None),
        };
        for name in &names {
            if name.split(['/', '\\']).any(|part| part == "..") {
                return Err(format!(
                    "Invalid context file path: \"{name}\". Relative parent directory references (\"..\") are not allowed."
                ));
            }
            if !is_inner_path(name) {
                return Err(format!(
                    "Invalid context file path: \"{name}\". It must be a path in the folder of the extension."
                ));
            }
        }
        Ok((!names.is_empty()).then_some(names))
    }

    fn settings(&self) -> Result<Vec<SettingDeclaration>, String> {
        let setting = |(index, map): (usize, Map<String, Value>)| {
            let fields = Fields { map: &map, path: self.path };
            let of = |field: &str| format!("settings[{index}].{field}");
            let named = |field: &str| match fields.given(field) {
                Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
                Some(_) => Err(self.wrong(&of(field), "a string that is not empty")),
                None => Err(format!(
                    "Invalid configuration in {}: missing \"{}\"",
                    self.path.display(),
                    of(field)
                )),
            };
            let variable = named("envVar")?;
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let is_variable = variable.chars().all(is_name)
                && !variable.starts_with(|c: char| c.is_ascii_digit());
            if !is_variable {
                return Err(self.wrong(&of("envVar"), "a name of letters, digits and _"));
            }
            Ok(SettingDeclaration {
                name: named("name")?,
                description: fields
                    .text("description")
                    .map_err(|_| self.wrong(&of("description"), "a string"))?
                    .unwrap_or_default(),
                variable,
                is_sensitive: match fields.given("sensitive") {
                    None => false,
                    Some(Value::Bool(is_sensitive)) => *is_sensitive,
                    Some(_) => return Err(self.wrong(&of("sensitive"), "true or false")),
                },
            })
        };
        self.objects("settings")?.into_iter().enumerate().map(setting).collect()
    }

    fn plan_directory(&self) -> Result<Option<String>, String> {
        let Some(value) = self.given("plan") else { return Ok(None) };
        let plan = value.as_object().ok_or_else(|| self.wrong("plan", "an object"))?;
        let directory = Fields { map: plan, path: self.path }
            .text("directory")
            .map_err(|_| self.wrong("plan.directory", "a string"))?;
        match directory {
            Some(directory) if !is_inner_path(&directory) => {
                Err(self.wrong("plan.directory", "a path in the project"))
            }
            directory => Ok(directory),
        }
    }
}
