//! Folders that a client names.

use std::path::Path;

use pollux_fs::EntryKind;

/// Checks the folder of a session, for the reason that the client gets.
pub(crate) fn check(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    if !folder.is_absolute() {
        return Err(format!("the path {shown} is not absolute"));
    }
    match pollux_fs::info(folder) {
        Ok(info) if info.kind == EntryKind::Directory => Ok(()),
        Ok(_) => Err(format!("{shown} is not a folder")),
        Err(error) => Err(error.to_string()),
    }
}
