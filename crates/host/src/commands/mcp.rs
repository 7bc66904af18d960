//! `/mcp`: the MCP servers of this conversation.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pollux_mcp::{ServerState, ServerStatus};
use pollux_protocol::plain_text::{one_line, visible};
use pollux_protocol::{Command, CommandContext, CommandError, Op, Origin, PromptCommand as _};

use crate::servers::SessionServers;

/// Time that `/mcp reload` waits for the servers.
const RELOAD_PATIENCE: Duration = Duration::from_secs(30);
/// Number of resources of a server that are shown without their descriptions.
const SHOWN_RESOURCES: usize = 10;
/// Number of log lines that are shown of a server that cannot be used.
const LOG_LINES: usize = 5;

const VERBS: [&str; 7] = ["list", "desc", "schema", "reload", "enable", "disable", "auth"];

/// `/mcp`, with the servers of the session.
pub(super) struct Mcp(pub(super) Arc<SessionServers>);

/// Amount of detail about a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Names,
    Descriptions,
    Schemas,
}

#[async_trait]
impl Command for Mcp {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn description(&self) -> &'static str {
        "show the MCP servers, start them again, or sign in to one"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|desc|schema|reload|enable NAME|disable NAME|auth NAME]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let names = || self.0.statuses().into_iter().map(|server| server.name);
        for verb in ["enable", "disable", "auth"] {
            if let Some(name) = partial.strip_prefix(verb).and_then(|rest| rest.strip_prefix(' ')) {
                let known = names().filter(|known| known.starts_with(name));
                return known.map(|known| format!("{verb} {known}")).collect();
            }
        }
        super::continuations(partial, VERBS)
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let mut words = context.arguments.split_whitespace();
        let verb = words.next().unwrap_or("list");
        let rest: Vec<&str> = words.collect();
        match (verb, rest.as_slice()) {
            ("list" | "ls" | "nodesc" | "nodescription", []) => {
                context.say(self.list(Detail::Names));
            }
            ("desc" | "description", []) => context.say(self.list(Detail::Descriptions)),
            ("schema", []) => context.say(self.list(Detail::Schemas)),
            ("reload" | "refresh", []) => {
                context.say("Reloading MCP servers...");
                self.0.reload();
                self.0.settled(RELOAD_PATIENCE).await;
                context.say(self.list(Detail::Names));
            }
            ("enable" | "disable", names) => {
                context.say(self.switch(verb == "enable", names).map_err(CommandError)?);
            }
            ("auth", []) => context.say(self.signing()),
            ("auth", words) => self.sign_in(&context, words).await.map_err(CommandError)?,
            _ => {
                let usage = "Usage: /mcp list, /mcp desc, /mcp schema, /mcp reload, /mcp enable NAME [--session], /mcp disable NAME [--session], or /mcp auth NAME";
                return Err(CommandError(usage.to_owned()));
            }
        }
        Ok(None)
    }
}

impl Mcp {
    fn switch(&self, enabled: bool, words: &[&str]) -> Result<String, String> {
        let verb = if enabled { "enable" } else { "disable" };
        let for_session = words.contains(&"--session");
        let names: Vec<&str> = words.iter().copied().filter(|word| *word != "--session").collect();
        let name = names.join(" ");
        if name.is_empty() {
            return Err(format!(
                "Server name required. Usage: /mcp {verb} <server-name> [--session]"
            ));
        }
        if !self.0.enable(&name, enabled, for_session)? {
            return Err(format!(
                "Server '{name}' not found. Use /mcp list to see available servers."
            ));
        }
        let scope = if for_session { " for this session" } else { "" };
        Ok(format!("MCP server '{name}' {verb}d{scope}."))
    }

