//! Custom commands: the TOML files below the folders `commands` of the user and of a project.
//!
//! A file is found by its path ([`find_commands`]), which gives the command its name, and is only
//! read when its content is needed ([`CommandFile::read`]). Files of a project are untrusted: each
//! of them is a consent item. [`Template`] is the prompt with its placeholders; other crates fill
//! them.

mod definition;
mod find;
mod template;

pub use definition::{CommandDefinition, CommandFileError, CommandText};
pub use find::{CommandFile, FoundCommands, find_commands};
pub use template::{Piece, Template, UnclosedPlaceholder};
