//! Folders that are held open, so that what is done in them is done there, whatever becomes of their path.
//!
//! A path is looked up anew each time it is used, and what it leads to may be another thing each time: a folder that was
//! checked is a link elsewhere a moment later. Here a path is walked once, no link on the way is followed, and all that
//! comes after goes by the handle of the folder that was found.

#[cfg(not(unix))]
mod by_path;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use by_path::{FolderReader, HeldFolder, has_met_a_link, open_to_read};
#[cfg(unix)]
pub(crate) use unix::{FolderReader, HeldFolder, has_met_a_link, open_to_read};

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
    Both,
}
