//! The user's hooks around a call.

use std::sync::Arc;

use futures::future::join_all;
use pollux_hooks::{HookResult, fenced};
use pollux_policy::PolicyVerdict;
use pollux_protocol::{
    Args, Body, Confirmation, ConfirmationKind, Directive, Display, HookEvent, HookPayload, Part,
    ToolCallPayload, ToolError, ToolErrorKind, ToolErrorPayload, ToolOutput, ToolResponsePayload,
};
use serde_json::{Value, json};

use super::{Prepared, Queued, Ready, Scheduler};
use crate::toolset::declared_effects;

/// Note for the model that a hook has changed the call.
const MODIFIED: &str =
    "\n\n[System] Tool input parameters were modified by a hook before execution.";

/// Decisions of hooks about a call before it was judged.
#[derive(Debug, Default)]
pub(super) struct Hooked {
    /// Reason for not running the call.
    pub(super) refusal: Option<ToolError>,
    /// True if the user must be asked even if the policy allows the call.
    pub(super) asks: bool,
    /// True if a hook has replaced the model's arguments.
    modified: bool,
}

impl Hooked {
    /// Combines the policy's verdict with the hooks' decision. Hooks can make the verdict stricter,
    /// never weaker.
    pub(super) fn over(&self, verdict: PolicyVerdict) -> PolicyVerdict {
        match verdict {
            PolicyVerdict::Allow if self.asks => PolicyVerdict::Ask,
            verdict => verdict,
        }
    }
}

impl Scheduler<'_> {
    /// Runs the `BeforeTool` hooks on all calls of a group in parallel, before the policy judges
    /// the resulting calls.
    pub(super) async fn before_tools(&self, group: Vec<Prepared>) -> Vec<Prepared> {
        for ready in group.iter().flatten() {
            self.describe(ready).await;
        }
        if !self.hooks.has(HookEvent::BeforeTool) {
            return group;
        }
        let looked_at = group.into_iter().map(async |prepared| match prepared {
            Ok(ready) => Ok(self.before_tool(ready).await),
            failed @ Err(_) => failed,
        });
        join_all(looked_at).await
    }

    async fn before_tool(&self, mut ready: Ready) -> Ready {
        let payload = HookPayload::BeforeTool(payload(&ready));
        let result = self.hooks.fire(&payload, self.cancel).await;
        ready.hooked.refusal = refusal(&result);
        ready.hooked.asks = result.ask;
        if ready.hooked.refusal.is_none()
            && let Some(args) = result.tool_input
        {
            self.rewrite(&mut ready, args).await;
        }
        ready
    }

    /// Prepares the call again with a hook's arguments.
    async fn rewrite(&self, ready: &mut Ready, args: Args) {
        let (tool, given) = (Arc::clone(&ready.tool), args.clone());
        let prepared = tokio::task::spawn_blocking(move || tool.prepare(&given)).await;
        let prepared = prepared.unwrap_or_else(|panic| {
            Err(ToolError::new(ToolErrorKind::UnhandledException, panic.to_string()))
        });
        match prepared {
            Ok(invocation) => {
                ready.effects = declared_effects(ready.tool.as_ref(), invocation.as_ref());
                ready.invocation = invocation;
                ready.queued.call.args = Value::Object(args);
                ready.hooked.modified = true;
                self.describe(ready).await;
            }
            Err(error) => {
                let message = format!(
                    "Tool parameter modification by hook failed validation: {}",
                    error.message
                );
                ready.hooked.refusal =
                    Some(ToolError::new(ToolErrorKind::InvalidToolParams, message));
            }
        }
    }

    /// Returns the output of a call after the hooks, with a note if a hook has changed the call's
    /// arguments.
    pub(super) async fn after_tool(&self, ready: &Ready, output: ToolOutput) -> ToolOutput {
        let mut output = self.looked_at(ready, output).await;
        if ready.hooked.modified && output.error.is_none() {
            append(&mut output, MODIFIED);
        }
        output
    }

    /// Runs the `AfterTool` hooks on the output of a call.
    async fn looked_at(&self, ready: &Ready, mut output: ToolOutput) -> ToolOutput {
        if !self.hooks.has(HookEvent::AfterTool) {
            return output;
        }
        let payload = HookPayload::AfterTool {
            call: payload(ready),
            tool_response: response(&output, ready.tool.server().is_some()),
        };
        let result = self.hooks.fire(&payload, self.cancel).await;
        if let Some(reason) = result.stop {
            let shown = format!("Agent execution stopped by hook: {reason}");
            return failed(output, ToolErrorKind::StopExecution, reason, shown);
        }
        if let Some(reason) = result.block {
            let shown = format!("Tool result blocked: {reason}");
            return failed(output, ToolErrorKind::ExecutionFailed, reason, shown);
        }
        if let Some(context) = result.additional_context.filter(|_| output.error.is_none()) {
            append(&mut output, &format!("\n\n{}", fenced(&context)));
        }
        let tail = result.tail_call;
        output
            .directives
            .extend(tail.map(|tail| Directive::TailCall { name: tail.name, args: tail.args }));
        output
    }

    /// Starts the `Notification` hooks before a question to the user, without waiting for them.
    pub(super) fn notify(&self, confirmation: &Confirmation) {
        if !self.hooks.has(HookEvent::Notification) {
            return;
        }
        let payload = notification(confirmation);
        let (hooks, cancel) = (self.hooks.clone(), self.cancel.clone());
        tokio::spawn(async move { hooks.fire(&payload, &cancel).await });
    }
}