    /// Lists the servers that the user can sign in to.
    fn signing(&self) -> String {
        let names = self.0.signing();
        if names.is_empty() {
            return "No MCP servers configured with OAuth authentication.".to_owned();
        }
        let lines = names.iter().map(|name| format!("  - {}\n", visible(name)));
        format!(
            "MCP servers with OAuth authentication:\n{}\nUse /mcp auth <server-name> to authenticate.",
            lines.collect::<String>()
        )
    }

    /// Signs in to a server, or completes a sign-in with the text that the user has pasted.
    async fn sign_in(&self, context: &CommandContext, words: &[&str]) -> Result<(), String> {
        if let [server @ .., text] = words
            && self.0.paste(&server.join(" "), text)
        {
            return Ok(());
        }
        let name = words.join(" ");
        let origin = Origin {
            session: Arc::clone(&context.session.session),
            prompt: Some(context.id.as_str().into()),
            ..Origin::default()
        };
        self.0.sign_in(&name, &context.operator, origin, &context.output).await
    }

    fn list(&self, detail: Detail) -> String {
        let servers = self.0.statuses();
        if servers.is_empty() {
            return "No MCP servers configured. `mcp add` adds one.".to_owned();
        }
        let mut text = String::from("Configured MCP servers:");
        for server in &servers {
            text.push('\n');
            describe(&mut text, server, detail);
        }
        text
    }
}

fn describe(text: &mut String, server: &ServerStatus, detail: Detail) {
    let mut line = |line: String| {
        // Writing to a String cannot fail.
        write!(text, "\n{line}").unwrap_or_default();
    };
    let (icon, state) = match &server.state {
        ServerState::Connected => ("✓", "ready".to_owned()),
        ServerState::Connecting => ("…", "starting".to_owned()),
        ServerState::Disconnected(reason) => ("✗", format!("not available: {reason}")),
        ServerState::NeedsSignIn => ("✗", "requires authentication".to_owned()),
        ServerState::Disabled => ("○", "disabled".to_owned()),
        ServerState::Blocked(reason) => ("⛔", reason.clone()),
    };
    line(format!("{icon} {} ({}): {state}", visible(&server.name), server.transport));
    if let Some(description) = server.description.as_ref().filter(|_| detail != Detail::Names) {
        line(format!("    {}", visible(description)));
    }
    if !server.introduction.is_empty() && detail != Detail::Names {
        line(format!("    {}, protocol {}", server.introduction, server.protocol));
    }
    for tool in &server.tools {
        line(format!("    - {}", tool.name));
        if detail != Detail::Names {
            for description in tool.description.lines() {
                line(format!("        {}", visible(description)));
            }
        }
        if detail == Detail::Schemas {
            let schema = serde_json::to_string_pretty(&tool.parameters).unwrap_or_default();
            for row in schema.lines() {
                line(format!("        {}", visible(row)));
            }
        }
    }
    for prompt in &server.prompts {
        let usage = prompt.arguments().map(|usage| format!(" {usage}")).unwrap_or_default();
        line(format!("    - prompt /{}{usage}", prompt.name()));
        if detail != Detail::Names && !prompt.description().is_empty() {
            line(format!("        {}", prompt.description()));
        }
    }
    let shown = if detail == Detail::Names { SHOWN_RESOURCES } else { usize::MAX };
    for resource in server.resources.iter().take(shown) {
        line(format!("    - resource @{}", visible(&resource.reference())));
        if detail != Detail::Names && !resource.description.is_empty() {
            line(format!("        {}", one_line(&resource.description)));
        }
    }
    let more = server.resources.len().saturating_sub(shown);
    if more > 0 {
        line(format!("    and {more} more resources: /mcp desc"));
    }
    for problem in &server.problems {
        line(format!("    ! {problem}"));
    }
    if matches!(server.state, ServerState::Disconnected(_)) || detail != Detail::Names {
        let skipped = server.log.len().saturating_sub(LOG_LINES);
        for entry in &server.log[skipped..] {
            line(format!("    | {entry}"));
        }
    }
}
