//! Change of a proposal in the user's own editor: the proposal is written to a file, the editor
//! gets the terminal, and the edited text is read back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_fs::WriteOptions;
use pollux_protocol::ExternalEditor;

/// Maximum size of the file that is read back, in bytes.
const LONGEST: u64 = 64 << 20;

/// True if an external editor is supported. It needs exclusive use of the terminal, which only Unix
/// provides.
pub const HAS_EDITOR: bool = cfg!(unix);

/// Text that the user wants to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditProposal {
    /// Name of the file that the text belongs to.
    pub name: String,
    /// Whole text.
    pub text: String,
    /// Path of the file with the text, which the editor changes in place; `None` for a text that is
    /// in no file.
    pub file: Option<PathBuf>,
}

/// Place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// Path of the file, absolute or relative to the folder of the project.
    pub path: PathBuf,
    /// Number of the line, from 1.
    pub line: Option<u32>,
}

/// The editor, and the folder for its temporary files.
#[derive(Clone)]
pub struct Workbench {
    editor: Arc<dyn ExternalEditor>,
    folder: PathBuf,
}

impl Workbench {
    /// Creates a workbench; the folder is created for the first edit.
    pub fn new(editor: Arc<dyn ExternalEditor>, folder: PathBuf) -> Self {
        Self { editor, folder }
    }

    /// Opens the proposal in the editor and waits for its end. Returns the new text; `None` if the
    /// text has not changed.
    ///
    /// # Errors
    /// Message for the user.
    pub async fn edit(&self, proposal: &EditProposal) -> Result<Option<String>, String> {
        if let Some(file) = &proposal.file {
            return self.change(file, proposal).await;
        }
        let folder = self.folder.join(uuid::Uuid::new_v4().simple().to_string());
        let path = folder.join(&proposal.name);
        let text = proposal.text.as_bytes();
        pollux_fs::write_atomic(&path, text, &WriteOptions::private())
            .map_err(|error| error.to_string())?;
        let edited = self.change(&path, proposal).await;
        // A file that cannot be removed stays in the folder for temporary files.
        drop(pollux_fs::remove_tree(&folder));
        edited
    }

    /// Opens the first of these files that exists, and waits for the end of the editor. Relative
    /// paths are below `folder`.
    ///
    /// # Errors
    /// Message for the user.
    pub async fn open_first(&self, places: &[FilePlace], folder: &Path) -> Result<(), String> {
        for FilePlace { path, line } in places {
            let path = folder.join(path);
            if pollux_fs::info(&path).is_ok_and(|info| info.kind == pollux_fs::EntryKind::File) {
                return self.editor.open(&path, *line).await;
            }
        }
        Err("None of the files that are named here exists.".to_owned())
    }

    async fn change(&self, path: &Path, proposal: &EditProposal) -> Result<Option<String>, String> {
        self.editor.open(path, None).await?;
        let text = pollux_fs::read_text(path, LONGEST).map_err(|error| error.to_string())?.text;
        // The text was read with normalised line ends; the proposal may have others.
        Ok((text != proposal.text.replace("\r\n", "\n")).then_some(text))
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;

    /// An editor that applies this function to the file.
    struct Scripted(fn(&Path) -> Result<(), String>);

    /// An editor that only reports what it would open.
    struct Reporting;

    #[async_trait]
    impl ExternalEditor for Reporting {
        async fn open(&self, file: &Path, line: Option<u32>) -> Result<(), String> {
            Err(format!("{} {line:?}", file.file_name().unwrap().to_string_lossy()))
        }
    }

    #[tokio::test]
    async fn the_first_file_that_exists_is_opened() {
        let disk = tempfile::tempdir().unwrap();
        std::fs::write(disk.path().join("a.rs"), "").unwrap();
        std::fs::create_dir(disk.path().join("folder.d")).unwrap();
        let bench = Workbench::new(Arc::new(Reporting), disk.path().to_owned());
        let place = |path: &str, line| FilePlace { path: path.into(), line };
        let absolute = disk.path().join("a.rs").display().to_string();
        for (places, expected) in [
            (
                vec![place("none.rs", Some(1)), place("folder.d", None), place("a.rs", Some(7))],
                "a.rs Some(7)",
            ),
            (vec![place(&absolute, None)], "a.rs None"),
            (Vec::new(), "None of the files that are named here exists."),
        ] {
            assert_eq!(bench.open_first(&places, disk.path()).await, Err(expected.to_owned()));
        }
    }

    #[async_trait]
    impl ExternalEditor for Scripted {
        async fn open(&self, file: &Path, _: Option<u32>) -> Result<(), String> {
            (self.0)(file)
        }
    }

    #[tokio::test]
    async fn what_the_editor_leaves_comes_back() {
        let disk = tempfile::tempdir().unwrap();
        let (name, text) = ("it's a.txt".to_owned(), "one\r\n".to_owned());
        let proposal = EditProposal { name, text, file: None };
        let edit = |script| {
            let bench = Workbench::new(Arc::new(Scripted(script)), disk.path().to_owned());
            let proposal = &proposal;
            async move { bench.edit(proposal).await }
        };
        assert_eq!(edit(|_| Ok(())).await, Ok(None));
        let change = |file: &Path| std::fs::write(file, "two\n").map_err(|error| error.to_string());
        assert_eq!(edit(change).await, Ok(Some("two\n".to_owned())));
        assert_eq!(edit(|_| Err("It failed.".to_owned())).await, Err("It failed.".to_owned()));
        let remove = |file: &Path| std::fs::remove_file(file).map_err(|error| error.to_string());
        assert!(edit(remove).await.is_err());
        assert_eq!(std::fs::read_dir(disk.path()).unwrap().count(), 0);
    }
    #[tokio::test]
    async fn a_file_is_changed_in_place() {
        let disk = tempfile::tempdir().unwrap();
        let file = disk.path().join("plan.md");
        std::fs::write(&file, "one\n").unwrap();
        let (name, text) = ("plan.md".to_owned(), "one\n".to_owned());
        let proposal = EditProposal { name, text, file: Some(file.clone()) };
        let change = |file: &Path| std::fs::write(file, "two\n").map_err(|error| error.to_string());
        for (script, expected) in [
            ((|_| Ok(())) as fn(&Path) -> Result<(), String>, None),
            (change, Some("two\n".to_owned())),
        ] {
            let bench = Workbench::new(Arc::new(Scripted(script)), disk.path().join("edits"));
            assert_eq!(bench.edit(&proposal).await, Ok(expected));
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), "two\n");
        assert!(!disk.path().join("edits").exists());
    }
}
