//! Result types of reading a command line.

use std::borrow::Cow;
use std::collections::HashSet;

/// A command line, as far as it can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Directory of a `cd DIRECTORY &&` at the beginning. The `cd` is the first of the commands.
    pub folder: Option<Word>,
    /// Simple commands in their order, each followed by the commands that it runs itself (`timeout
    /// 5 ls`, `sh -c '…'`).
    pub commands: Vec<SimpleCommand>,
    /// First construct outside the small grammar; `None` if the line is parsed.
    pub beyond: Option<Gap>,
    /// First construct that may run commands which are not listed; `None` if all commands are
    /// listed.
    pub hidden: Option<Gap>,
}

impl CommandLine {
    /// Returns the result for a line that is not read.
    pub(super) fn unread(construct: Construct) -> Self {
        let gap = Some(Gap { construct, position: 0 });
        Self { beyond: gap, hidden: gap, ..Self::default() }
    }

    /// Returns the names of the commands, each once, in their order.
    pub fn programs(&self) -> Vec<String> {
        distinct(self.commands.iter().map(SimpleCommand::name))
    }

    /// Returns the commands with their arguments as written, each once, in their order.
    pub fn command_texts(&self) -> Vec<String> {
        distinct(self.commands.iter().map(|command| command.text.as_str()))
    }

    /// Returns the files that programs change, as far as their tables list them, and the files that
    /// redirections write. Each file is listed once, as written; `?` stands for files that are
    /// known only at run time.
    pub fn writes(&self) -> Vec<String> {
        let target = |found: &Redirection| {
            found.target.as_ref().map_or_else(|| "?".to_owned(), |word| word.shown().into_owned())
        };
        let mut files = Vec::new();
        for command in &self.commands {
            let redirections = command.redirections.iter();
            let written = redirections.filter(|found| found.kind == RedirectionKind::Write);
            for file in command.written().into_iter().chain(written.map(target)) {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        files
    }

    /// Returns true if the line is in the small grammar, so that `commands` lists everything it
    /// runs.
    pub fn is_parsed(&self) -> bool {
        self.beyond.is_none()
    }
}

/// Returns the texts that are not empty, each once, in their order.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known = HashSet::new();
    texts.filter(|text| !text.is_empty() && known.insert(*text)).map(str::to_owned).collect()
}

/// Construct at which reading ended or became incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Kind of construct.
    pub construct: Construct,
    /// Byte offset in the line.
    pub position: usize,
}

/// A program or built-in command with its words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Name and arguments. Empty for redirections without a command.
    pub words: Vec<Word>,
    /// Variables set for the command, or in the shell if `words` is empty, with their values if
    /// constant.
    pub assignments: Vec<(String, Option<String>)>,
    /// Files that are opened for the command.
    pub redirections: Vec<Redirection>,
    /// Text of the command's here-documents and here-strings.
    pub input: Vec<String>,
    /// True if the line may give the command a standard input: a pipe, a file or a text.
    pub receives_input: bool,
    /// Text as written, without bodies of here-documents.
    pub text: String,
    /// Byte offset in the line.
    pub position: usize,
    /// Index of the command that runs this one, if there is such a command.
    pub outer: Option<usize>,
    /// Number of words of the outer command before this one; 0 if this command is part of a script.
    pub offset: usize,
    /// True if more arguments follow that are known only at run time (`xargs`, an unquoted
    /// variable).
    pub has_more: bool,
}

impl SimpleCommand {
    /// Returns the name as written, or `""` if the name is not constant.
    pub fn name(&self) -> &str {
        self.words.first().and_then(Word::literal).unwrap_or_default()
    }

    /// Returns the name without directories.
    pub fn base_name(&self) -> &str {
        let name = self.name();
        name.rsplit('/').next().unwrap_or(name)
    }

    /// Returns the words as a user writes them, separated by one space.
    pub fn shown(&self) -> String {
        self.words.iter().map(Word::shown).collect::<Vec<_>>().join(" ")
    }

