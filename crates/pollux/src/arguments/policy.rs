//! Arguments of `policy`.

use clap::{Args, Subcommand};
use pollux_protocol::ApprovalMode;

use super::RuleArguments;
use super::flags::approval_mode;

/// Explain the policy decision about a command line, list the rules, or check them
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    pub(crate) verb: PolicyVerb,
}

/// Action of `policy`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PolicyVerb {
    /// List the rules
    List(PolicyFlags),
    /// Report rules that are wrong or doubtful
    Lint(PolicyFlags),
    /// Explain the decision about a command line: the rest of the line
    Explain {
        #[command(flatten)]
        flags: PolicyFlags,

        /// The command line; flags precede it unless it is quoted
        #[arg(value_name = "COMMAND", required = true)]
        command: Vec<String>,
    },
}

/// Flags of each verb of `policy`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct PolicyFlags {
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

impl PolicyArguments {
    /// Returns the flags of the verb.
    pub(crate) fn flags(&self) -> &PolicyFlags {
        match &self.verb {
            PolicyVerb::List(flags)
            | PolicyVerb::Lint(flags)
            | PolicyVerb::Explain { flags, .. } => flags,
        }
    }
}

/// Returns the command line that the words of `policy explain` make. A single word is a quoted
/// command line.
pub(crate) fn command_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| pollux_shell::quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn words_of_a_command_line_stay_words() {
        let line = |words: &[&str]| {
            command_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(line(&["ls | sort"]), "ls | sort");
        assert_eq!(line(&["git", "status"]), "git status");
        assert_eq!(line(&["echo", "it's; rm x"]), r"echo 'it'\''s; rm x'");
    }
}
