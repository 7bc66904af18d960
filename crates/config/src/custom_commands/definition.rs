//! Content of a file of a custom command. Pure, except for [`CommandFile::read`].

use std::path::Path;

use pollux_protocol::plain_text::{one_line, visible};
use pollux_protocol::{ConsentItem, ItemDetail};

use super::{CommandFile, Piece, Template};
use crate::consent::{item, kinds};
use crate::files;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// Maximum size of a text that is kept until it is described, in bytes.
const KEPT_BYTES: usize = 16 * 1024;
/// Maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 100;

/// Error of a file that is no custom command, with the words of Gemini CLI at its start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandFileError {
    /// The file cannot be read.
    #[error("[FileCommandLoader] Failed to read file {path}: {reason}.")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// Reason.
        reason: String,
    },
    /// The file is not valid TOML.
    #[error("[FileCommandLoader] Failed to parse TOML file {path}: {reason}.")]
    Syntax {
        /// Path of the file.
        path: String,
        /// Line and reason.
        reason: String,
    },
    /// A value is missing or has the wrong type.
    #[error("[FileCommandLoader] Skipping invalid command file: {path}. {reason}.")]
    Invalid {
        /// Path of the file.
        path: String,
        /// Key and reason.
        reason: String,
    },
}

/// Text of a file, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandText(String);

impl From<String> for CommandText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// A custom command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDefinition {
    /// Description in one line, if there is one.
    pub description: Option<String>,
    /// Prompt with its placeholders, as text.
    pub prompt: String,
}

impl CommandFile {
    /// Reads the text of the file. Blocks the thread.
    ///
    /// # Errors
    /// [`CommandFileError::Unreadable`]; also for a file of more than 1 MB, and for one that is not
    /// UTF-8.
    pub fn read(&self) -> Result<CommandText, CommandFileError> {
        let failed = |reason| CommandFileError::Unreadable { path: shown(&self.path), reason };
        let bytes = files::read_bytes(&self.path, MAX_BYTES)
            .map_err(|error| failed(files::node_message(&error)))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
        Ok(CommandText(text))
    }

    /// Returns the consent item of the file with this text.
    pub fn item(&self, text: &CommandText) -> ConsentItem {
        let detail = if text.0.len() <= KEPT_BYTES {
            let text = text.clone();
            ItemDetail::later(move || detail(&text))
        } else {
            detail(text).into()
        };
        item(kinds::CUSTOM_COMMAND, &self.label, detail, text.0.as_bytes())
    }

    /// Returns the definition in this text of the file.
    ///
    /// # Errors
    /// [`CommandFileError::Syntax`], [`CommandFileError::Invalid`].
    pub fn definition(&self, text: &CommandText) -> Result<CommandDefinition, CommandFileError> {
        CommandDefinition::parse(&text.0).map_err(|problem| {
            let path = shown(&self.path);
            match problem {
                Problem::Syntax(reason) => CommandFileError::Syntax { path, reason },
                Problem::Invalid(reason) => CommandFileError::Invalid { path, reason },
            }
        })
    }
}

/// Reason why a text is no command.
#[derive(Debug, PartialEq, Eq)]
enum Problem {
    Syntax(String),
    Invalid(String),
}

impl CommandDefinition {
    fn parse(text: &str) -> Result<Self, Problem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            Problem::Syntax(format!("line {line}: {}", one_line(error.message())))
        })?;
        let text_of = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.as_str())),
            Some(other) => Err(Problem::Invalid(format!(
                "The field '{key}' must be a string, not {}",
                other.type_str()
            ))),
        };
        let missing = || Problem::Invalid("The field 'prompt' is required".to_owned());
        let prompt = text_of("prompt")?.ok_or_else(missing)?;
        if prompt.trim().is_empty() {
            return Err(Problem::Invalid("The field 'prompt' is empty".to_owned()));
        }
        let description = text_of("description")?.map(shortened);
        Ok(Self {
            description: description.filter(|text| !text.is_empty()),
            prompt: prompt.to_owned(),
        })
    }
}

