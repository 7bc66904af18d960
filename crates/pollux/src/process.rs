//! State of the process at its start. It is read here, once, and then passed on.

use std::path::PathBuf;

use pollux_config::Environment;

use crate::exit::Failure;

/// Inputs of the process.
pub(crate) struct Process {
    /// Name that the program was called by, for hints.
    pub(crate) called_as: String,
    pub(crate) environment: Environment,
}

impl Process {
    pub(crate) fn read() -> Self {
        Self { called_as: called_as(), environment: Environment::from_process() }
    }

    /// Returns the current folder.
    ///
    /// # Errors
    /// For a folder that has been removed or cannot be read.
    pub(crate) fn folder() -> Result<PathBuf, Failure> {
        std::env::current_dir().map_err(|error| {
            Failure::general(format!("Cannot determine the current directory: {error}."))
        })
    }
}

fn called_as() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_ref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy());
    name.map_or_else(|| "pollux".to_owned(), std::borrow::Cow::into_owned)
}
