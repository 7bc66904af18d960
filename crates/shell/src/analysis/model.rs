//! What an analysis says, as data.

/// What a command line will do, as far as its text tells.
///
/// Everything is in the order in which it is found in the text. The lists are complete when
/// [`unknown`](Self::unknown) is empty; otherwise more may happen than they say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The programs that may run, also those behind wrappers, in substitutions and function bodies.
    pub programs: Vec<Program>,
    /// Commands that the shell carries out itself.
    pub built_ins: Vec<BuiltIn>,
    /// Variables that are given a value.
    pub assignments: Vec<Assignment>,
    /// Where input comes from and output goes to.
    pub redirections: Vec<Redirection>,
    /// Functions that are defined.
    pub functions: Vec<Function>,
    /// `$(…)`, backticks, `<(…)` and `>(…)`.
    pub substitutions: Vec<Substitution>,
    /// Positions of `( … )`.
    pub subshells: Vec<usize>,
    /// Positions of `&` and `coproc`: what stands before the one and behind the other runs beside the rest.
    pub background: Vec<usize>,
    /// Each simple command on its own, for rules that look at one at a time: also the inner command
    /// of a wrapper, and the commands of a script in quotes.
    pub sub_commands: Vec<SubCommand>,
    /// What cannot be told. When this is empty, everything can.
    pub unknown: Vec<Unknown>,
    /// The names of all commands and constructs, as a confirmation shows them: comma-joined, in their order.
    pub root_command: String,
    /// The names of the commands among them, each once, in their order.
    pub root_commands: Vec<String>,
}

impl Analysis {
    /// Whether the lists are complete.
    pub fn is_complete(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Whether a file may be written by a redirection.
    pub fn writes_by_redirection(&self) -> bool {
        self.redirections.iter().any(|redirection| redirection.kind.writes())
    }
}

/// A program that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The name as it will be looked up, quotes and escapes taken off: `git`, `./run`, `~/bin/x`.
    pub name: String,
    /// What it is given.
    pub arguments: Vec<Argument>,
    /// Whether more arguments follow that nobody can know, as with `xargs`.
    pub has_more_arguments: bool,
    /// Variables set for this program alone, `A=1 program` and `env A=1 program`.
    pub environment: Vec<String>,
    /// How it is reached, outermost first; empty when the command line calls it directly.
    pub via: Vec<Via>,
    /// Whether an argument is program text that may start programs: code of `awk` and `sed` that says so,
    /// and any code in a language that this analysis does not read, `python -c …`, `perl -e …`.
    pub runs_code: bool,
    /// Whether an argument is program text that may write files.
    pub code_writes: bool,
    /// Byte offset in the command line; for a script in quotes that of the word that holds it.
    pub position: usize,
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// The program gets exactly this.
    Constant(String),
    /// The text as it stands; what it becomes (also how many arguments) is known when it runs.
    Unknown(String),
}

impl Argument {
    /// The value, when it is constant.
    pub fn constant(&self) -> Option<&str> {
        match self {
            Self::Constant(text) => Some(text),
            Self::Unknown(_) => None,
        }
    }
}

/// One step on the way to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// A program or built-in that runs other programs: `sudo`, `env`, `xargs`, `command`, `find` …
    Wrapper(String),
    /// A shell with a script as argument: `sh -c '…'`. The shell's name.
    Script(String),
    /// A command substitution, `$(…)` or backticks.
    CommandSubstitution,
    /// A process substitution, `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// The body of the function of this name, whether it is called or not.
    Function(String),
    /// The code of a `trap`.
    Trap,
    /// The words of an `eval`.
    Eval,
}

/// A command that the shell carries out itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name.
    pub name: String,
    /// What it is given.
    pub arguments: Vec<Argument>,
    /// How it is reached.
    pub via: Vec<Via>,
    /// Byte offset in the command line.
    pub position: usize,
}

/// Who sees a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The shell, and what it starts if the variable is exported: `A=1; …`, `for A in …`.
    Shell,
    /// One command: `A=1 program`.
    Command,
    /// The shell and everything it starts from now on: `export A=1`.
    Exported,
}

