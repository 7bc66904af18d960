//! Block at the start of every conversation: date, system, folders, and the project's context
//! files.

use std::path::PathBuf;

/// Content of the block.
#[derive(Debug, Clone, Default)]
pub struct SessionContext {
    /// Today's date, such as `Friday, November 20, 2026`.
    pub date: String,
    /// Name of the operating system as Node.js has it: `linux`, `darwin`, `win32`.
    pub platform: String,
    /// Folder of the project for temporary files.
    pub temporary_directory: PathBuf,
    /// Folders that the tools may work in.
    pub workspace: Vec<PathBuf>,
    /// Folders as a tree; `None` if the settings disable it.
    pub tree: Option<String>,
    /// Contents of the project's context files, ready to append; empty without such files.
    pub memory: String,
}

impl SessionContext {
    /// Returns the block as text.
    pub fn render(&self) -> String {
        let folders: Vec<String> =
            self.workspace.iter().map(|folder| format!("  - {}\n", folder.display())).collect();
        let tree = self.tree.as_ref().map_or_else(String::new, |tree| {
            format!("- **Directory Structure:**\n\n{}\n", tree.trim_end())
        });
        let memory = match self.memory.trim() {
            "" => String::new(),
            memory => format!("\n{memory}\n"),
        };
        format!(
            "<session_context>\nThis is Pollux. This message describes the environment of the session.\nToday's date is {date} (formatted for the user's locale).\n\
             The operating system is: {platform}\nThe project's temporary directory is: {temporary}\n- **Workspace Directories:**\n{folders}{tree}{memory}\
             </session_context>",
            date = self.date,
            platform = self.platform,
            folders = folders.concat(),
            temporary = self.temporary_directory.display(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_has_its_lines_in_order() {
        let context = SessionContext {
            date: "Friday, November 20, 2026".into(),
            platform: "linux".into(),
            temporary_directory: "/t".into(),
            workspace: vec!["/p".into(), "/q".into()],
            tree: Some("/p/\n└───a\n".into()),
            memory: "<loaded_context>\nx\n</loaded_context>\n".into(),
        };
        let text = context.render();
        assert!(text.starts_with("<session_context>\n") && text.ends_with("</session_context>"));
        assert!(text.contains("- **Workspace Directories:**\n  - /p\n  - /q\n- **Directory Structure:**\n\n/p/\n└───a\n\n<loaded_context>"));
        let bare = SessionContext { workspace: vec!["/p".into()], ..SessionContext::default() };
        assert!(bare.render().ends_with("  - /p\n</session_context>"));
    }
}
