//! Open folder handles, which ensure that operations apply to the same folder even if its path
//! changes.
//!
//! A path is resolved again each time it is used, and the result may be different each time: a
//! folder that was checked may be a link to another place a moment later. In this module a path is
//! walked once without following links, and all later operations use the handle of the folder that
//! was found.

#[cfg(not(unix))]
mod by_path;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use by_path::{FolderReader, HeldFolder, has_met_a_link, open_to_read};
#[cfg(unix)]
pub(crate) use unix::{FolderReader, HeldFolder, has_met_a_link, open_to_read};

/// Purpose for which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
    Both,
}