/// Returns a description in one line of limited length.
fn shortened(description: &str) -> String {
    let line = visible(&one_line(description));
    match line.char_indices().nth(MAX_DESCRIPTION) {
        None => line,
        Some(_) => line.chars().take(MAX_DESCRIPTION - 1).chain(['…']).collect(),
    }
}

/// Describes the commands that a command would run and the files that it would read.
fn detail(text: &CommandText) -> String {
    let prompt = match CommandDefinition::parse(&text.0) {
        Ok(definition) => definition.prompt,
        Err(Problem::Syntax(_)) => return "cannot be read as TOML".to_owned(),
        Err(Problem::Invalid(reason)) => return format!("no command: {reason}"),
    };
    let Ok(template) = Template::parse(&prompt) else {
        return "cannot run: a placeholder in the prompt has no end".to_owned();
    };
    let commands = template.pieces.iter().filter_map(|piece| match piece {
        Piece::Command(line) => Some(format!("runs: {line}")),
        _ => None,
    });
    let files = template.pieces.iter().filter_map(|piece| match piece {
        Piece::Content(path) => Some(format!("reads: {path}")),
        _ => None,
    });
    let lines: Vec<String> = commands.chain(files).collect();
    if lines.is_empty() {
        let first = prompt.trim().lines().next().unwrap_or_default();
        return format!("only a prompt: {first}");
    }
    lines.join("\n")
}

fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_definition_is_read() {
        for (text, prompt, description) in [
            ("prompt = 'x'", "x", None),
            ("prompt = 'x'\ndescription = 'Does it'", "x", Some("Does it")),
            ("\u{feff}prompt = 'x'", "x", None),
            ("prompt = 'x'\r\ndescription = \"\"\"\r\na\r\n  b\"\"\"\r\n", "x", Some("a b")),
            ("other = 1\nprompt = 'x'\n[table]\nprompt = 3", "x", None),
            ("prompt = '$1 \\ {{args}}'", "$1 \\ {{args}}", None),
            ("prompt = 'x'\ndescription = ' '", "x", None),
        ] {
            let expected = CommandDefinition {
                description: description.map(str::to_owned),
                prompt: prompt.to_owned(),
            };
            assert_eq!(CommandDefinition::parse(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn a_bad_definition_is_named() {
        for (text, expected) in [
            ("", "The field 'prompt' is required"),
            ("description = 'x'", "The field 'prompt' is required"),
            ("prompt = 3", "The field 'prompt' must be a string, not integer"),
            ("prompt = ['x']", "The field 'prompt' must be a string, not array"),
            (
                "prompt = 'x'\ndescription = {}",
                "The field 'description' must be a string, not table",
            ),
            ("prompt = ' '", "The field 'prompt' is empty"),
        ] {
            let problem = Problem::Invalid(expected.to_owned());
            assert_eq!(CommandDefinition::parse(text), Err(problem), "{text:?}");
        }
        for text in ["prompt = ", "prompt = 'a\nb'", "[", "prompt = 'a'\nprompt = 'b'"] {
            let problem = CommandDefinition::parse(text).unwrap_err();
            assert!(
                matches!(&problem, Problem::Syntax(reason) if reason.starts_with("line ")),
                "{problem:?}"
            );
        }
    }

    #[test]
    fn a_long_description_is_cut() {
        let text = format!("prompt = 'x'\ndescription = '{}'", "é".repeat(101));
        let description = CommandDefinition::parse(&text).unwrap().description.unwrap();
        assert_eq!(description.chars().count(), 100);
        assert!(description.ends_with("é…"));
    }

    #[test]
    fn the_detail_lists_what_would_run() {
        let detail = |prompt: &str| detail(&CommandText(format!("prompt = '''{prompt}'''")));
        assert_eq!(
            detail("Read @{a.md}, then !{ls {{args}}} !{awk '{print}'}"),
            "runs: ls {{args}}\nruns: awk '{print}'\nreads: a.md"
        );
        assert_eq!(detail("\nSay it.\nTwice."), "only a prompt: Say it.");
        assert_eq!(detail("!{ls"), "cannot run: a placeholder in the prompt has no end");
    }
}