/// A variable that is given a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Its name, without a subscript.
    pub name: String,
    /// What it is given, when that is constant.
    pub value: Option<String>,
    /// Who sees it.
    pub scope: Scope,
    /// Byte offset in the command line.
    pub position: usize,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`: the file is made or emptied.
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`: opened for both, made when missing.
    ReadWrite,
    /// `<<`, `<<-`
    HereDocument,
    /// `<<<`
    HereString,
    /// `>&2`, `<&3`, `2>&-`: no file. The target is the number, or `-`.
    Duplicate,
}

impl RedirectionKind {
    /// Whether a file may change.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::ReadWrite)
    }
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What it does.
    pub kind: RedirectionKind,
    /// The file as it will be opened, the text of a here-string, or the end mark of a here-document;
    /// none when it is not constant.
    pub target: Option<String>,
    /// Byte offset of the operator in the command line.
    pub position: usize,
}

/// A function that is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Byte offset in the command line.
    pub position: usize,
}

/// The kinds of substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubstitutionKind {
    /// `$(…)`
    Command,
    /// Backticks.
    Backtick,
    /// `<(…)` or `>(…)`
    Process,
}

/// A substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Substitution {
    /// Its kind.
    pub kind: SubstitutionKind,
    /// Byte offset in the command line.
    pub position: usize,
}

/// A simple command, as text that can be analysed by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubCommand {
    /// As written, with its assignments and redirections. The body of a here-document is left out.
    pub text: String,
    /// How it is reached.
    pub via: Vec<Via>,
    /// Byte offset in the command line.
    pub position: usize,
}

/// Something that the text does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Why.
    pub reason: Reason,
    /// Byte offset in the command line.
    pub position: usize,
}

/// Why something cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The text is not a program of this shell, or is read differently by different readers.
    Syntax,
    /// The text is too long, too deep or too much work.
    TooMuch,
    /// Which program runs depends on a variable, a substitution or a pattern.
    CommandName,
    /// A wrapper has an option that is not understood, or one whose value is not constant.
    WrapperOption,
    /// A program that runs other programs in ways that are not read here.
    Launcher,
    /// A script for a shell that is not constant.
    Script,
    /// A script in a file or on standard input.
    ScriptFile,
    /// The shell first runs files of its own: `bash -i`, `bash --rcfile …`.
    StartupFile,
    /// A script for a shell whose language is not read here.
    ForeignShell,
    /// Shells read this differently: bash's own syntax in a script for `sh`.
    ShellDependent,
    /// `eval`. What is constant of it is analysed all the same.
    Eval,
    /// `source` and `.`.
    Source,
    /// `alias`: names may mean anything from here on.
    Alias,
    /// The code of a `trap` is not constant.
    Trap,
    /// A built-in that changes what names or words mean, or runs something by itself.
    BuiltIn,
    /// Arithmetic with variables: their values are evaluated too, and may hold substitutions.
    Arithmetic,
    /// `${!x}` and other names that come out of values.
    Indirection,
    /// `${x@P}`.
    PromptExpansion,
    /// A variable is set that changes which code runs: `PATH`, `LD_PRELOAD`, `BASH_ENV` …
    Environment,
}

impl Reason {
    /// The reason in words, to follow "Cannot tell what runs: ".
    pub fn describe(self) -> &'static str {
        match self {
            Self::Syntax => "the syntax is not understood",
            Self::TooMuch => "the command is too long or too deeply nested",
            Self::CommandName => "a command name is computed",
            Self::WrapperOption => "an option is not understood",
            Self::Launcher => "a program runs other programs",
            Self::Script => "a script is computed",
            Self::ScriptFile => "a script is read from a file or from standard input",
            Self::StartupFile => "a shell reads its start-up files",
            Self::ForeignShell => "a script is for another shell",
            Self::ShellDependent => "shells read this differently",
            Self::Eval => "eval runs what it is given",
            Self::Source => "a file is read as commands",
            Self::Alias => "an alias changes what a name means",
            Self::Trap => "the code of a trap is computed",
            Self::BuiltIn => "a built-in changes how commands are found or read",
            Self::Arithmetic => "arithmetic evaluates the values of variables",
            Self::Indirection => "a variable is named by a value",
            Self::PromptExpansion => "a value is expanded like a prompt",
            Self::Environment => "a variable changes which code runs",
        }
    }
}
