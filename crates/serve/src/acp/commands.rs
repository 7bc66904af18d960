//! Slash commands in the client. Pure.

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, SessionUpdate,
    UnstructuredCommandInput,
};
use pollux_protocol::{Command, CommandSet, Op, PromptId};

/// Commands that the client does not get: it ends sessions itself, and its prompts do not run
/// command lines.
const NOT_OFFERED: [&str; 2] = ["quit", "shell"];

/// Returns the list of commands for the client.
pub(crate) fn available(commands: &CommandSet) -> SessionUpdate {
    let offered = commands.iter().filter(|command| is_offered(command.as_ref()));
    let offered = offered.map(|command| {
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
    is_offered(command.as_ref()).then(|| Op::Command {
        id: id.clone(),
        name: command.name().to_owned(),
        arguments: rest.to_owned(),
    })
}

fn is_offered(command: &dyn Command) -> bool {
    !NOT_OFFERED.contains(&command.name())
}