/// Returns a call in the form for hooks.
fn payload(ready: &Ready) -> ToolCallPayload {
    let Queued { call, continues } = &ready.queued;
    ToolCallPayload {
        tool_name: call.name.clone(),
        tool_input: call.args.clone(),
        mcp_context: ready.tool.server_context(),
        original_request_name: continues.as_ref().map(|continued| continued.record.name.clone()),
    }
}

/// Returns the error of a call that hooks refuse.
fn refusal(result: &HookResult) -> Option<ToolError> {
    let (kind, message) = match (&result.stop, &result.block) {
        (Some(reason), _) => {
            (ToolErrorKind::StopExecution, format!("Agent execution stopped by hook: {reason}"))
        }
        (None, Some(reason)) => {
            (ToolErrorKind::PolicyViolation, format!("Tool execution blocked: {reason}"))
        }
        (None, None) => return None,
    };
    Some(ToolError::new(kind, message))
}

/// Returns a result in the form for hooks: a single text or part by itself, otherwise a list of
/// parts. The result of a server's tool is always a list.
fn response(output: &ToolOutput, is_of_server: bool) -> ToolResponsePayload {
    let llm_content = match (&output.error, &output.content[..]) {
        (Some(error), _) => error.message.clone().into(),
        (None, parts) if is_of_server => serde_json::to_value(parts).unwrap_or_default(),
        (None, [Part { body: Body::Text(text), .. }]) => text.clone().into(),
        (None, [part]) => serde_json::to_value(part).unwrap_or_default(),
        (None, parts) => serde_json::to_value(parts).unwrap_or_default(),
    };
    let error = output.error.as_ref().map(|error| ToolErrorPayload {
        message: error.message.clone(),
        r#type: error.kind.as_str(),
    });
    ToolResponsePayload { llm_content, return_display: output.display.clone(), error }
}

/// Adds a text to the model's view of the output.
fn append(output: &mut ToolOutput, words: &str) {
    match &mut output.content[..] {
        [Part { body: Body::Text(text), .. }] => text.push_str(words),
        _ => output.content.push(Part::text(words)),
    }
}

/// Returns the output as that of a failed call. Its measurements are kept.
fn failed(output: ToolOutput, kind: ToolErrorKind, message: String, shown: String) -> ToolOutput {
    ToolOutput {
        content: Vec::new(),
        display: Some(Display::Text(shown)),
        error: Some(ToolError::new(kind, message)),
        ..output
    }
}

