//! Flags of the command line, declared once: for parsing, help, completions and the man page.
//!
//! Names, types and defaults are those of Gemini CLI 0.61.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, Command, Parser, Subcommand as _, ValueEnum};
use pollux_protocol::{ApprovalMode, UnknownMode};

use super::later;
use super::line::LATEST;
use super::subcommand::Subcommand;

/// Format of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer as it comes.
    #[default]
    Text,
    /// One JSON object at the end.
    Json,
    /// One JSON object per event and line.
    StreamJson,
}

/// An open, native agent for the terminal.
///
/// Reads, changes and runs what the prompt asks for in the current folder, with any of the models
/// of the Gemini API or of servers with an OpenAI-compatible API. A prompt comes from the words of
/// the command line, from --prompt, or from standard input. @path in a prompt includes the file or
/// folder.
#[derive(Debug, Clone, Default, Parser)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Arguments {
    /// The prompt: at a terminal it begins a conversation, otherwise the run is headless
    #[arg(value_name = "PROMPT")]
    pub(crate) query: Vec<String>,

    /// The prompt of a headless run; appended to standard input
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,

    /// Do not read standard input
    #[arg(long)]
    pub(crate) no_stdin: bool,

    /// The first prompt of a conversation at the terminal
    #[arg(short = 'i', long, value_name = "TEXT")]
    pub(crate) prompt_interactive: Option<String>,

    /// The model, by name or alias
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The form of standard output
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub(crate) output_format: Option<OutputFormat>,

    /// Actions allowed without a question: only reading (default), edits too, everything, or
    /// planning only
    #[arg(long, value_name = "MODE", value_parser = approval_mode())]
    pub(crate) approval_mode: Option<ApprovalMode>,

    /// Allow everything, as --approval-mode=yolo does
    #[arg(short, long)]
    pub(crate) yolo: bool,

    #[command(flatten)]
    pub(crate) rules: RuleArguments,

    /// The only extensions that are active, separated by commas; none for no extension
    #[arg(short, long, value_name = "NAMES", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) extensions: Vec<String>,

    /// List the extensions
    #[arg(short, long)]
    pub(crate) list_extensions: bool,

    /// More folders to work in, separated by commas
    #[arg(long, value_name = "FOLDERS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) include_directories: Vec<String>,

    /// Continue a session: the latest, or that of this number, id or beginning of an id
    #[arg(short, long, value_name = "SESSION", num_args = 0..=1, default_missing_value = LATEST)]
    pub(crate) resume: Option<String>,

    /// Continue from a session file, in a new session
    #[arg(long, value_name = "FILE")]
    pub(crate) session_file: Option<PathBuf>,

    /// The id of the new session: letters, digits, dashes, underscores
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,

    /// List the sessions of this project and exit; as JSON with -o json
    #[arg(long)]
    pub(crate) list_sessions: bool,

    /// Delete a session and exit: the latest, or that of this number or id
    #[arg(long, value_name = "SESSION")]
    pub(crate) delete_session: Option<String>,

    /// Stop after N requests to models (exit code 57)
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<f64>,

    /// Stop after N tool calls (exit code 57)
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_calls: Option<f64>,

    /// Stop after N tokens in requests and answers (exit code 57)
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<f64>,

    /// Stop at this cost in dollars, by the built-in prices and ~/.gemini/pollux/prices.json (exit
    /// code 57)
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,

    /// Stop after this time; running tools are stopped (exit code 57)
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,

    /// Require an answer that satisfies this JSON Schema; without one, the exit code is 58
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) output_schema: Option<String>,

    /// Keep the terminal control sequences in the model's text
    #[arg(long)]
    pub(crate) raw_output: bool,

    /// Keep the terminal control sequences without a warning
    #[arg(long)]
    pub(crate) accept_raw_output_risk: bool,

    /// Serve an editor on standard input and output (Agent Client Protocol)
    #[arg(long)]
    pub(crate) acp: bool,

    /// Old name of --acp.
    #[arg(long, hide = true)]
    pub(crate) experimental_acp: bool,

    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,

    /// Record the requests to models and the responses in this folder, without keys, for a bug
    /// report
    #[arg(long, value_name = "DIR")]
    pub(crate) record_wire: Option<PathBuf>,

    /// `--sandbox` or `--no-sandbox`, which override the settings
    #[arg(skip)]
    pub(crate) sandbox: Option<bool>,

    /// `--screen-reader` or `--no-screen-reader`, which override the settings
    #[arg(skip)]
    pub(crate) screen_reader: Option<bool>,

    /// Answer from a file of recorded responses, strictly in its order.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) fake_responses: Option<PathBuf>,

    /// Answer from a file of recorded responses, each with the next of its kind.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) fake_responses_non_strict: Option<PathBuf>,

    /// Append the model's responses to a file.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) record_responses: Option<PathBuf>,

    /// Internal to Gemini CLI: this is no interactive run.
    #[arg(long = "isCommand", hide = true)]
    pub(crate) is_command: bool,
}

