//! Names that searches exclude by default, and matching of such lists.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{Error, Result};
use crate::glob::{ExtendedPattern, check_size, is_extended};

#[cfg(test)]
mod tests;

/// Globs that every search excludes.
pub const COMMON_EXCLUDES: &[&str] =
    &["**/node_modules/**", "**/.git/**", "**/bower_components/**", "**/.svn/**", "**/.hg/**"];

/// Folders of editors and builds, also excluded from content searches and multi-file reads.
pub const DIRECTORY_EXCLUDES: &[&str] = &[
    "**/.vscode/**",
    "**/.idea/**",
    "**/dist/**",
    "**/build/**",
    "**/coverage/**",
    "**/__pycache__/**",
];

/// Files that content searches exclude in addition.
pub const SEARCH_FILE_EXCLUDES: &[&str] = &["*.log", "*.tmp"];

/// Files that multi-file reads exclude in addition.
pub const READ_MANY_FILE_EXCLUDES: &[&str] = &[
    "**/*.{bin,exe,dll,so,dylib,class,jar,war,zip,tar,gz,bz2,rar,7z,pak,rpa}",
    "**/*.{doc,docx,xls,xlsx,ppt,pptx,odt,ods,odp}",
    "**/*.{pyc,pyo}",
    "**/.DS_Store",
    "**/.env",
];

/// Compiled list of globs. Excluded folders are not even opened.
#[derive(Debug, Clone, Default)]
pub struct Exclusions {
    directories: GlobSet,
    files: GlobSet,
    extended_directories: Vec<ExtendedPattern>,
    extended_files: Vec<ExtendedPattern>,
}

impl Exclusions {
    /// Compiles globs relative to the searched folder; a glob without a slash matches in every
    /// folder.
    ///
    /// # Errors
    /// [`Error::Pattern`] with the first invalid glob.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let (mut directories, mut files) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let (mut extended_directories, mut extended_files) = (Vec::new(), Vec::new());
        for pattern in patterns {
            check_size(pattern)?;
            let anywhere = format!("**/{pattern}");
            let has_folder = pattern.trim_end_matches('/').contains('/');
            let pattern = if has_folder { pattern } else { &anywhere };
            let compile = |pattern: &str| {
                GlobBuilder::new(pattern)
                    .literal_separator(true)
                    .build()
                    .map_err(|error| Error::Pattern(error.to_string()))
            };
            // A glob for a folder (`x/**`, `x/`) is checked for folders only, because files are
            // checked far more often.
            let folder = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix('/'));
            if is_extended(pattern) {
                let directory = ExtendedPattern::new(folder.unwrap_or(pattern), true)?;
                if folder.is_none() {
                    extended_files.push(directory.clone());
                }
                // A negation matches nearly every folder, but its author thinks of files.
                if folder.is_some() || !pattern.contains("!(") {
                    extended_directories.push(directory);
                }
                continue;
            }
            directories.add(compile(folder.unwrap_or(pattern))?);
            if folder.is_none() {
                files.add(compile(pattern)?);
            }
        }
        let build = |builder: GlobSetBuilder| {
            builder.build().map_err(|error| Error::Pattern(error.to_string()))
        };
        let (directories, files) = (build(directories)?, build(files)?);
        Ok(Self { directories, files, extended_directories, extended_files })
    }

    /// Returns the exclusions of file-name searches.
    pub fn for_glob() -> Result<Self> {
        Self::new(COMMON_EXCLUDES.iter().copied())
    }

    /// Returns the exclusions of content searches.
    pub fn for_search() -> Result<Self> {
        let lists = [COMMON_EXCLUDES, DIRECTORY_EXCLUDES, SEARCH_FILE_EXCLUDES];
        Self::new(lists.into_iter().flatten().copied())
    }

    /// Returns true if everything below the folder at `relative` (separated by `/`) is excluded.
    pub fn covers_directory(&self, relative: &str) -> bool {
        self.directories.is_match(relative)
            || self.extended_directories.iter().any(|pattern| pattern.matches(relative))
    }

    /// Returns true if the file at `relative` (separated by `/`) is excluded. Its folders must be
    /// checked separately.
    pub fn covers_file(&self, relative: &str) -> bool {
        self.files.is_match(relative)
            || self.extended_files.iter().any(|pattern| pattern.matches(relative))
    }
}
