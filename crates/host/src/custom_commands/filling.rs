//! Filling of a command's placeholders: files first, then the output of commands, in order.

use std::sync::Arc;

use pollux_agent::denied;
use pollux_config::custom_commands::{Piece, Template};
use pollux_protocol::{
    Args, Body, CallStatus, CommandContext, CommandError, FinishedCall, Part, Tool, ToolError,
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
        let tool = pollux_tools::inserted_command(&self.tools);
        let (mut content, mut files) = (Content::default(), files.into_iter());
        for piece in &template.pieces {
            match piece {
                Piece::Text(text) => content.text.push_str(text),
                Piece::Arguments => content.text.push_str(arguments),
                Piece::Command(line) => {
                    let output = output(line, arguments, &tool, context).await?;
                    content.text.push_str(&output);
                }
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

/// Runs a command line with the arguments and returns its output, with the end of a failed command.
async fn output(
    line: &str,
    arguments: &str,
    tool: &Arc<dyn Tool>,
    context: &CommandContext,
) -> Result<String, CommandError> {
    let dialect = Shell::current().map_or(Dialect::Posix, |shell| shell.dialect);
    let line = if arguments.is_empty() {
        // No arguments are no word, not an empty one.
        line.replace(Template::ARGUMENTS, "")
    } else {
        with_argument(line, Template::ARGUMENTS, arguments, dialect).map_err(|error| {
            CommandError(format!("/{} cannot run !{{{line}}}: {error}.", context.name))
        })?
    };
    let args = Args::from_iter([("command".to_owned(), Value::String(line.clone()))]);
    let finished = context.calls.run(Arc::clone(tool), args).await?;
    match (finished.status, &finished.error) {
        (CallStatus::Success, None) => Ok(text(&finished)),
        (_, Some(error)) if error.kind == ToolErrorKind::ShellExecuteError => {
            Err(CommandError(format!("/{} cannot run {line:?}: {}", context.name, error.message)))
        }
        (_, Some(error)) => Err(blocked(&context.name, &line, error)),
        _ => Err(CommandError("Slash command shell execution declined.".to_owned())),
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
