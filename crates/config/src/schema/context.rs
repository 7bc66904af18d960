//! `context`: what the model is told about the project.

use super::setting::{Kind, Setting, boolean, integer, texts, unset};

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("context.fileName", Kind::TextOrTexts, "More names of context files, before the built-in ones."),
    unset("context.importFormat", Kind::Choice(&["tree", "flat"]), "How `@` imports in context files are written out."),
    boolean("context.includeDirectoryTree", true, "Shows the model the folders of the project."),
    integer("context.discoveryMaxDirs", 200, "Accepted for compatibility."),
    texts("context.memoryBoundaryMarkers", &[".git"], "Names that mark the folder at which the upward search ends.").restart(),
    texts("context.includeDirectories", &[], "More folders that belong to the workspace."),
    boolean("context.loadMemoryFromIncludeDirectories", false, "Accepted for compatibility."),
    boolean("context.fileFiltering.respectGitIgnore", true, "Skips what Git ignores.").restart(),
    boolean("context.fileFiltering.respectGeminiIgnore", true, "Skips what `.geminiignore` names.").restart(),
    boolean("context.fileFiltering.enableFileWatcher", false, "Watches files for completion.").restart(),
    boolean("context.fileFiltering.enableRecursiveFileSearch", true, "Searches below the folder for `@` names.").restart(),
    boolean("context.fileFiltering.enableFuzzySearch", true, "Finds `@` names also when letters are missing.").restart(),
    texts("context.fileFiltering.customIgnoreFilePaths", &[], "More ignore files, relative to the project.").restart(),
];
