//! Arguments of `completions`, and the scripts, which come from the same declaration as the parser.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use pollux_config::schema;

use super::flags;

/// Print the completions for a shell
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct CompletionsArguments {
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

/// Name of the program.
const PROGRAM: &str = "pollux";

/// Returns the completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    let mut visible = without_hidden(&with_values(flags::whole(PROGRAM)));
    clap_complete::generate(shell, &mut visible, PROGRAM, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Removes the flags that the help does not list: internal ones, and those that are not available.
fn without_hidden(whole: &Command) -> Command {
    let visible: Vec<Arg> =
        whole.get_arguments().filter(|argument| !argument.is_hide_set()).cloned().collect();
    Command::new(PROGRAM)
        .bin_name(PROGRAM)
        .args(visible)
        .subcommands(whole.get_subcommands().cloned())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args_conflicts_with_subcommands(true)
}

/// Adds the values that a shell offers: models and keys of settings. They are suggestions, so the
/// parser does not know them.
fn with_values(whole: Command) -> Command {
    let one_of = |command: Command, argument: &str, values: PossibleValuesParser| {
        if command.get_arguments().any(|known| known.get_id() == argument) {
            command.mut_arg(argument, |known| known.value_parser(values))
        } else {
            command
        }
    };
    let models = || PossibleValuesParser::new(pollux_host::model_names());
    let keys = || PossibleValuesParser::new(schema::all().map(|setting| setting.key));
    one_of(whole, "model", models()).mut_subcommands(|subcommand| {
        subcommand.mut_subcommands(|verb| one_of(one_of(verb, "model", models()), "key", keys()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_help_lists_is_offered() {
        let script = completions(Shell::Bash);
        for flag in ["--isCommand", "--worktree", "--fake-responses"] {
            assert!(!script.contains(flag), "{flag}");
        }
        for word in ["--model", "--approval-mode", "--acp", "--help", "auto_edit", "explain"] {
            assert!(script.contains(word), "{word}");
        }
    }
}
