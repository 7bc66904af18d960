//! Flags of the command line, declared once: for parsing, help, completions and the man page.
//!
//! Names, types and defaults are those of Gemini CLI 0.61.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, Command, CommandFactory, Parser, ValueEnum};
use pollux_protocol::{ApprovalMode, UnknownMode};

use super::line::LATEST;
use super::{config, hooks, later, sandbox};

/// Name of the subcommand that demonstrates Pollux without an API key.
pub(super) const DEMO: &str = "demo";
/// Name of the subcommand that shows the policy rules and their decisions about a command line.
pub(super) const POLICY: &str = "policy";
/// Verb that lists the policy rules.
pub(super) const LIST: &str = "list";
/// Verb that reports doubtful rules.
pub(super) const LINT: &str = "lint";
/// Verb that explains the decision about a command line.
pub(super) const EXPLAIN: &str = "explain";
/// Name of the subcommand that shows the text that would be sent to a model.
pub(super) const PROMPT: &str = "prompt";
/// Name of the subcommand that prints completions for a shell.
pub(super) const COMPLETIONS: &str = "completions";
/// Name of the subcommand that prints the man page.
pub(super) const MAN: &str = "man";

/// Verb that shows the prompt.
const SHOW: &str = "show";
/// Name of the subcommand that trusts a folder.
pub(super) const TRUST: &str = "trust";
/// Name of the subcommand that prints the help.
pub(super) const HELP: &str = "help";
/// Name of the subcommand that prints the version.
pub(super) const VERSION: &str = "version";

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
    /// The prompt
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

    /// More folders to work in, separated by commas
    #[arg(long, value_name = "FOLDERS", action = ArgAction::Append)]
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

    /// Delete the session of this number or id and exit
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

    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,

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

    /// Normalises the values as Gemini CLI does after reading them.
    pub(super) fn tidy(mut self) -> Self {
        let trim = |text: &mut Option<String>| {
            if let Some(text) = text {
                *text = text.trim().to_owned();
            }
        };
        trim(&mut self.model);
        trim(&mut self.session_id);
        self
    }
}

/// Policy flags, which all commands that evaluate calls share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct RuleArguments {
    /// Policy files or folders to use instead of ~/.gemini/policies
    #[arg(long, value_name = "PATHS", action = ArgAction::Append)]
    pub(crate) policy: Vec<String>,

    /// More policy files or folders of the administrator
    #[arg(long, value_name = "PATHS", action = ArgAction::Append)]
    pub(crate) admin_policy: Vec<String>,

    /// Tools, and commands as run_shell_command(git), that run without approval; policy files can
    /// express more
    #[arg(long, value_name = "TOOLS", action = ArgAction::Append)]
    pub(crate) allowed_tools: Vec<String>,

    /// Trust the current folder for this run
    #[arg(long)]
    pub(crate) skip_trust: bool,
}

/// Flags of `demo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct DemoArguments {
    /// Keep the sample project, and print its path
    #[arg(long)]
    pub(crate) keep: bool,

    /// The form of standard output
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub(crate) output_format: Option<OutputFormat>,

    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}

/// Action of `policy`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PolicyVerb {
    /// Lists the rules.
    #[default]
    List,
    /// Reports doubtful rules.
    Lint,
    /// Explains the decision about a command line.
    Explain(String),
}

/// Flags of `policy`, with its verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct PolicyArguments {
    /// Action to run
    #[arg(skip)]
    pub(crate) verb: PolicyVerb,

    /// The approval mode to judge in
    #[arg(long, value_name = "MODE", value_parser = approval_mode())]
    pub(crate) mode: Option<ApprovalMode>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) rules: RuleArguments,

    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}

/// Flags of `prompt show`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct PromptArguments {
    /// As for a run
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// As for a run
    #[arg(long, value_name = "MODE", value_parser = approval_mode())]
    pub(crate) approval_mode: Option<ApprovalMode>,

    /// As for a conversation at the terminal instead of a headless run
    #[arg(long)]
    pub(crate) interactive: bool,

    /// As for a run
    #[arg(long, value_name = "FOLDERS", action = ArgAction::Append)]
    pub(crate) include_directories: Vec<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Trust the current folder for this question
    #[arg(long)]
    pub(crate) skip_trust: bool,

    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}

