//! Slash commands about the current session: its length and approval mode.

use async_trait::async_trait;
use pollux_config::ApprovalRequest;
use pollux_protocol::{ApprovalMode, Command, CommandContext, CommandError, Op, SessionStart};

use super::continuations;
use super::stored::Stored;
use crate::setup::approval::check;

/// Approval modes, in the order of the help text.
const MODES: [ApprovalMode; 4] =
    [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo, ApprovalMode::Plan];

pub(super) struct Compress;

#[async_trait]
impl Command for Compress {
    fn name(&self) -> &'static str {
        "compress"
    }

    fn aliases(&self) -> &[&str] {
        &["summarize", "compact"]
    }

    fn description(&self) -> &'static str {
        "replace the conversation by a summary, or undo this"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[undo]")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        continuations(partial, ["undo"])
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        match context.arguments.trim() {
            "" => Ok(Some(Op::Compress { id: context.id })),
            "undo" => Ok(Some(Op::Uncompress { id: context.id })),
            _ => Err(CommandError("Usage: /compress, or /compress undo".to_owned())),
        }
    }
}

/// `/clear`. The session stays stored. A client that opens its sessions itself continues in the
/// same one.
pub(super) struct Clear(pub(super) Stored);

#[async_trait]
impl Command for Clear {
    fn name(&self) -> &'static str {
        "clear"
    }

    fn aliases(&self) -> &[&str] {
        &["new"]
    }

    fn description(&self) -> &'static str {
        "begin a new session; this one can be resumed"
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        if self.0.setup.input.request.can_switch {
            return self.0.switch(&context, SessionStart::Cleared).await;
        }
        context.say("The model forgets the conversation so far.");
        Ok(Some(Op::Clear { id: context.id }))
    }
}

/// `/mode`, with the approval modes that settings and trust allow.
pub(super) struct Mode(pub(super) ApprovalRequest);

#[async_trait]
impl Command for Mode {
    fn name(&self) -> &'static str {
        "mode"
    }

    fn description(&self) -> &'static str {
        "show the approval mode, or change it"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[default|auto_edit|yolo|plan]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        continuations(partial, MODES.map(ApprovalMode::flag))
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        if context.arguments.trim().is_empty() {
            context.say(format!("Mode: {}", context.session.mode.flag()));
            return Ok(None);
        }
        let asked = context.arguments.trim();
        let asked = asked.parse().map_err(|_| {
            let modes = MODES.map(ApprovalMode::flag).join(", ");
            CommandError(format!("There is no mode {asked}. Modes: {modes}."))
        })?;
        check(self.0, asked).map_err(|failure| CommandError(failure.to_string()))?;
        context.send(Op::SetMode(asked));
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::ApprovalMode;
    use pollux_scripted::trace_command;

    use super::*;

    const REQUEST: ApprovalRequest = ApprovalRequest {
        flag: None,
        yolo: false,
        setting: None,
        plan_enabled: true,
        yolo_disabled: false,
        secure_mode: false,
        trusted: true,
    };

    #[tokio::test]
    async fn without_a_name_the_present_mode_is_shown() {
        let trace = trace_command(&Mode(REQUEST), " ").await;
        assert!(trace.end.is_ok() && trace.ops.is_empty());
        assert_eq!(trace.output.len(), 1);
    }

    #[tokio::test]
    async fn a_mode_that_is_not_allowed_is_refused() {
        let forbidden = ApprovalRequest { yolo_disabled: true, ..REQUEST };
        let untrusted = ApprovalRequest { trusted: false, ..REQUEST };
        let planless = ApprovalRequest { plan_enabled: false, ..REQUEST };
        let table = [
            (REQUEST, "yolo", Some(ApprovalMode::Yolo)),
            (REQUEST, " auto_edit ", Some(ApprovalMode::AutoEdit)),
            (REQUEST, "fast", None),
            (forbidden, "yolo", None),
            (forbidden, "plan", Some(ApprovalMode::Plan)),
            (untrusted, "auto_edit", None),
            (untrusted, "default", Some(ApprovalMode::Default)),
            (planless, "plan", None),
        ];
        for (request, word, expected) in table {
            let trace = trace_command(&Mode(request), word).await;
            let set = match trace.ops[..] {
                [Op::SetMode(mode)] => Some(mode),
                _ => None,
            };
            assert_eq!(trace.end.is_ok(), expected.is_some());
            assert_eq!(set, expected, "{word:?} {request:?}");
        }
    }
}
