//! `context`: information about the project for the model.

use super::kind::SettingKind;
use super::setting::{Setting, boolean, integer, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("context.fileName", SettingKind::Either(&[SettingKind::Text, SettingKind::TEXTS]), "More names of context files, before the built-in ones."),
    unset("context.importFormat", SettingKind::Text, "How `@` imports in context files are written out: `tree` or `flat`."),
    boolean("context.includeDirectoryTree", true, "Shows the model the folders of the project."),
    integer("context.discoveryMaxDirs", 200, "Maximum number of folders in an older search for context files.").idle(),
    texts("context.memoryBoundaryMarkers", &[".git"], "Names that mark the folder at which the upward search ends.").restart(),
    texts("context.includeDirectories", &[], "More folders that belong to the workspace.").concat().flag("--include-directories"),
    boolean("context.loadMemoryFromIncludeDirectories", false, "Also reloads context files from the folders of `context.includeDirectories`; they are always read at the start.").idle(),
    boolean("context.fileFiltering.respectGitIgnore", true, "Skips files that Git ignores.").restart(),
    boolean("context.fileFiltering.respectGeminiIgnore", true, "Skips files that `.geminiignore` lists.").restart(),
    boolean("context.fileFiltering.enableFileWatcher", false, "Watches files for completion.").restart().idle(),
    boolean("context.fileFiltering.enableRecursiveFileSearch", true, "Searches below the folder for `@` names.").restart(),
    boolean("context.fileFiltering.enableFuzzySearch", true, "Uses fuzzy search for `@` names.").restart(),
    texts("context.fileFiltering.customIgnoreFilePaths", &[], "More ignore files, relative to the project.").restart().union(),
];
