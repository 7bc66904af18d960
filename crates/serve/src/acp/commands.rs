//! Slash commands in the client. Pure.

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, SessionUpdate,
    UnstructuredCommandInput,
};
use pollux_protocol::{CommandSet, Op, PromptId};

/// Commands that the client does not get: it ends sessions and copies answers itself, and its
/// prompts do not run command lines.
const NOT_OFFERED: [&str; 3] = ["copy", "quit", "shell"];

/// Removes the commands that the client does not get.
pub(crate) fn retain_offered(commands: &mut CommandSet) {
    commands.retain_built_in(|command| !NOT_OFFERED.contains(&command.name()));
}

/// Returns the list of commands for the client.
pub(crate) fn available(commands: &CommandSet) -> SessionUpdate {
    let offered = commands.iter().map(|command| {
        let input = command
            .arguments()
            .map(|hint| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
        AvailableCommand::new(command.name(), command.description()).input(input)
    });
    SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(offered.collect()))
}

/// Returns the operation for a prompt that calls a command.
pub(crate) fn called(commands: &CommandSet, prompt: &str, id: &PromptId) -> Option<Op> {
    let (command, rest) = commands.find(prompt.trim())?;
    let (name, arguments) = (command.name().to_owned(), rest.to_owned());
    Some(Op::Command { id: id.clone(), name, arguments })
}
