//! Parts that users install.
//!
//! | module | contents |
//! |---|---|
//! | `agents` | definitions of subagents |
//! | `set` | [`ExtensionSet`]: the extensions of a session |
//! | `extension` | [`Extension`]: one extension |
//! | `manifest` | `gemini-extension.json` |
//! | `variables` | `${name}` in the files of an extension |
//! | `values` | values that the user enters for the settings of an extension |
//! | `enablement` | in which folders an extension is enabled |
//! | `succession` | what a new version of an extension gets from the earlier one |
//! | `record` | where an extension is from |
//! | `install` | installation, update and removal of extensions |
//! | `release` | releases on GitHub |
//! | `templates` | extensions to begin with |
//! | `validate` | checks of an extension by its author |
//! | `servers` | checks of the MCP servers in a manifest |
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
mod enablement;
mod error;
mod extension;
mod git;
mod install;
pub mod manifest;
mod record;
mod release;
mod servers;
mod set;
pub mod skills;
mod succession;
mod templates;
mod tree;
mod validate;
mod values;
mod variables;

pub use archive::{ArchiveKind, extract_bytes, extract_tar_bytes};
pub use enablement::ExtensionEnablement;
pub use error::InstallError;
pub use extension::{Extension, ExtensionError, hooks_file, read_hooks as hooks_in};
pub use git::{is_git_address, without_credentials};
pub use install::{FetchedExtension, SourceOptions, Sources, source, uninstall, uninstall_folder};
pub use record::{InstallRecord, RECORD_FILE, SourceKind};
pub use set::{ExtensionPlaces, ExtensionRules, ExtensionSet, SourceRules, extensions_folder};
pub use templates::{ExtensionTemplate, TEMPLATES, create};
pub use validate::{Validation, validate};
pub use values::{ExtensionSetting, ValueError, ValueScope, ValueStore};
pub use variables::Variables;
