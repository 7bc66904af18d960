//! Built-in tools of a session, and the context that they share.

use std::sync::Arc;
use std::time::Duration;

use pollux_models::catalog::credential_variables;
use pollux_net::{Backoff, ClientOptions, PageClient};
use pollux_protocol::{ApprovalMode, Live, Tool};
use pollux_shell::BackgroundProcesses;
use pollux_tools::{Ledger, ToolContext, ToolOptions, WebAccess};

use crate::memory::Memory;
use crate::setup::Setup;

/// Maximum time that a web page may send nothing.
const PAGE_PATIENCE: Duration = Duration::from_secs(10);

impl Setup {
    /// Returns the built-in tools that the settings and the flags leave enabled.
    pub(crate) fn builtin_tools(&self, context: &Arc<ToolContext>) -> Vec<Arc<dyn Tool>> {
        let lists = self.tool_lists();
        let mut tools = pollux_tools::builtin(context);
        // Without a user nobody can answer `ask_user`, even if the rules allow it.
        let has_answers = self.is_interactive() && self.input.request.answers_model;
        let is_answered = |name: &str| has_answers || name != "ask_user";
        tools.retain(|tool| lists.keeps(tool.name()) && is_answered(tool.name()));
        tools
    }

    /// Returns everything that the built-in tools need to know about a session.
    pub(crate) fn tool_context(
        &self,
        session_id: &str,
        memory: &Arc<Memory>,
        mode: Live<ApprovalMode>,
    ) -> ToolContext {
        ToolContext {
            workspace: self.workspace.clone(),
            files: Arc::clone(&self.input.request.files),
            options: ToolOptions::from_settings(&self.loaded.settings),
            environment: self.loaded.environment.for_children(),
            credentials: credential_variables(),
            mode,
            plans_directory: self.plans_directory(session_id),
            tracker_directory: self.tracker_directory(session_id),
            memory_file: self.global_memory(),
            project_memory_file: self.project_memory(),
            ledger: Arc::new(Ledger::new()),
            spill_directory: self.project.tool_outputs_dir(session_id),
            background: Arc::new(BackgroundProcesses::new(
                self.places.projects_temporary().join("background-processes"),
            )),
            reporter: None,
            interactive: self.is_interactive(),
            context_for: memory.lookup(),
            web: self.web_access(),
            sandbox: self.sandbox_inputs(),
        }
    }

    /// Returns the client for web pages. An invalid proxy is not reported here: it is reported when
    /// a model is requested.
    fn web_access(&self) -> Option<WebAccess> {
        let environment = &self.loaded.environment;
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        let private = self.loaded.settings.texts("pollux.web.privateHosts").unwrap_or_default();
        let options = ClientOptions {
            headers_timeout: PAGE_PATIENCE,
            idle_timeout: PAGE_PATIENCE,
            ..ClientOptions::from_environment(&lookup)
        };
        let pages = PageClient::new(options, &private.join(",")).ok()?;
        Some(WebAccess { pages, backoff: Backoff::MID_STREAM.with_environment(&lookup) })
    }
}
