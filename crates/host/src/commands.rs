//! Slash commands that Pollux implements itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pollux_hooks::Hooks;
use pollux_protocol::{Command, CommandContext, CommandError, CommandSet, Op};
use pollux_session::{SessionLog, Statistics};

use crate::hooks::saving;
use crate::setup::Setup;
use crate::state::SessionState;

mod about;
mod agents;
mod bug;
mod columns;
mod copy;
mod custom;
mod directory;
mod export;
mod extensions;
mod help;
mod init;
mod links;
mod mcp;
mod memory;
mod model;
mod permissions;
mod plan;
mod policies;
mod restore;
mod resume;
mod rewind;
mod session;
pub(crate) mod settings;
mod shell;
mod skills;
mod stats;
mod stored;
mod table;
mod tasks;
mod tools;

use columns::{fields, joined_list};

pub(crate) use columns::table_of;
pub(crate) use stats::grouped;

pub use permissions::set_trust;
pub use table::{Availability, GEMINI_COMMANDS, GeminiCommand, PlannedPart, needs_a_screen};

/// Everything that commands act on, besides the settings and the state of the session.
pub(crate) struct CommandSubjects<'a> {
    /// Id of the session.
    pub(crate) session_id: &'a str,
    /// Figures of the session.
    pub(crate) statistics: &'a Arc<Statistics>,
    /// Hooks of the session.
    pub(crate) hooks: &'a Hooks,
    /// Log of the session; `None` before it runs.
    pub(crate) log: Option<Arc<SessionLog>>,
}

/// Returns the slash commands that a session has without any file: all of them if it has a user.
pub(crate) fn built_in(
    setup: &Arc<Setup>,
    state: &SessionState,
    subjects: &CommandSubjects<'_>,
) -> CommandSet {
    let built_in = if setup.is_interactive() {
        interactive(setup, state, subjects)
    } else {
        CommandSet::new(of_every_session(setup, state))
    };
    built_in.reserving(table::reserved_names())
}

/// Adds the commands of files and skills. Blocks the thread.
pub(crate) fn add_prompts(state: &SessionState, commands: &mut CommandSet) {
    state.custom_commands.add_to(commands);
    state.skills.add_to(commands);
}

fn interactive(
    setup: &Arc<Setup>,
    state: &SessionState,
    subjects: &CommandSubjects<'_>,
) -> CommandSet {
    let CommandSubjects { session_id, statistics, hooks, log } = subjects;
    let mut named = of_every_session(setup, state);
    named.extend(about_session(setup, state, session_id));
    let stored = stored::Stored {
        setup: Arc::clone(setup),
        id: (*session_id).to_owned(),
        log: log.as_ref().map(|log| log.path().to_owned()),
        tools: Arc::clone(&state.tools),
    };
    if let Some(checkpoints) = state.checkpoints.clone() {
        named.push(Arc::new(restore::Restore { stored: stored.clone(), checkpoints }));
    }
    named.extend(stored_sessions(stored));
    let (memory, inbox) = (Arc::clone(&state.memory), setup.inbox());
    let (skills, toolset) = (Arc::clone(&state.skills), state.toolset.clone());
    named.push(Arc::new(memory::MemoryCommand { memory, inbox, skills, toolset }));
    let (memory, setup) = (Arc::clone(&state.memory), Arc::clone(setup));
    let servers = Arc::clone(&state.servers);
    named.push(Arc::new(directory::Directory { setup: Arc::clone(&setup), memory, servers }));
    named.push(Arc::new(copy::Copy { setup: Arc::clone(&setup), log: log.clone() }));
    named.push(Arc::new(settings::SettingsCommand::new(&setup, &state.settings)));
    if setup.loaded.settings.boolean("security.folderTrust.enabled") {
        named.push(Arc::new(permissions::Permissions::new(&setup, &state.settings)));
    }
    named.extend(pollux_hooks::commands(hooks, &saving(&setup)));
    let statistics = Arc::clone(statistics);
    named.push(Arc::new(stats::Stats { setup, statistics }));
    CommandSet::new(named).explained_by(table::explainer())
}

/// Returns the commands about the conversation, its model, its tools and its rules.
fn about_session(
    setup: &Arc<Setup>,
    state: &SessionState,
    session_id: &str,
) -> Vec<Arc<dyn Command>> {
    let request = setup.approval_request();
    vec![
        Arc::new(shell::UserShell::new(setup)),
        Arc::new(session::Compress),
        Arc::new(session::Mode(request)),
        Arc::new(model::Model::new(setup)),
        Arc::new(plan::Plan { request, folder: setup.plans_directory(session_id) }),
        Arc::new(mcp::Mcp(Arc::clone(&state.servers))),
        Arc::new(skills::SkillsCommand {
            setup: Arc::clone(setup),
            skills: Arc::clone(&state.skills),
            settings: state.settings.clone(),
            toolset: state.toolset.clone(),
        }),
        Arc::new(agents::Agents::new(setup, state)),
        Arc::new(extensions::ExtensionsCommand(Arc::clone(setup))),
        Arc::new(tools::Tools { toolset: state.toolset.clone(), policy: state.policy.clone() }),
        Arc::new(tasks::Tasks(Arc::clone(&state.tools))),
        Arc::new(policies::Policies(state.policy.clone())),
        Arc::new(links::Docs(Arc::clone(setup))),
        Arc::new(links::Privacy),
    ]
}

/// Returns the commands about this and other stored conversations.
fn stored_sessions(stored: stored::Stored) -> Vec<Arc<dyn Command>> {
    let resume = |name| Arc::new(resume::Resume { name, stored: stored.clone() });
    vec![
        Arc::new(session::Clear(stored.clone())),
        resume("chat"),
        resume("resume"),
        Arc::new(rewind::Rewind(stored.clone())),
        Arc::new(export::ExportSession(stored.clone())),
        Arc::new(bug::Bug(stored)),
    ]
}

/// Returns the words that continue a partly typed argument.
fn continuations<W: Into<String>>(
    partial: &str,
    words: impl IntoIterator<Item = W>,
) -> Vec<String> {
    words.into_iter().map(Into::into).filter(|word: &String| word.starts_with(partial)).collect()
}

/// Returns the commands of a session with and without a user.
fn of_every_session(setup: &Arc<Setup>, state: &SessionState) -> Vec<Arc<dyn Command>> {
    vec![
        Arc::new(about::About(Arc::clone(setup))),
        Arc::new(Quit { is_deleted_at_end: Arc::clone(&state.is_deleted_at_end) }),
        Arc::new(help::Help),
        Arc::new(custom::Commands(Arc::clone(&state.custom_commands))),
        Arc::new(init::Init(Arc::clone(setup))),
    ]
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
