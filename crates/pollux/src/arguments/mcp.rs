//! Arguments of `mcp`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Subcommand};
use pollux_config::FileScope;
use pollux_protocol::ApprovalMode;

use super::flags::approval_mode;
use super::line::Line;
use super::{Arguments, RuleArguments};

/// Add, remove, show and test MCP servers, which give the model more tools; or be one (serve)
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    pub(crate) verb: McpVerb,
}

/// Action of `mcp`.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum McpVerb {
    Add(Box<AddArguments>),
    /// Remove a server from a settings file
    Remove {
        /// The server
        #[arg(value_name = "NAME")]
        server: String,
        /// The settings file
        #[arg(short, long, value_name = "SCOPE", value_parser = scope(), default_value = PROJECT)]
        scope: FileScope,
        #[command(flatten)]
        debug: DebugFlag,
    },
    /// List the servers, and try to connect to each of them
    List(McpFlags),
    /// Show the settings and the state of a server, without starting it
    Get {
        /// The server
        #[arg(value_name = "NAME")]
        server: String,
        #[command(flatten)]
        flags: McpFlags,
    },
    /// Start a server, and show what it offers or what is wrong with it
    Test {
        /// The server
        #[arg(value_name = "NAME")]
        server: String,
        #[command(flatten)]
        flags: McpFlags,
    },
    /// Sign in to a server that requires authentication
    Auth {
        /// The server
        #[arg(value_name = "NAME")]
        server: String,
        #[command(flatten)]
        trust: TrustFlag,
        #[command(flatten)]
        debug: DebugFlag,
    },
    /// Remove the stored credentials of a server
    Logout {
        /// The server
        #[arg(value_name = "NAME")]
        server: String,
        #[command(flatten)]
        debug: DebugFlag,
    },
    /// Let a disabled server start again
    Enable(SwitchArguments),
    /// Prevent a server from starting, in all projects
    Disable(SwitchArguments),
    Serve(Box<ServeArguments>),
}

/// Add a server to a settings file
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct AddArguments {
    /// The name of the server
    #[arg(value_name = "NAME")]
    pub(crate) server: String,

    /// The program that is the server, or its address for --transport http or sse
    #[arg(value_name = "COMMAND_OR_URL")]
    pub(crate) target: String,

    /// The arguments of the program: also unknown options, and everything after --
    #[arg(value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,

    /// The settings file
    #[arg(short, long, value_name = "SCOPE", value_parser = scope(), default_value = PROJECT)]
    pub(crate) scope: FileScope,

    /// The way to the server: a program (stdio), or an address (http, sse)
    #[arg(
        short, long, visible_alias = "type", value_name = "TRANSPORT",
        value_parser = ["stdio", "sse", "http"], default_value = "stdio"
    )]
    pub(crate) transport: String,

    /// A variable of the program; repeatable. KEY='$NAME' saves the reference, not the value
    #[arg(short, long, value_name = "KEY=VALUE", action = ArgAction::Append, value_parser = variable)]
    pub(crate) env: Vec<Pair>,

    /// A header of requests; repeatable. References such as $NAME are saved as they are
    #[arg(short = 'H', long, value_name = "NAME: VALUE", action = ArgAction::Append, value_parser = header)]
    pub(crate) header: Vec<Pair>,

    /// The time limit for connecting and for each call, in milliseconds
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub(crate) timeout: Option<serde_json::Number>,

    /// Let all tools of the server run without approval in trusted folders
    #[arg(long)]
    trust: bool,

    /// `--trust` or `--no-trust`.
    #[arg(skip)]
    pub(crate) is_trusted: Option<bool>,

    /// A description for the user
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// A tool to use, no others; repeatable
    #[arg(long, value_name = "TOOL", action = ArgAction::Append)]
    pub(crate) include_tools: Vec<String>,

    /// A tool not to use; repeatable
    #[arg(long, value_name = "TOOL", action = ArgAction::Append)]
    pub(crate) exclude_tools: Vec<String>,

    #[command(flatten)]
    pub(crate) debug: DebugFlag,
}

