//! File access: the only crate that opens files, for all files that Pollux reads or writes.
//!
//! | task | item |
//! |---|---|
//! | read and write text without loss | [`read_text`], [`TextFile`], [`decode`], [`encode`] |
//! | replace a file atomically | [`write_atomic`], [`WriteOptions`], [`Fingerprint`] |
//! | keep a log that survives a kill | [`AppendLog`] |
//! | keep the beginning and the end of unlimited output | [`CappedFile`] |
//! | share a file with another process | [`DirLock`] |
//! | resolve a path, and check whether it may be accessed | [`Workspace`], [`real_path`] |
//! | access the file that was checked, even if its path changes | [`RealPath`] |
//! | find out which files are ignored | [`IgnoreRules`], [`Exclusions`] |
//! | find files or lines | [`list`], [`glob`], [`search`], [`find_by_suffix`] |
//! | detect the kind of a file | [`detect`] |
//! | draw a folder | [`folder_tree`] |
//!
//! This crate contains no settings, no text for the model except messages that programs match, and
//! no async code. Callers run these functions on a blocking thread; the long ones take a
//! [`Cancel`]. The crate does no work, opens no file and allocates no memory before it is called.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "owns files")]

mod capped;
mod collation;
mod encoding;
mod error;
mod exclusions;
mod files;
mod fingerprint;
mod glob;
mod held;
mod kind;
mod lock;
mod log;
mod own_memory;
mod paths;
mod real;
mod rules;
mod search;
mod secrets;
mod text;
mod tree;
mod walk;
mod workspace;
mod write;

pub use capped::CappedFile;
pub use collation::collation_key;
pub use encoding::Encoding;
pub use error::{Error, Result};
pub use exclusions::{
    COMMON_EXCLUDES, DIRECTORY_EXCLUDES, Exclusions, READ_MANY_FILE_EXCLUDES, SEARCH_FILE_EXCLUDES,
};
pub use files::{
    DirectoryEntry, EntryKind, FileInfo, Spool, copy_entry, copy_tree, create_directories,
    create_private_directories, info, link_folder, link_info, list_directory, open_to_read,
    read_bytes, read_head, read_tail, read_tail_of_file_itself, remove_file, remove_tree, rename,
    replace_tree,
};
#[cfg(unix)]
pub use files::{Ownership, ownership};
pub use fingerprint::Fingerprint;
pub use glob::{GlobMatch, GlobOptions, GlobResult, RECENT, glob, sort_by_recency};
pub use kind::{FileKind, HEAD_BYTES, detect, is_binary};
pub use lock::{DirLock, STALE_AFTER};
pub use log::AppendLog;
pub use own_memory::memory_in_use;
pub use paths::{RealPaths, absolute, real_path, relative_path, shorten};
pub use real::RealPath;
pub use rules::{IgnoreOptions, IgnorePatterns, IgnoreRules};
pub use search::{
    FileMatches, MAX_CONTEXT, MAX_LINE_BYTES, MAX_PATTERN_BYTES, MatchLine, SearchRequest,
    SearchResult, search,
};
pub use secrets::{is_secret_file, is_secret_name, may_be_secret};
pub use text::{
    LineEnding, TextFile, TextFormat, decode, encode, encode_raw, normalise, read_text,
};
pub use tree::{MAX_TREE_ITEMS, find_by_suffix, folder_tree};
pub use walk::{Cancel, NEVER, Root, WalkOptions, list};
pub use workspace::{Access, Workspace, check_sanity};
pub use write::{Expectation, WriteOptions, Written, write_atomic};
