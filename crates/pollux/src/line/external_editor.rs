//! A change in the person's own editor: the proposal goes into a file, the editor gets the terminal, and what it leaves in
//! the file comes back.

use std::path::{Path, PathBuf};

use pollux_fs::WriteOptions;

use crate::setup::Setup;

/// The variables that name the editor, the first first.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
/// The editor that every Unix has.
const FALLBACK: &str = "vi";
/// Bytes of a file that can come back.
const LONGEST: u64 = 64 << 20;

/// Editors need the terminal to themselves, which is arranged on Unix only.
pub(super) const IS_THERE: bool = cfg!(unix);

/// What the person wants to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    /// The name of the file that it is for.
    pub(super) name: String,
    /// Its whole text.
    pub(super) text: String,
}

/// Where editing takes place.
#[derive(Debug, Clone)]
pub(super) struct Workbench {
    editor: String,
    /// Where the files lie meanwhile.
    folder: PathBuf,
    cwd: PathBuf,
}

impl Workbench {
    pub(super) fn new(setup: &Setup) -> Self {
        // The process's own variables: no file of a project says which program is started here.
        let named = VARIABLES.into_iter().filter_map(|name| std::env::var(name).ok());
        let editor = named.map(|name| name.trim().to_owned()).find(|name| !name.is_empty());
        Self {
            editor: editor.unwrap_or_else(|| FALLBACK.to_owned()),
            folder: setup.project.temporary_dir.join("edits"),
            cwd: setup.cwd.clone(),
        }
    }

    /// Opens the proposal in the editor and waits for its end. Gives the text that it left; none when that is the
    /// proposal. Says why when it went wrong.
    pub(super) async fn edit(&self, proposal: &Proposal) -> Result<Option<String>, String> {
        let folder = self.folder.join(uuid::Uuid::new_v4().simple().to_string());
        let path = folder.join(&proposal.name);
        let text = proposal.text.as_bytes();
        pollux_fs::write_atomic(&path, text, &WriteOptions::private())
            .map_err(|error| error.to_string())?;
        let edited = self.open(&path, proposal).await;
        // What is left behind lies in the folder for temporary files.
        drop(pollux_fs::remove_tree(&folder));
        edited
    }

    async fn open(&self, path: &Path, proposal: &Proposal) -> Result<Option<String>, String> {
        let script = format!("{} {}", self.editor, quoted(&path.to_string_lossy()));
        match pollux_shell::run_in_foreground(&script, &self.cwd).await {
            Ok(Some(0)) => {}
            Ok(Some(code)) => {
                return Err(format!("The editor {} ended with exit code {code}.", self.editor));
            }
            Ok(None) => return Err(format!("The editor {} was ended by a signal.", self.editor)),
            Err(error) => return Err(format!("The editor {} failed: {error}.", self.editor)),
        }
        let text = pollux_fs::read_text(path, LONGEST).map_err(|error| error.to_string())?.text;
        // It is read without the ends of lines that the proposal may have.
        Ok((text != proposal.text.replace("\r\n", "\n")).then_some(text))
    }
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_the_editor_leaves_comes_back() {
        let disk = tempfile::tempdir().unwrap();
        let proposal = Proposal { name: "it's a.txt".to_owned(), text: "one\n".to_owned() };
        for (editor, expected) in [
            ("true", Ok(None)),
            ("sed -i s/one/two/", Ok(Some("two\n".to_owned()))),
            ("false", Err("The editor false ended with exit code 1.".to_owned())),
            ("rm", Err(String::new())),
        ] {
            let bench = Workbench {
                editor: editor.to_owned(),
                folder: disk.path().to_owned(),
                cwd: disk.path().to_owned(),
            };
            let edited = bench.edit(&proposal).await;
            match expected {
                Err(words) if words.is_empty() => assert!(edited.is_err(), "{editor}"),
                expected => assert_eq!(edited, expected, "{editor}"),
            }
            assert_eq!(std::fs::read_dir(disk.path()).unwrap().count(), 0, "{editor}");
        }
    }
}
