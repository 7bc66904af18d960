//! Slash commands about the current session: its length, model, approval mode and statistics.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::ApprovalRequest;
use pollux_models::catalog::model_names;
use pollux_protocol::{
    ApprovalMode, Command, CommandContext, CommandError, Money, Op, SessionStart, spelling,
};
use pollux_session::Statistics;
use serde_json::Value;

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

/// `/clear`. The session stays stored. A client that opens its sessions itself goes on in the same
/// one.
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

/// `/model`, with the names that the settings define.
pub(super) struct Model {
    /// Names of model configurations in the settings.
    pub(super) configured: Vec<String>,
    /// True if the requests go to a service whose models are not known, such as a gateway.
    pub(super) has_other_models: bool,
}

impl Model {
    /// Returns a remark about a name that cannot be checked; `None` for a known one.
    ///
    /// # Errors
    /// The message for a name that no model can have.
    fn check(&self, name: &str) -> Result<Option<String>, CommandError> {
        let is_configured = self.configured.iter().any(|known| known == name);
        if is_configured || model_names().any(|known| known == name) {
            return Ok(None);
        }
        let names: Vec<String> = model_names().chain(self.configured.iter().cloned()).collect();
        let meant = spelling::nearest(name, names.iter().map(String::as_str));
        let meant = meant.map(|meant| format!(" Did you mean {meant}?")).unwrap_or_default();
        let is_of_vendor =
            name.contains('/') || ["gemini", "gemma"].iter().any(|family| name.starts_with(family));
        if is_of_vendor || self.has_other_models {
            return Ok(Some(format!("{name} is not in the list of known models.{meant}")));
        }
        Err(CommandError(format!(
            "There is no model {name}.{meant} The Tab key lists names; models of other services are VENDOR/NAME."
        )))
    }
}

#[async_trait]
impl Command for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn description(&self) -> &'static str {
        "show the model, or use another one"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[NAME]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        continuations(partial, model_names())
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        match context.arguments.split_whitespace().collect::<Vec<_>>()[..] {
            [] => {
                context.say(format!(
                    "Model: {}\nTo use another: /model NAME. The Tab key lists names.",
                    context.session.model
                ));
                Ok(None)
            }
            [name] => {
                if let Some(remark) = self.check(name)? {
                    context.say(remark);
                }
                context.send(Op::SetModel(name.to_owned()));
                Ok(None)
            }
            _ => Err(CommandError("Usage: /model NAME".to_owned())),
        }
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

pub(super) struct Stats(pub(super) Arc<Statistics>);

#[async_trait]
impl Command for Stats {
    fn name(&self) -> &'static str {
        "stats"
    }

    fn description(&self) -> &'static str {
        "show the statistics of this session"
    }

    fn aliases(&self) -> &[&str] {
        &["usage"]
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        context.say(in_words(&self.0.stats()));
        Ok(None)
    }
}

/// Formats the `stats` of JSON output as a few lines of text.
fn in_words(stats: &Value) -> String {
    let models = stats["models"].as_object();
    let line = |(name, model): (&String, &Value)| {
        let (requests, tokens) = (&model["api"]["totalRequests"], &model["tokens"]);
        let (read, cached, written) = (&tokens["prompt"], &tokens["cached"], &tokens["candidates"]);
        let cost = cost_in_words(model);
        format!(
            "{name}: requests {requests}, tokens in {read} (cached {cached}), out {written}, cost {cost}"
        )
    };
    let mut lines: Vec<String> = models.iter().copied().flatten().map(line).collect();
    if lines.is_empty() {
        lines.push("No requests yet.".to_owned());
    }
    let (tools, files) = (&stats["tools"], &stats["files"]);
    let (calls, failed) = (&tools["totalCalls"], &tools["totalFail"]);
    let (added, removed) = (&files["totalLinesAdded"], &files["totalLinesRemoved"]);
    if models.is_some_and(|models| models.len() > 1) {
        lines.push(format!("Cost of all: {}", cost_in_words(stats)));
    }
    lines.push(format!("Tool calls: {calls}, failed: {failed}. Lines: +{added} -{removed}"));
    lines.join("\n")
}

fn cost_in_words(stats: &Value) -> String {
    let money = stats["cost"].as_f64().and_then(Money::from_usd);
    let estimated = if stats["cost_estimated"] == true { " (estimated)" } else { "" };
    money.map_or_else(|| "unknown".to_owned(), |money| format!("{money}{estimated}"))
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

    fn model(has_other_models: bool) -> Model {
        Model { configured: vec!["mine".to_owned()], has_other_models }
    }

    #[tokio::test]
    async fn a_model_is_checked_as_far_as_names_are_known() {
        let unlisted = |name: &str| vec![format!("{name} is not in the list of known models.")];
        for (has_other_models, name, expected) in [
            (false, "flash", Some(vec![])),
            (false, "mine", Some(vec![])),
            (false, "gemini-9", Some(unlisted("gemini-9"))),
            (false, "x/y", Some(unlisted("x/y"))),
            (false, "nosuch", None),
            (true, "nosuch", Some(unlisted("nosuch"))),
        ] {
            let trace = trace_command(&model(has_other_models), name).await;
            let said = trace.end.is_ok().then_some(trace.output);
            assert_eq!(said, expected, "{name}");
            assert_eq!(trace.ops.len(), usize::from(expected.is_some()), "{name}");
        }
        let typo = trace_command(&model(false), "flahs").await.end.unwrap_err();
        assert!(typo.to_string().contains("Did you mean flash?"), "{typo}");
    }

    #[tokio::test]
    async fn without_a_name_the_present_value_is_shown() {
        for trace in
            [trace_command(&Mode(REQUEST), " ").await, trace_command(&model(false), "").await]
        {
            assert!(trace.end.is_ok() && trace.ops.is_empty());
            assert_eq!(trace.output.len(), 1);
        }
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

    #[test]
    fn figures_in_words() {
        let text = in_words(&Statistics::new().stats());
        assert_eq!(text, "No requests yet.\nTool calls: 0, failed: 0. Lines: +0 -0");
    }
}
