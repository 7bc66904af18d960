//! Opening block of a conversation: date, system, folders and context files.

use std::sync::Arc;

use pollux_agent::SessionContext;
use pollux_fs::{IgnoreRules, MAX_TREE_ITEMS, folder_tree};

use crate::memory::Memory;
use crate::platform::node_platform;
use crate::setup::Setup;

impl Setup {
    /// Returns a function that builds the opening block of a conversation when one begins.
    pub(crate) fn context(
        self: &Arc<Self>,
        memory: Arc<Memory>,
    ) -> Box<dyn Fn() -> SessionContext + Send + Sync> {
        let setup = Arc::clone(self);
        Box::new(move || setup.session_context(&memory))
    }

    /// Builds the opening block of a conversation from the current date and the current files.
    pub(crate) fn session_context(&self, memory: &Memory) -> SessionContext {
        let has_tree = self.loaded.settings.boolean("context.includeDirectoryTree");
        SessionContext {
            date: jiff::Zoned::now().strftime("%A, %B %-d, %Y").to_string(),
            platform: node_platform().to_owned(),
            temporary_directory: self.project.temporary_dir.clone(),
            workspace: self.folders(),
            tree: has_tree.then(|| self.tree()),
            memory: memory.project_section(),
        }
    }

    /// Returns the folders of the workspace as trees.
    fn tree(&self) -> String {
        let options = self.ignore_options();
        let workspace = self.workspace.get();
        let trees = workspace.roots().map(|folder| {
            folder_tree(folder, Some(&IgnoreRules::new(folder, &options)), MAX_TREE_ITEMS)
        });
        trees.collect::<Vec<_>>().join("\n")
    }
}