impl Arguments {
    /// Returns the positional words as one prompt; `None` if there are none.
    pub(crate) fn positional_prompt(&self) -> Option<String> {
        (!self.query.is_empty()).then(|| self.query.join(" "))
    }

    /// Returns the prompt of this run from the flags or the positional words.
    pub(crate) fn prompt_text(&self) -> Option<String> {
        let given = self.prompt.clone();
        // `-p "$EXTRA" words` is a prompt even if `$EXTRA` is empty.
        let words = || self.positional_prompt().or_else(|| given.clone());
        given.clone().filter(|prompt| !prompt.is_empty()).or_else(words)
    }

    /// Returns true if a flag only makes sense for a headless run.
    pub(crate) fn wants_result(&self) -> bool {
        let is_json = self.output_format.is_some_and(|format| format != OutputFormat::Text);
        is_json || self.output_schema.is_some() || self.no_stdin
    }

    /// Normalises the values as Gemini CLI does after reading them.
    pub(super) fn tidy(mut self) -> Self {
        let trim = |text: &mut Option<String>| {
            if let Some(text) = text {
                *text = text.trim().to_owned();
            }
        };
        trim(&mut self.model);
        trim(&mut self.session_id);
        self.acp |= self.experimental_acp;
        self
    }
}

/// Policy flags, which all commands that evaluate calls share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct RuleArguments {
    /// Policy files or folders to use instead of ~/.gemini/policies
    #[arg(long, value_name = "PATHS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) policy: Vec<String>,

    /// More policy files or folders of the administrator
    #[arg(long, value_name = "PATHS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) admin_policy: Vec<String>,

    /// Tools, and commands as run_shell_command(git), that run without approval; policy files can
    /// express more
    #[arg(long, value_name = "TOOLS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) allowed_tools: Vec<String>,

    /// The only MCP servers that may start; an empty text for none
    #[arg(long, value_name = "SERVERS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) allowed_mcp_server_names: Vec<String>,

    /// Trust the current folder for this run
    #[arg(long)]
    pub(crate) skip_trust: bool,
}

/// Returns the complete command line, for the parser, help, completions and the man page. It
/// includes the flags that are not available yet.
pub(super) fn whole(called_as: &str) -> Command {
    let version = Arg::new("version").long("version").short('v').action(ArgAction::SetTrue);
    let command = Subcommand::augment_subcommands(Command::new(called_as.to_owned()));
    // After the subcommands, whose own description it replaces.
    Arguments::augment_args(command)
        .bin_name(called_as.to_owned())
        .args([help_flag(), version.help("Print the version")])
        .args(later::flags())
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
}

/// Returns the command that the first words name, and the number of these words.
pub(super) fn descend<'c>(whole: &'c Command, words: &[&str]) -> (&'c Command, usize) {
    let (mut command, mut depth) = (whole, 0);
    while let Some(verb) = words.get(depth).and_then(|word| command.find_subcommand(word)) {
        (command, depth) = (verb, depth + 1);
    }
    (command, depth)
}

/// Returns the arguments of the main command, and of the subcommands that are read with its flags:
/// all except the groups of Gemini CLI, and `sandbox`.
pub(super) fn of_line(whole: &Command) -> impl Iterator<Item = &Arg> {
    let is_apart =
        |name: &str| name == "sandbox" || later::GROUPS.iter().any(|group| group.is_called(name));
    let subcommands = whole.get_subcommands().filter(move |one| !is_apart(one.get_name()));
    whole.get_arguments().chain(subcommands.flat_map(of_verbs))
}

/// Returns the arguments of a command and of its verbs.
pub(super) fn of_verbs(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(Command::get_arguments))
}

/// Returns the flag that all subcommands have too.
pub(super) fn help_flag() -> Arg {
    let help = Arg::new("help").long("help").short('h').action(ArgAction::Help);
    help.help("Print this help").global(true)
}

/// Returns the parser of approval modes.
pub(super) fn approval_mode() -> impl TypedValueParser<Value = ApprovalMode> {
    PossibleValuesParser::new(["default", "auto_edit", "yolo", "plan"])
        .try_map(|word| -> Result<ApprovalMode, UnknownMode> { word.parse() })
}
