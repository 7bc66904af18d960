//! Filling of a command's placeholders: files first, then the output of commands, in order.

use pollux_agent::denied;
use pollux_config::custom_commands::{Piece, Template};
use pollux_protocol::{
    Args, Body, CallStatus, CommandContext, CommandError, FinishedCall, Part, ToolError,
    ToolErrorKind,
};
use pollux_shell::{Dialect, Shell, with_argument};
use serde_json::Value;

use super::CustomCommands;

/// Content of a prompt so far. Texts that follow each other are one part.
#[derive(Default)]
struct Content {
    parts: Vec<Part>,
    text: String,
}

impl Content {
    fn add(&mut self, parts: Vec<Part>) {
        self.end_text();
        self.parts.extend(parts);
    }

    /// Adds a text to the last part, if that is a text.
    fn append(&mut self, text: &str) {
        self.end_text();
        match self.parts.last_mut().map(|part| &mut part.body) {
            Some(Body::Text(last)) => last.push_str(text),
            _ => self.text.push_str(text),
        }
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::text(std::mem::take(&mut self.text)));
        }
    }
}

impl CustomCommands {
    /// Returns the content that is sent to the model. Inserted text is never searched for
    /// placeholders.
    pub(super) async fn fill(
        &self,
        template: &Template,
        context: &CommandContext,
    ) -> Result<Vec<Part>, CommandError> {
        let arguments = context.arguments.trim();
        let mut files = Vec::new();
        for piece in &template.pieces {
            if let Piece::Content(path) = piece {
                files.push(self.insertion(path).await?);
            }
        }
        let mut outputs = self.outputs(template, arguments, context).await?.into_iter();
        let (mut content, mut files) = (Content::default(), files.into_iter());
        for piece in &template.pieces {
            match piece {
                Piece::Text(text) => content.text.push_str(text),
                Piece::Arguments => content.text.push_str(arguments),
                Piece::Command(_) => content.text.push_str(&outputs.next().unwrap_or_default()),
                Piece::Content(path) => match files.next().flatten() {
                    Some(parts) => content.add(parts),
                    None => content.add(vec![Part::text(format!("@{{{path}}}"))]),
                },
            }
        }
        if !template.takes_arguments && !arguments.is_empty() {
            content.append(&format!("\n\n{}", context.line()));
        }
        content.end_text();
        Ok(content.parts)
    }

    /// Runs the commands of a prompt, once all of them may run, and returns their outputs.
    async fn outputs(
        &self,
        template: &Template,
        arguments: &str,
        context: &CommandContext,
    ) -> Result<Vec<String>, CommandError> {
        let commands = template.pieces.iter().filter_map(|piece| match piece {
            Piece::Command(line) => Some(with_arguments(line, arguments, context)),
            _ => None,
        });
        let lines = commands.collect::<Result<Vec<String>, CommandError>>()?;
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let args =
            |line: &String| Args::from_iter([("command".to_owned(), Value::String(line.clone()))]);
        let tool = pollux_tools::inserted_command(&self.tools);
        let finished = context.calls.run(tool, lines.iter().map(args).collect()).await?;
        // The reason is an error, not the calls that were left out because of it.
        if let Some((line, call)) =
            lines.iter().zip(&finished).find(|(_, call)| call.error.is_some())
        {
            return Err(failure(line, call, context));
        }
        if finished.iter().any(|call| call.status != CallStatus::Success) {
            return Err(CommandError("Slash command shell execution declined.".to_owned()));
        }
        Ok(finished.iter().map(|call| text(call)).collect())
    }

    /// Returns the content of a path; `None` if the placeholder stays text.
    async fn insertion(&self, path: &str) -> Result<Option<Vec<Part>>, CommandError> {
        let insertion = self.expander.insertion(path).await;
        let insertion = insertion.map_err(|error| CommandError(error.to_string()))?;
        for warning in &insertion.warnings {
            self.setup.input.request.notices.warning(warning);
        }
        Ok(insertion.parts)
    }
}

/// Returns a command line with the arguments in the place of their placeholder.
fn with_arguments(
    line: &str,
    arguments: &str,
    context: &CommandContext,
) -> Result<String, CommandError> {
    if arguments.is_empty() {
        // No arguments are no word, not an empty one.
        return Ok(line.replace(Template::ARGUMENTS, ""));
    }
    let dialect = Shell::current().map_or(Dialect::Posix, |shell| shell.dialect);
    with_argument(line, Template::ARGUMENTS, arguments, dialect).map_err(|error| {
        CommandError(format!("/{} cannot run !{{{line}}}: {error}.", context.name))
    })
}

/// Returns the error of a command line that has failed, or that may not run.
fn failure(line: &str, call: &FinishedCall, context: &CommandContext) -> CommandError {
    match &call.error {
        Some(error) if error.kind == ToolErrorKind::ShellExecuteError => {
            CommandError(format!("/{} cannot run {line:?}: {}", context.name, error.message))
        }
        Some(error) => blocked(&context.name, line, error),
        None => CommandError("Slash command shell execution declined.".to_owned()),
    }
}

/// Returns the error of a command line that may not run, with the words of Gemini CLI in its first
/// line and what the policy says in the next.
fn blocked(name: &str, line: &str, error: &ToolError) -> CommandError {
    let is_unoffered = error.kind == ToolErrorKind::ToolNotRegistered;
    let more = Some(&error.message).filter(|text| !is_unoffered && **text != denied(None));
    let more = more.map(|text| format!("\n{text}")).unwrap_or_default();
    CommandError(format!(
        "{name} cannot be run. Blocked command: \"{line}\". Reason: Blocked by policy.{more}"
    ))
}

/// Returns the text of a result.
fn text(finished: &FinishedCall) -> String {
    let response = finished.response.iter().find_map(|part| match &part.body {
        Body::Response(response) => response.response.get("output")?.as_str(),
        _ => None,
    });
    response.unwrap_or_default().to_owned()
}