    /// Returns true if all words are known before the command runs.
    pub fn is_constant(&self) -> bool {
        !self.has_more && self.words.iter().all(|word| !matches!(word, Word::Unknown(_)))
    }
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Exact text that the program receives.
    Literal(String),
    /// Path in the home directory: the text after `~` or `"$HOME`. Empty or beginning with `/`.
    InHome(String),
    /// Path in the working directory: the text after `"$PWD`. Empty or beginning with `/`.
    InFolder(String),
    /// Names of the files that match an unquoted `*` or `?`, after a beginning that cannot form an
    /// option.
    Pattern(String),
    /// Text that is known only at run time, as written.
    Unknown(String),
}

impl Word {
    /// Returns the exact text of a literal word.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text as a user writes it.
    pub fn shown(&self) -> Cow<'_, str> {
        match self {
            Self::Literal(text) | Self::Pattern(text) | Self::Unknown(text) => text.into(),
            Self::InHome(rest) => format!("~{rest}").into(),
            Self::InFolder(rest) => format!("$PWD{rest}").into(),
        }
    }
}

/// A file that the shell opens for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Kind of access.
    pub kind: RedirectionKind,
    /// The file; `None` if it is not constant.
    pub target: Option<Word>,
    /// Byte offset of the operator in the line.
    pub position: usize,
}

/// Access of a redirection. Copies of descriptors (`2>&1`) open no file and are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`
    Read,
    /// `>`, `>>`, and outside the small grammar `>|`, `&>`, `&>>` and `<>`.
    Write,
}

/// Kind of construct outside a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Construct {
    /// Syntax error, or unsupported syntax.
    Syntax,
    /// Control character, or white space outside ASCII.
    Character,
    /// Line length or nesting above the limits.
    TooLong,
    /// Language of a shell that is not supported.
    ForeignShell,
    /// `$(…)`, backticks.
    CommandSubstitution,
    /// `<(…)`, `>(…)`.
    ProcessSubstitution,
    /// `$((…))`, `((…))`, subscripts.
    Arithmetic,
    /// `${…}` with an operator, and the special parameters.
    Expansion,
    /// `$NAME` other than `"$HOME"` and `"$PWD"`.
    Variable,
    /// `$'…'` and `$"…"`.
    Quoting,
    /// `*`, `?` or `[` in a place where the result may be an option, or that is not an operand.
    Pattern,
    /// `{a,b}`.
    Braces,
    /// `~name`, or `~` within a word.
    Tilde,
    /// `NAME=value`.
    Assignment,
    /// `&`.
    Background,
    /// Loop, condition or group.
    Compound,
    /// `case`, `[[`, `select`, `coproc`, function.
    Keyword,
    /// `!`.
    Negation,
    /// `(…)`.
    Subshell,
    /// `<<`.
    HereDocument,
    /// `<<<`.
    HereString,
    /// Redirection of a descriptor other than 0, 1 and 2, or with a file name that is not constant.
    Redirection,
    /// Backslash at the end of a line within a word.
    Continuation,
    /// Command whose name is not constant.
    CommandName,
    /// Built-in command that changes how the shell reads or runs the rest.
    BuiltIn,
    /// Script that is not constant, or that comes from a file or standard input.
    Script,
}

impl Construct {
    /// Returns the construct as a noun phrase for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Syntax => "syntax that Pollux does not support",
            Self::Character => "a control character or unusual white space",
            Self::TooLong => "too much text or nesting",
            Self::ForeignShell => "the language of another shell",
            Self::CommandSubstitution => "a command substitution",
            Self::ProcessSubstitution => "a process substitution",
            Self::Arithmetic => "arithmetic",
            Self::Expansion => "an expansion",
            Self::Variable => "a variable",
            Self::Quoting => "$'…' or $\"…\"",
            Self::Pattern => "a file name pattern that may begin with an option",
            Self::Braces => "a brace expansion",
            Self::Tilde => "a ~ that is not a leading ~/",
            Self::Assignment => "an assignment",
            Self::Background => "a command in the background",
            Self::Compound => "a loop, condition or group",
            Self::Keyword => "a shell keyword that Pollux does not support",
            Self::Negation => "a negation",
            Self::Subshell => "a subshell",
            Self::HereDocument => "a here-document",
            Self::HereString => "a here-string",
            Self::Redirection => "a redirection that Pollux does not support",
            Self::Continuation => "a line break within a word",
            Self::CommandName => "a command name that is computed",
            Self::BuiltIn => "a built-in that may change what follows",
            Self::Script => "a script that is not in the line",
        }
    }
}