/// Serve other agents on standard input and output: their calls run prompts in sessions of Pollux
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct ServeArguments {
    /// The model, by name or alias
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Actions allowed without a question, which a call cannot exceed
    #[arg(long, value_name = "MODE", value_parser = approval_mode())]
    pub(crate) approval_mode: Option<ApprovalMode>,

    /// More folders to work in, separated by commas
    #[arg(long, value_name = "FOLDERS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) include_directories: Vec<String>,

    #[command(flatten)]
    pub(crate) rules: RuleArguments,

    #[command(flatten)]
    pub(crate) debug: DebugFlag,
}

impl ServeArguments {
    /// Returns the arguments of the main command that each session has.
    pub(crate) fn of_sessions(&self) -> Arguments {
        let Self { model, approval_mode, include_directories, rules, debug } = self.clone();
        Arguments {
            model,
            approval_mode,
            include_directories,
            rules,
            debug: debug.debug,
            ..Arguments::default()
        }
    }
}

/// Arguments of `mcp enable` and `mcp disable`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct SwitchArguments {
    /// The server
    #[arg(value_name = "NAME")]
    pub(crate) server: String,

    /// For one session only: without effect here, see /mcp in a conversation
    #[arg(long)]
    pub(crate) session: bool,

    #[command(flatten)]
    pub(crate) debug: DebugFlag,
}

/// Flags of the verbs that show servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub(crate) struct McpFlags {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Trust the current folder for this run
    #[arg(long)]
    pub(crate) skip_trust: bool,

    #[command(flatten)]
    pub(crate) debug: DebugFlag,
}

/// The flag of verbs that need a trusted folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub(crate) struct TrustFlag {
    /// Trust the current folder for this run
    #[arg(long)]
    pub(crate) skip_trust: bool,
}

/// The flag of all verbs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub(crate) struct DebugFlag {
    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}

/// Name and value of a variable or a header.
pub(crate) type Pair = (String, String);

/// Default of `--scope`.
const PROJECT: &str = "project";
const ADD: &str = "add";
/// Words of `add` before the arguments of the server: the verb, the name and the command.
const OWN_WORDS: usize = 3;

/// Returns the verb and the number of its own words if the rest of a line of `mcp` contains
/// arguments of another program.
pub(super) fn of_program(group: &str, rest: &[String]) -> Option<(&'static str, usize)> {
    let verb = rest.iter().find(|word| !word.starts_with('-'));
    (group == "mcp" && verb.is_some_and(|verb| verb == ADD)).then_some((ADD, OWN_WORDS))
}

impl McpArguments {
    /// Returns the flags of a verb that shows servers, otherwise the defaults.
    pub(crate) fn flags(&self) -> McpFlags {
        match &self.verb {
            McpVerb::List(flags) | McpVerb::Get { flags, .. } | McpVerb::Test { flags, .. } => {
                *flags
            }
            McpVerb::Add(add) => McpFlags { debug: add.debug, ..McpFlags::default() },
            McpVerb::Auth { trust, debug, .. } => {
                McpFlags { json: false, skip_trust: trust.skip_trust, debug: *debug }
            }
            McpVerb::Serve(serve) => McpFlags { debug: serve.debug, ..McpFlags::default() },
            McpVerb::Remove { debug, .. }
            | McpVerb::Logout { debug, .. }
            | McpVerb::Enable(SwitchArguments { debug, .. })
            | McpVerb::Disable(SwitchArguments { debug, .. }) => {
                McpFlags { debug: *debug, ..McpFlags::default() }
            }
        }
    }

    /// Adds the switches whose absence has a meaning of its own.
    pub(super) fn with_switches(mut self, line: &Line<'_>) -> Self {
        if let McpVerb::Add(add) = &mut self.verb {
            add.is_trusted = line.switch("trust");
        }
        self
    }
}

fn scope() -> impl TypedValueParser<Value = FileScope> {
    PossibleValuesParser::new([FileScope::User, FileScope::Project].map(FileScope::as_str)).map(
        |name| match name.as_str() {
            "user" => FileScope::User,
            _ => FileScope::Project,
        },
    )
}

fn variable(text: &str) -> Result<Pair, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !name.contains('\0') => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(invalid("env", text, "KEY=VALUE")),
    }
}

fn header(text: &str) -> Result<Pair, String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(invalid("header", text, "NAME: VALUE")),
    }
}

