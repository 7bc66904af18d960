//! Completions, from the same declaration as the parser.

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use pollux_config::schema;
use pollux_protocol::HookEvent;

use super::flags;

/// Name of the program.
const PROGRAM: &str = "pollux";

/// Returns the completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_values(flags::whole(PROGRAM)), PROGRAM, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Adds the values that a shell offers: models, keys of settings, and events of hooks. They are
/// suggestions, so the parser does not know them.
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
    let events = || PossibleValuesParser::new(HookEvent::ALL.map(HookEvent::as_str));
    one_of(whole, "model", models()).mut_subcommands(|subcommand| {
        subcommand.mut_subcommands(|verb| {
            let verb = one_of(verb, "model", models());
            one_of(one_of(verb, "key", keys()), "event", events())
        })
    })
}
