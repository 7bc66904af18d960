//! Facts about a tool, so that nobody has to know tools by name.

/// Facts that hold for every call of a tool. The default is right for a tool that others know nothing
/// about, such as one of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolFacts {
    /// Argument that says what a call is about. A saved approval holds for its value alone, and a call
    /// without it cannot be approved for good. `None` for a tool that is approved as a whole.
    pub subject: Option<SubjectArgument>,
    /// How results are shortened once they are old.
    pub shortening: Shortening,
    /// True if a call only announces the work that follows: it runs before the other calls of its
    /// batch, and counts as no work when all others were refused.
    pub announces: bool,
}

/// Argument that says what a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectArgument {
    /// Argument of this name, which holds a path. The declared path stands for it: the argument may be
    /// relative.
    Path(&'static str),
    /// Argument of this name, which holds anything else.
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

/// How an old result is shortened to leave room for newer ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shortening {
    /// Beginning and end of the text stay.
    #[default]
    Ends,
    /// First and last lines stay, and the lines about how the command ended.
    CommandOutput,
    /// All of it stays: the model goes on by what it says.
    Never,
}
