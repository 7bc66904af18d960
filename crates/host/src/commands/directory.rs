//! `/directory`: the folders of the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::protected::ProtectedPlaces;
use pollux_config::{Trust, TrustLevel, TrustQuestion, TrustState, names as variables};
use pollux_fs::EntryKind;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    Command, CommandContext, CommandError, CommandReport, Op, QuestionChoice, QuestionOutcome,
    QuestionSubject, TrustRequest,
};

use super::permissions::set_trust;
use super::{continuations, joined_list};
use crate::memory::Memory;
use crate::servers::SessionServers;
use crate::setup::{Setup, workspace};

const USAGE: &str = "Usage: /directory show, or /directory add PATH[,PATH]";
/// Maximum number of folders that are completed.
const COMPLETED: usize = 100;
/// Profiles of Seatbelt that allow no further folders begin with this word.
const RESTRICTIVE: &str = "restrictive-";

/// `/directory`, with the workspace, the context files and the servers of the session.
pub(super) struct Directory {
    pub(super) setup: Arc<Setup>,
    pub(super) memory: Arc<Memory>,
    pub(super) servers: Arc<SessionServers>,
}

/// Answer about the trust in a folder.
enum FolderAnswer {
    Once,
    Remembered,
    No,
}

#[async_trait]
impl Command for Directory {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn aliases(&self) -> &[&str] {
        &["dir"]
    }

    fn description(&self) -> &'static str {
        "show the folders of the workspace, or add some"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[show|add PATH[,PATH]]")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let Some(paths) = partial.strip_prefix("add ") else {
            return continuations(partial, ["show", "add"]);
        };
        let (done, last) = paths.rsplit_once(',').map_or(("", paths), |(done, last)| (done, last));
        let head = if done.is_empty() { "add ".to_owned() } else { format!("add {done},") };
        let blanks = &last[..last.len() - last.trim_start().len()];
        let (setup, typed) = (Arc::clone(&self.setup), last.trim_start().to_owned());
        let found = tokio::task::spawn_blocking(move || folders(&setup, &typed)).await;
        let found = found.unwrap_or_default().into_iter();
        found.map(|folder| format!("{head}{blanks}{folder}")).collect()
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let arguments = context.arguments.trim();
        let (verb, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (verb, rest.trim()) {
            ("" | "show", "") => {
                let workspace = self.setup.workspace.get();
                let folders = workspace.roots().map(|root| root.display().to_string());
                context.say(format!("Current workspace directories:\n{}", joined_list(folders)));
            }
            ("add", paths) => self.add(&context, paths).await?,
            _ => return Err(CommandError(USAGE.to_owned())),
        }
        Ok(None)
    }
}

impl Directory {
    /// Adds the folders of a list that is separated by commas, each one after its own check.
    async fn add(&self, context: &CommandContext, paths: &str) -> Result<(), CommandError> {
        let environment = &self.setup.loaded.environment;
        if environment.get(variables::SANDBOX) == Some("sandbox-exec")
            && environment.get("SEATBELT_PROFILE").is_some_and(|name| name.starts_with(RESTRICTIVE))
        {
            return Err(CommandError("The /directory add command is not supported in restrictive sandbox profiles. Please use --include-directories when starting the session instead.".to_owned()));
        }
        let paths: Vec<&str> =
            paths.split(',').map(str::trim).filter(|path| !path.is_empty()).collect();
        if paths.is_empty() {
            return Err(CommandError("Please provide at least one path to add.".to_owned()));
        }
        let (mut added, mut failures) = (Vec::new(), Vec::new());
        for path in paths {
            match self.add_one(context, path).await {
                Ok(folder) => added.push(folder),
                Err(message) => failures.push(message),
            }
        }
        if !added.is_empty() {
            let listed = joined_list(added.iter().map(|folder| folder.display().to_string()));
            context.say(format!("Successfully added directories:\n{listed}"));
            if let Some(servers) = self.servers.servers() {
                servers.roots_changed();
            }
            let memory = Arc::clone(&self.memory);
            let reloaded = tokio::task::spawn_blocking(move || memory.reload()).await;
            context.say(reloaded.map_err(|error| CommandError(error.to_string()))?);
            let report = format!("The user has added folders to the workspace:\n{listed}");
            context.send(Op::Report(CommandReport::ForModel(report)));
        }
        if failures.is_empty() { Ok(()) } else { Err(CommandError(failures.join("\n"))) }
    }

