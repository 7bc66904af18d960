//! `/docs` and `/privacy`: where to read on.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use crate::setup::Setup;

/// Address of the documentation.
const DOCUMENTATION: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/tree/main/docs");

/// Text of `/privacy`.
const PRIVACY: &str = "\
Pollux sends nothing to its authors: no usage statistics and no crash reports.

Your prompts, the files and outputs that the model reads, and its answers go to
the service of the model. Its terms apply:
  Gemini API   https://ai.google.dev/gemini-api/terms
  other vendors and gateways: the terms of the vendor
A model server on this machine receives them only there.

Web pages, MCP servers and commands receive what calls send to them.
Sessions are stored on this machine, in ~/.gemini/tmp.
Telemetry goes to a file, and only if telemetry.enabled is true.";

pub(super) struct Docs(pub(super) Arc<Setup>);

#[async_trait]
impl Command for Docs {
    fn name(&self) -> &'static str {
        "docs"
    }

    fn description(&self) -> &'static str {
        "open the documentation in the browser"
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let environment = &self.0.loaded.environment;
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        context.say(format!("Documentation: {DOCUMENTATION}"));
        if pollux_shell::has_browser(&lookup) {
            let opened = tokio::task::spawn_blocking(|| pollux_shell::open_page(DOCUMENTATION));
            let opened = opened.await.map_err(|error| CommandError(error.to_string()))?;
            opened.map_err(|error| CommandError(format!("The browser did not start: {error}")))?;
        }
        Ok(None)
    }
}

pub(super) struct Privacy;

#[async_trait]
impl Command for Privacy {
    fn name(&self) -> &'static str {
        "privacy"
    }

    fn description(&self) -> &'static str {
        "show where your data goes"
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        context.say(PRIVACY);
        Ok(None)
    }
}