fn milliseconds(text: &str) -> Result<serde_json::Number, String> {
    let whole = text.trim().parse::<u64>().ok().filter(|number| *number > 0);
    whole
        .map(serde_json::Number::from)
        .ok_or_else(|| invalid("timeout", text, "a number of milliseconds above zero"))
}

fn invalid(name: &str, text: &str, required: &str) -> String {
    format!("Invalid values:\n  Argument: {name}, Given: \"{text}\", Required: {required}")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::arguments::{Exit, Subcommand, flags, subcommand};

    fn read_words(words: &[&str]) -> Result<McpVerb, Exit> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let read = subcommand::parse_group("mcp", words, flags::whole("pollux"), "pollux");
        read.map(|subcommand| match subcommand {
            Subcommand::Mcp(arguments) => arguments.verb,
            other => panic!("{other:?}"),
        })
    }

    fn added(line: &str) -> AddArguments {
        let words: Vec<&str> = ["add"].into_iter().chain(line.split(' ')).collect();
        match read_words(&words) {
            Ok(McpVerb::Add(add)) => *add,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_of_the_server_are_passed_on() {
        for (line, name, target, arguments) in [
            ("s cmd", "s", "cmd", &[][..]),
            ("s cmd -x --flag v a", "s", "cmd", &["-x", "--flag", "v", "a"]),
            (
                "s cmd --foo=bar -abc --no-foo -3",
                "s",
                "cmd",
                &["--foo=bar", "-abc", "--no-foo", "-3"],
            ),
            ("s cmd -eA=1 -sx", "s", "cmd", &["-eA=1", "-sx"]),
            ("s cmd a -- -e Q=1 --trust", "s", "cmd", &["a", "-e", "Q=1", "--trust"]),
            ("s -- npx -y pkg --help", "s", "npx", &["-y", "pkg", "--help"]),
            ("-s user s -e A=1 cmd -d -y", "s", "cmd", &["-y"]),
            ("s cmd --json --session", "s", "cmd", &["--json", "--session"]),
        ] {
            let add = added(line);
            let found = (add.server.as_str(), add.target.as_str());
            assert_eq!(found, (name, target), "{line}");
            assert_eq!(add.arguments, arguments, "{line}");
        }
    }

    #[test]
    fn values_are_kept_whole() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let add = added("s cmd -e A=b=c,d --env=B= -H X:y:z --header=A:Bearer,1 --timeout 50");
        assert_eq!(add.env, [pair("A", "b=c,d"), pair("B", "")]);
        assert_eq!(add.header, [pair("X", "y:z"), pair("A", "Bearer,1")]);
        assert_eq!((add.timeout, add.is_trusted), (Some(50.into()), None));
        let add = added("s u --type http --no-trust --includeTools a,b --include-tools c");
        assert_eq!((add.transport.as_str(), add.is_trusted), ("http", Some(false)));
        assert_eq!(add.include_tools, ["a,b", "c"]);
        assert_eq!(added("s cmd --trust").is_trusted, Some(true));
        assert_eq!(
            (added("s c").scope, added("s c -s user").scope),
            (FileScope::Project, FileScope::User)
        );
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (line, message) in [
            ("", "You need at least one command before continuing."),
            ("dance", "You need at least one command before continuing."),
            ("add s", "mcp add takes NAME COMMAND_OR_URL ARGS."),
            ("add --foo s cmd", "Unknown argument: foo"),
            (
                "add s cmd -t tcp",
                "Invalid values:\n  Argument: transport, Given: \"tcp\", Choices: \"stdio\", \"sse\", \"http\"",
            ),
            (
                "add s cmd -s system",
                "Invalid values:\n  Argument: scope, Given: \"system\", Choices: \"user\", \"project\"",
            ),
            (
                "add s cmd -e NOEQ",
                "Invalid values:\n  Argument: env, Given: \"NOEQ\", Required: KEY=VALUE",
            ),
            ("add s cmd -H plain", "Invalid values:\n  Argument: header, Given: \"plain\""),
            ("add s cmd --timeout soon", "Invalid values:\n  Argument: timeout, Given: \"soon\""),
            ("add s cmd -s", "Not enough arguments following: s"),
            ("remove", "mcp remove takes NAME."),
            ("list all", "mcp list takes no further arguments."),
            ("list --session", "Unknown argument: session"),
        ] {
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            let error = read_words(&words).unwrap_err().stderr;
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }
}
