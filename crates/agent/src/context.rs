//! The block that opens every conversation: where and when this is, and what the project says of itself.

use std::path::PathBuf;

/// The id of the entry that holds the block, the same in every session (and in Gemini CLI's: it is the
/// first 32 hex digits of SHA-256 of `environment-context`).
pub const CONTEXT_ENTRY_ID: &str = "d04923d38bb0f6017037e74183378ef4";

/// What the block says.
#[derive(Debug, Clone, Default)]
pub struct SessionContext {
    /// Today, such as `Friday, November 20, 2026`.
    pub date: String,
    /// The operating system by Node's name: `linux`, `darwin`, `win32`.
    pub platform: String,
    /// The project's folder for temporary files.
    pub temporary_directory: PathBuf,
    /// The folders that the tools may work in.
    pub workspace: Vec<PathBuf>,
    /// The folders as a tree; none when the settings leave it out.
    pub tree: Option<String>,
    /// Contents of the project's context files, ready to append; empty without any.
    pub memory: String,
}

impl SessionContext {
    /// The block as text.
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
            "<session_context>\nThis is Pollux; it sets the stage for the conversation.\nToday's date is {date} (formatted for the user's locale).\n\
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
