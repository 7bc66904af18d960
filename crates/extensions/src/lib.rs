//! Parts that users install.
//!
//! | module | contents |
//! |---|---|
//! | `agents` | definitions of subagents |
//! | `skills` | agent skills: instructions for certain tasks, with files that belong to them |
//! | `archive` | extraction of archives within bounds |
//! | `git` | copies of repositories |
//! | `tree` | copies of folders, put in place in one step |
//!
//! Everything that is installed is hostile input: it is read within bounds, named in errors, and
//! one unusable part does not make the rest unusable.
//!
//! Out of scope: this crate reads no settings, asks no questions and prints nothing.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod agents;
mod archive;
mod error;
mod git;
pub mod skills;
mod tree;

pub use archive::{extract_zip, extract_zip_bytes};
pub use error::InstallError;
pub use git::{is_git_address, without_credentials};
