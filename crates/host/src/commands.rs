//! Slash commands that Pollux implements itself.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pollux_config::names as variables;
use pollux_hooks::Hooks;
use pollux_protocol::{Command, CommandContext, CommandError, CommandSet, Op};
use pollux_session::Statistics;

use crate::hooks::saving;
use crate::platform::node_platform;
use crate::setup::Setup;
use crate::state::SessionState;

mod bug;
mod custom;
mod export;
mod help;
mod mcp;
mod memory;
mod permissions;
mod plan;
mod resume;
mod rewind;
mod session;
mod shell;
mod stored;
mod table;

pub use permissions::set_trust;
pub use table::{Availability, GEMINI_COMMANDS, GeminiCommand, PlannedPart, needs_a_screen};

/// Returns the slash commands of a session: all of them if it has a user.
pub(crate) fn of(
    setup: &Arc<Setup>,
    session_id: &str,
    log: Option<&Path>,
    statistics: &Arc<Statistics>,
    hooks: &Hooks,
    state: &SessionState,
) -> CommandSet {
    let built_in = if setup.is_interactive() {
        let stored = stored::Stored {
            setup: Arc::clone(setup),
            id: session_id.to_owned(),
            log: log.map(Path::to_owned),
            tools: Arc::clone(&state.tools),
        };
        interactive(setup, stored, statistics, hooks, state)
    } else {
        CommandSet::new(of_every_session(setup, state))
    };
    let mut commands = built_in.reserving(table::reserved_names());
    state.custom_commands.add_to(&mut commands);
    commands
}

fn interactive(
    setup: &Setup,
    stored: stored::Stored,
    statistics: &Arc<Statistics>,
    hooks: &Hooks,
    state: &SessionState,
) -> CommandSet {
    let request = setup.approval_request();
    let plan = plan::Plan { request, folder: setup.plans_directory(&stored.id) };
    let mut named = of_every_session(setup, state);
    named.push(Arc::new(shell::UserShell::new(setup)));
    named.push(Arc::new(session::Clear(stored.clone())));
    for name in ["chat", "resume"] {
        named.push(Arc::new(resume::Resume { name, stored: stored.clone() }));
    }
    named.push(Arc::new(rewind::Rewind(stored.clone())));
    named.push(Arc::new(export::ExportSession(stored.clone())));
    named.push(Arc::new(bug::Bug(stored)));
    named.push(Arc::new(session::Compress));
    named.push(Arc::new(model(setup)));
    named.push(Arc::new(session::Mode(request)));
    named.push(Arc::new(plan));
    let (memory, inbox) = (Arc::clone(&state.memory), setup.inbox());
    named.push(Arc::new(memory::MemoryCommand { memory, inbox }));
    named.push(Arc::new(mcp::Mcp(Arc::clone(&state.servers))));
    named.push(Arc::new(session::Stats(Arc::clone(statistics))));
    if setup.loaded.settings.boolean("security.folderTrust.enabled") {
        named.push(Arc::new(permissions::Permissions::new(setup, &state.settings)));
    }
    named.extend(pollux_hooks::commands(hooks, &saving(setup)));
    CommandSet::new(named).explained_by(table::explainer())
}

fn model(setup: &Setup) -> session::Model {
    let settings = &setup.loaded.settings;
    let keys = ["modelConfigs.aliases", "modelConfigs.customAliases"];
    let objects = keys.into_iter().filter_map(|key| settings.value(key)?.as_object());
    let variables = [variables::GOOGLE_GEMINI_BASE_URL, variables::GOOGLE_VERTEX_BASE_URL];
    let is_set = |name| setup.loaded.environment.non_empty(name).is_some();
    session::Model {
        configured: objects.flat_map(|object| object.keys().cloned()).collect(),
        has_other_models: variables.into_iter().any(is_set) || setup.input.options.replay.is_some(),
    }
}

/// Returns the words that continue a partly typed argument.
fn continuations<W: Into<String>>(
    partial: &str,
    words: impl IntoIterator<Item = W>,
) -> Vec<String> {
    words.into_iter().map(Into::into).filter(|word: &String| word.starts_with(partial)).collect()
}

/// Returns the commands of a session with and without a user.
fn of_every_session(setup: &Setup, state: &SessionState) -> Vec<Arc<dyn Command>> {
    let commands = custom::Commands(Arc::clone(&state.custom_commands));
    let about = About { called_as: setup.input.called_as.clone() };
    let quit = Quit { is_deleted_at_end: Arc::clone(&state.is_deleted_at_end) };
    vec![Arc::new(about), Arc::new(quit), Arc::new(help::Help), Arc::new(commands)]
}

struct About {
    called_as: String,
}

#[async_trait]
impl Command for About {
    fn name(&self) -> &'static str {
        "about"
    }

    fn description(&self) -> &'static str {
        "show version and platform"
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let (version, system) = (env!("CARGO_PKG_VERSION"), node_platform());
        let architecture = std::env::consts::ARCH;
        let text =
            format!("Pollux {version} ({system}, {architecture}), called as {}", self.called_as);
        context.say(text);
        Ok(None)
    }
}

#[derive(Default)]
struct Quit {
    /// Set if the session is deleted when it is closed.
    is_deleted_at_end: Arc<AtomicBool>,
}

#[async_trait]
impl Command for Quit {
    fn name(&self) -> &'static str {
        "quit"
    }

    fn aliases(&self) -> &[&str] {
        &["exit"]
    }

    fn description(&self) -> &'static str {
        "end the program; --delete also deletes the session"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[--delete]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        continuations(partial, ["--delete"])
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        match context.arguments.trim() {
            "" => {}
            "--delete" => self.is_deleted_at_end.store(true, Ordering::Relaxed),
            _ => return Err(CommandError("Usage: /quit, or /quit --delete".to_owned())),
        }
        Ok(Some(Op::Close))
    }
}