    /// Adds one folder. Returns its real path, or the reason why it is not added.
    async fn add_one(&self, context: &CommandContext, given: &str) -> Result<PathBuf, String> {
        let setup = Arc::clone(&self.setup);
        let path = given.to_owned();
        let found = tokio::task::spawn_blocking(move || find(&setup, &path)).await;
        let (folder, trust) = found.map_err(|error| error.to_string())??;
        let shown = visible(&folder.display().to_string());
        match trust {
            TrustState::Trusted => {}
            TrustState::Untrusted => {
                return Err(format!(
                    "{shown} is explicitly untrusted and cannot be added to a trusted workspace. /permissions trust {shown} changes that."
                ));
            }
            TrustState::Unknown => match ask(context, &folder).await {
                FolderAnswer::Once => {}
                FolderAnswer::Remembered => {
                    let setup = Arc::clone(&self.setup);
                    let folder = folder.display().to_string();
                    let stored = tokio::task::spawn_blocking(move || {
                        let cwd = &setup.input.request.folder;
                        set_trust(&setup.places, cwd, &folder, TrustLevel::TrustFolder)
                    });
                    stored.await.map_err(|error| error.to_string())??;
                }
                FolderAnswer::No => return Err(format!("{shown} was not added.")),
            },
        }
        let protected = ProtectedPlaces::new(&self.setup.places, &self.setup.input.environment);
        self.setup.workspace.update(|workspace| {
            workspace::add_folder(workspace, &protected, folder.clone());
        });
        Ok(folder)
    }
}

/// Finds a folder to add, with the trust in it. Blocks the thread.
fn find(setup: &Setup, given: &str) -> Result<(PathBuf, TrustState), String> {
    let folder = absolute(setup, given);
    if !folder.is_dir() {
        return Err(format!("Directory does not exist: {}", folder.display()));
    }
    let folder = pollux_fs::real_path(&folder).map_err(|error| error.to_string())?;
    if setup.workspace.get().root_of(&folder).is_some() {
        return Err(format!("{} is already in the workspace.", folder.display()));
    }
    let question = TrustQuestion {
        skip_trust: setup.input.options.rules.skip_trust,
        environment: &setup.input.environment,
        enabled: setup.loaded.settings.boolean("security.folderTrust.enabled"),
        ide: None,
        places: &setup.places,
        cwd: &folder,
    };
    let trust = Trust::resolve(&question).map_err(|error| error.to_string())?;
    Ok((folder, trust.state))
}

fn absolute(setup: &Setup, given: &str) -> PathBuf {
    pollux_fs::absolute(&setup.input.request.folder, &setup.places.expand_home(given))
}

/// Asks whether a folder is trusted. Without an answer it is not.
async fn ask(context: &CommandContext, folder: &Path) -> FolderAnswer {
    let request =
        TrustRequest { folder: folder.to_owned(), items: Vec::new(), problems: Vec::new() };
    let labels = ["Yes", "Yes, and remember the folder as trusted", "No"];
    let choices = QuestionChoice::options(labels.map(str::to_owned));
    let reply = context.ask(QuestionSubject::Trust(request), choices, Some(2)).await;
    match reply.outcome {
        QuestionOutcome::Option(0) => FolderAnswer::Once,
        QuestionOutcome::Option(1) => FolderAnswer::Remembered,
        _ => FolderAnswer::No,
    }
}

/// Returns the folders that a partly typed path may mean, each with a slash at its end.
fn folders(setup: &Setup, typed: &str) -> Vec<String> {
    let (parent, name) =
        typed.rsplit_once('/').map_or(("", typed), |(parent, name)| (parent, name));
    let head = if typed.contains('/') { format!("{parent}/") } else { String::new() };
    let looked_in = if head.is_empty() { "." } else { &head };
    let entries = pollux_fs::list_directory(&absolute(setup, looked_in)).unwrap_or_default();
    let fits = entries.into_iter().filter(|entry| {
        let is_folder = match entry.kind {
            EntryKind::Directory => true,
            EntryKind::Symlink => entry.path.is_dir(),
            _ => false,
        };
        is_folder
            && entry.name.starts_with(name)
            && (!entry.name.starts_with('.') || name.starts_with('.'))
    });
    fits.take(COMPLETED).map(|entry| format!("{head}{}/", entry.name)).collect()
}
