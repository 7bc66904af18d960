//! Facts about a tool, so that no component needs to know tools by name.

/// Facts that hold for every call of a tool. The default is right for a tool about which nothing is
/// known, such as a tool of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolFacts {
    /// Argument that identifies the subject of a call. A saved approval holds only for the
    /// argument's value, and a call without the argument cannot be approved permanently. `None` for
    /// a tool that is approved as a whole.
    pub subject: Option<SubjectArgument>,
    /// Method of shortening old results.
    pub shortening: Shortening,
    /// True if a call only announces the work that follows: it runs before the other calls of its
    /// batch, and does not count as work if all other calls were refused.
    pub announces: bool,
}

/// Argument that identifies the subject of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectArgument {
    /// Argument with this name, which holds a path. The declared path is used in its place, because
    /// the argument may be relative.
    Path(&'static str),
    /// Argument with this name, which holds any other value.
    Value(&'static str),
}

impl SubjectArgument {
    /// Returns the argument's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path(name) | Self::Value(name) => name,
        }
    }
}

/// Method of shortening an old result to leave room for newer ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shortening {
    /// Beginning and end of the text are kept.
    #[default]
    Ends,
    /// First and last lines are kept, and the lines about how the command ended.
    CommandOutput,
    /// The whole result is kept, because the model's later work depends on it.
    Never,
}
