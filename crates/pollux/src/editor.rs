//! Editor that the user has chosen in the environment.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use pollux_config::Environment;
use pollux_config::environment::names;
use pollux_protocol::ExternalEditor;
use pollux_shell::{ChildSpec, Program};

/// Variables that name the editor; the first that is set is used.
const VARIABLES: [&str; 2] = [names::VISUAL, names::EDITOR];
/// Editor that is available on every Unix.
const FALLBACK: &str = "vi";

/// An editor in the foreground of the terminal.
pub(crate) struct TerminalEditor {
    /// Command line of the editor.
    editor: String,
    folder: PathBuf,
    environment: Environment,
}

impl TerminalEditor {
    /// Reads the editor from the environment of the process: no file of a project can choose this
    /// program.
    pub(crate) fn new(environment: Environment, folder: PathBuf) -> Self {
        let named = VARIABLES.into_iter().filter_map(|name| environment.get(name).map(str::trim));
        let editor = named.into_iter().find(|name| !name.is_empty()).unwrap_or(FALLBACK).to_owned();
        Self { editor, folder, environment }
    }
}

#[async_trait]
impl ExternalEditor for TerminalEditor {
    async fn open(&self, file: &Path, line: Option<u32>) -> Result<(), String> {
        let editor = &self.editor;
        let arguments = arguments(editor, &file.to_string_lossy(), line);
        let script = format!("{editor} {arguments}");
        let environment = self.environment.for_children();
        let child = ChildSpec::new(Program::Script(script), &self.folder, environment);
        match pollux_shell::run_in_foreground(&child).await {
            Ok(Some(0)) => Ok(()),
            Ok(Some(code)) => Err(format!("The editor {editor} ended with exit code {code}.")),
            Ok(None) => Err(format!("The editor {editor} was ended by a signal.")),
            Err(error) => Err(format!("The editor {editor} failed: {error}.")),
        }
    }
}

/// Returns the arguments, quoted for the shell, with which an editor opens a file at a line. An
/// editor whose syntax is not known opens the file at its start.
fn arguments(editor: &str, file: &str, line: Option<u32>) -> String {
    let name = editor.split_whitespace().next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let file = pollux_shell::quoted(file);
    let Some(line) = line else { return file };
    match name {
        "vi" | "vim" | "nvim" | "gvim" | "nano" | "emacs" | "emacsclient" | "kak" | "joe"
        | "ne" | "mg" => format!("+{line} {file}"),
        "code" | "codium" | "code-insiders" | "cursor" | "windsurf" | "antigravity" => {
            format!("--goto {file}:{line}")
        }
        "hx" | "helix" | "micro" | "zed" | "subl" | "lapce" => format!("{file}:{line}"),
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn editors_get_the_line_as_they_expect_it() {
        for (editor, expected) in [
            ("vi", "+7 /p/a.rs"),
            ("/usr/bin/nvim --clean", "+7 /p/a.rs"),
            ("code --wait", "--goto /p/a.rs:7"),
            ("hx", "/p/a.rs:7"),
            ("ed", "/p/a.rs"),
        ] {
            assert_eq!(arguments(editor, "/p/a.rs", Some(7)), expected, "{editor}");
            assert_eq!(arguments(editor, "/p/a.rs", None), "/p/a.rs", "{editor}");
        }
    }

    #[tokio::test]
    async fn the_editor_gets_the_file() {
        let disk = tempfile::tempdir().unwrap();
        let file = disk.path().join("it's a.txt");
        std::fs::write(&file, "one\n").unwrap();
        let open = |editor: &str| {
            let path = std::env::var("PATH").unwrap();
            let variables = [("VISUAL", " "), ("EDITOR", editor), ("PATH", path.as_str())];
            let environment = Environment::from_pairs(variables);
            let (editor, file) = (TerminalEditor::new(environment, disk.path().into()), &file);
            async move { editor.open(file, Some(3)).await }
        };
        assert_eq!(open("sed -i s/one/two/").await, Ok(()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
        let failed = "The editor false ended with exit code 1.".to_owned();
        assert_eq!(open("false").await, Err(failed));
    }
}