/// Returns a question in the form for hooks.
fn notification(confirmation: &Confirmation) -> HookPayload {
    let title = &confirmation.title;
    let (kind, wants) = match &confirmation.kind {
        ConfirmationKind::Edit { .. } => ("edit", Some("editing")),
        ConfirmationKind::Execute { .. } => ("exec", Some("execution")),
        ConfirmationKind::ServerTool(_) => ("mcp", Some("MCP")),
        ConfirmationKind::Information { .. } => ("info", Some("information")),
        ConfirmationKind::Plan { .. } => ("exit_plan_mode", None),
        ConfirmationKind::Questions(_) => ("ask_user", None),
    };
    let message = match wants {
        Some(wants) => format!("Tool {title} requires {wants}"),
        None => "Tool requires confirmation".to_owned(),
    };
    let mut details = json!({ "type": kind, "title": title });
    let more = match &confirmation.kind {
        ConfirmationKind::Edit { path, patch, original, proposed, .. } => json!({
            "fileName": path.file_name().map(|name| name.to_string_lossy()),
            "filePath": path,
            "fileDiff": patch,
            "originalContent": original,
            "newContent": proposed,
            "isModifying": false,
        }),
        ConfirmationKind::Execute { command, programs, .. } => {
            json!({ "command": command, "rootCommand": programs.join(", ") })
        }
        ConfirmationKind::ServerTool(call) => json!({
            "serverName": call.server,
            "toolName": call.tool,
            "toolDisplayName": call.display_name,
        }),
        ConfirmationKind::Information { prompt, urls } => json!({ "prompt": prompt, "urls": urls }),
        ConfirmationKind::Plan { .. } | ConfirmationKind::Questions(_) => Value::Null,
    };
    if let (Value::Object(details), Value::Object(more)) = (&mut details, more) {
        details.extend(more);
    }
    HookPayload::Notification { notification_type: "ToolPermission", message, details }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::CallId;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn programs_make_policy_stricter_never_weaker() {
        let asking = Hooked { asks: true, ..Hooked::default() };
        let deny = PolicyVerdict::Deny { message: None };
        for (hooked, verdict, expected) in [
            (&asking, PolicyVerdict::Allow, PolicyVerdict::Ask),
            (&asking, PolicyVerdict::Ask, PolicyVerdict::Ask),
            (&asking, deny.clone(), deny.clone()),
            (&Hooked::default(), PolicyVerdict::Allow, PolicyVerdict::Allow),
            (&Hooked::default(), deny.clone(), deny),
        ] {
            assert_eq!(hooked.over(verdict), expected);
        }
    }

    #[test]
    fn questions_as_programs_know_them() {
        let reported = |title: &str, kind: ConfirmationKind| {
            let confirmation =
                Confirmation { call_id: CallId::new("c"), title: title.to_owned(), kind };
            Value::Object(notification(&confirmation).fields())
        };
        assert_eq!(
            reported(
                "Confirm Shell Command",
                ConfirmationKind::Execute {
                    command: "a | b".into(),
                    programs: vec!["a".into(), "b".into()],
                    commands: Vec::new(),
                    writes: Vec::new(),
                    unknown: Vec::new(),
                    starts: Vec::new(),
                    reason: None,
                    level: pollux_protocol::ConfinementLevel::None,
                    purpose: None,
                    folder: None,
                    is_background: false,
                }
            ),
            json!({"notification_type": "ToolPermission", "message": "Tool Confirm Shell Command requires execution",
                "details": {"type": "exec", "title": "Confirm Shell Command", "command": "a | b", "rootCommand": "a, b"}})
        );
        assert_eq!(
            reported("Plan", ConfirmationKind::Questions(Vec::new())),
            json!({"notification_type": "ToolPermission", "message": "Tool requires confirmation",
                "details": {"type": "ask_user", "title": "Plan"}})
        );
    }

    #[test]
    fn words_follow_a_text_and_stand_beside_media() {
        let mut text = ToolOutput::quiet("x");
        append(&mut text, "\n\ny");
        assert_eq!(text.content, [Part::text("x\n\ny")]);
        let mut image =
            ToolOutput { content: vec![Part::inline("image/png", "")], ..ToolOutput::default() };
        append(&mut image, "y");
        assert_eq!(image.content.len(), 2);
    }
}
