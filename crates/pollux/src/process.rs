//! The process as its parent has started it. Everything is read once, here, and handed on.

use std::path::PathBuf;

use pollux_config::Environment;

use crate::exit::Failure;

/// What the process was given.
pub(crate) struct Process {
    /// Name that the program was called by, for hints.
    pub(crate) called_as: String,
    pub(crate) environment: Environment,
}

impl Process {
    pub(crate) fn read() -> Self {
        Self { called_as: called_as(), environment: Environment::from_process() }
    }

    /// The current folder.
    ///
    /// # Errors
    /// It has been removed, or cannot be read.
    pub(crate) fn folder() -> Result<PathBuf, Failure> {
        std::env::current_dir().map_err(|error| {
            Failure::general(format!("The current directory cannot be found: {error}."))
        })
    }
}

fn called_as() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_ref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy());
    name.map_or_else(|| "pollux".to_owned(), std::borrow::Cow::into_owned)
}
