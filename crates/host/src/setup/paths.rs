//! Folders and files of a session that follow from the settings and the project.

use std::path::{Path, PathBuf};

use pollux_config::context;
use pollux_fs::IgnoreOptions;

use super::Setup;

impl Setup {
    /// Returns the folders of the workspace, the project's first.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.workspace.get().roots().map(Path::to_owned).collect()
    }

    /// Returns the options that select the ignore files.
    pub(crate) fn ignore_options(&self) -> IgnoreOptions {
        let settings = &self.loaded.settings;
        let custom_files = settings.texts("context.fileFiltering.customIgnoreFilePaths");
        IgnoreOptions {
            git: settings.boolean("context.fileFiltering.respectGitIgnore"),
            gemini: settings.boolean("context.fileFiltering.respectGeminiIgnore"),
            custom_files: custom_files.into_iter().flatten().map(PathBuf::from).collect(),
        }
    }

    /// Returns the folder that plan mode may write to: the configured folder, otherwise a folder of
    /// the session. Symbolic links are resolved here, once, so that paths can be compared.
    pub(crate) fn plans_directory(&self, session_id: &str) -> PathBuf {
        let configured = self.loaded.settings.text("general.plan.directory");
        let folder = match configured.or_else(|| self.extensions.plan_directory()) {
            Some(directory) => self.input.request.folder.join(directory),
            None => self.project.temporary_dir.join(session_id).join("plans"),
        };
        pollux_fs::real_path(&folder).unwrap_or(folder)
    }

    /// Returns the folder in which the task tracker keeps the tasks of a session.
    pub(crate) fn tracker_directory(&self, session_id: &str) -> PathBuf {
        self.project.temporary_dir.join(session_id).join("tracker")
    }

    /// Returns the path of the context file that applies to all projects.
    pub(crate) fn global_memory(&self) -> PathBuf {
        let names = context::names(&self.loaded.settings.context().file_names);
        self.places.gemini_dir().join(&names[0])
    }

    /// Returns the path of the user's private notes about the project: the file that the context is
    /// read from, or a new one.
    pub(crate) fn project_memory(&self) -> PathBuf {
        let names = context::names(&self.loaded.settings.context().file_names);
        let folder = self.project.memory_dir();
        let index = folder.join(context::PRIVATE_INDEX);
        let older = names.iter().map(|name| folder.join(name));
        let mut files = std::iter::once(index.clone()).chain(older);
        files.find(|file| pollux_fs::info(file).is_ok()).unwrap_or(index)
    }
}