/// Folder and flags of `trust`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct TrustArguments {
    /// The folder; the current one if omitted
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) folder: String,

    /// Stop trusting the folder
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// Returns the main command, including the flags that are not available yet.
pub(super) fn main(called_as: &str) -> Command {
    let version = Arg::new("version").long("version").short('v').action(ArgAction::SetTrue);
    Arguments::command()
        .name(called_as.to_owned())
        .bin_name(called_as.to_owned())
        .args([help_flag(), version.help("Print the version")])
        .args(later::flags())
}

/// Returns the subcommand `policy`.
fn policy() -> Command {
    let verb = |name: &'static str, about: &'static str| {
        let verb = Command::new(name).disable_help_flag(true).arg(help_flag());
        PolicyArguments::augment_args(verb).about(about).long_about(None)
    };
    let command_line = Arg::new("command").value_name("COMMAND").num_args(1..).required(true);
    group(
        POLICY,
        "Explain the policy decision about a command line, list the rules, or check them",
        [
            verb(LIST, "List the rules"),
            verb(LINT, "Report rules that are wrong or doubtful"),
            verb(EXPLAIN, "Explain the decision about a command line: the rest of the line")
                .arg(command_line.help("The command line; flags precede it unless it is quoted")),
        ],
    )
}

/// Returns a subcommand that has verbs.
fn group<const N: usize>(name: &'static str, about: &'static str, verbs: [Command; N]) -> Command {
    Command::new(name)
        .about(about)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .subcommands(verbs)
        .arg(help_flag())
}

/// Returns the flags of `policy`, for the parser of command lines.
pub(super) fn policy_flags() -> Command {
    PolicyArguments::augment_args(Command::new(POLICY))
}

/// Returns the subcommand `prompt`.
fn prompt() -> Command {
    let about =
        "Show the system prompt and the tools that a model receives, and their size in tokens";
    let show = Command::new(SHOW).disable_help_flag(true).arg(help_flag());
    group(PROMPT, about, [PromptArguments::augment_args(show).about(about).long_about(None)])
}

/// Returns the flags of `prompt`, for the parser of command lines.
pub(super) fn prompt_flags() -> Command {
    PromptArguments::augment_args(Command::new(PROMPT))
}

/// Returns the subcommand `trust`.
pub(super) fn trust() -> Command {
    let trust = Command::new(TRUST).disable_help_flag(true).arg(help_flag());
    TrustArguments::augment_args(trust)
        .about("Trust a folder permanently, without accepting the items in it that could do harm")
        .long_about(None)
}

/// Returns the subcommand `demo`.
pub(super) fn demo() -> Command {
    let demo = Command::new(DEMO).disable_help_flag(true).arg(help_flag());
    DemoArguments::augment_args(demo)
        .about(
            "Show the agent at work on a sample project, with a recorded model: no key, no network",
        )
        .long_about(None)
}

/// Returns the complete command line, for help, completions and the man page.
pub(super) fn whole(called_as: &str) -> Command {
    let shell = Arg::new("shell").value_name("SHELL").required(true);
    let completions = Command::new(COMPLETIONS)
        .about("Print the completions for a shell")
        .disable_help_flag(true)
        .arg(shell.value_parser(clap::value_parser!(clap_complete::Shell)))
        .arg(help_flag());
    let man =
        Command::new(MAN).about("Print the man page").disable_help_flag(true).arg(help_flag());
    main(called_as).args_conflicts_with_subcommands(true).disable_help_subcommand(true).subcommands(
        [
            demo(),
            config::command(&help_flag),
            hooks::command(&help_flag),
            policy(),
            prompt(),
            sandbox::command(&help_flag),
            trust(),
            completions,
            man,
            Command::new(HELP)
                .about("Print the help of the program or of a subcommand")
                .disable_help_flag(true)
                .args([Arg::new("subcommand").value_name("SUBCOMMAND").num_args(0..), help_flag()]),
            Command::new(VERSION)
                .about("Print the version")
                .disable_help_flag(true)
                .arg(help_flag()),
        ],
    )
}

fn help_flag() -> Arg {
    Arg::new("help").long("help").short('h').action(ArgAction::SetTrue).help("Print this help")
}

fn approval_mode() -> impl TypedValueParser<Value = ApprovalMode> {
    PossibleValuesParser::new(["default", "auto_edit", "yolo", "plan"])
        .try_map(|word| -> Result<ApprovalMode, UnknownMode> { word.parse() })
}
