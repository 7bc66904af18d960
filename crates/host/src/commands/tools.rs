//! `/tools`: the tools of the model.

use async_trait::async_trait;
use pollux_agent::Toolset;
use pollux_models::names;
use pollux_policy::Policy;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Command, CommandContext, CommandError, Live, Op, Tool, ToolSource};

use super::continuations;

/// `/tools`, with the tools and rules of the session.
pub(super) struct Tools {
    pub(super) toolset: Live<Toolset>,
    pub(super) policy: Live<Policy>,
}

#[async_trait]
impl Command for Tools {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn description(&self) -> &'static str {
        "list the tools of the model, or describe them"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|desc]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        continuations(partial, ["list", "desc"])
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        // Any other word lists the names, as in Gemini CLI.
        let is_described = matches!(context.arguments.trim(), "desc" | "descriptions");
        let (model, mode) = (names::resolve(&context.session.model), context.session.mode);
        let (toolset, policy) = (self.toolset.get(), self.policy.get());
        let offered = toolset.offered(&policy, None, mode, (model, names::limits(model)));
        context.say(list(&offered, is_described));
        Ok(None)
    }
}

/// Lists all tools except those of servers, which `/mcp` shows.
fn list(toolset: &Toolset, is_described: bool) -> String {
    let is_of_server = |tool: &dyn Tool| matches!(tool.source(), ToolSource::Server(_));
    let (of_servers, own): (Vec<_>, Vec<_>) =
        toolset.iter().partition(|tool| is_of_server(tool.as_ref()));
    let mut lines = vec!["Tools that the model can use now:".to_owned()];
    let width = own.iter().map(|tool| tool.name().chars().count()).max().unwrap_or_default();
    for tool in &own {
        let (name, title) = (visible(tool.name()), visible(tool.display_name()));
        if is_described {
            lines.push(format!("\n  {name} ({title})"));
            let description = tool.declaration().description;
            lines.extend(description.lines().map(|line| format!("    {}", visible(line).trim())));
        } else {
            lines.push(format!("  {name:<width$}  {title}"));
        }
    }
    if own.is_empty() {
        lines.push("  none".to_owned());
    }
    if !of_servers.is_empty() {
        lines.push(format!("\n/mcp lists the tools of servers ({}).", of_servers.len()));
    }
    lines.join("\n")
}
