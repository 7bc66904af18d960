//! Arguments of `completions`, and the scripts, which come from the same declaration as the parser.

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
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
    clap_complete::generate(shell, &mut with_values(flags::whole(PROGRAM)), PROGRAM, &mut script);
    String::from_utf8_lossy(&script).into_owned()
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
