use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use pollux_config::Environment;
use pollux_policy::CheckerFinding;
use pollux_protocol::{CallId, CancellationToken, Live, Part, PromptSource, RunContext};
use pollux_testkit::TestHome;
use serde_json::{Value, json};

use crate::memory::Memory;
use crate::references::{Expander, PathCompleter, PathIndex};
use crate::{Host, RunOptions, Setup};

use super::*;

fn setup(home: &TestHome, request: &SessionRequest) -> Setup {
    let text = |value: std::ffi::OsString| value.into_string().unwrap();
    let variables = home.environment().into_iter();
    let environment =
        Environment::from_pairs(variables.map(|(name, value)| (text(name), text(value))));
    let host = Host { environment, options: RunOptions::default(), called_as: "test".to_owned() };
    host.look(request).unwrap()
}

fn run_context() -> RunContext {
    RunContext {
        call_id: CallId::new("call"),
        prompt_id: "prompt".to_owned(),
        cancel: CancellationToken::new(),
        output: Arc::new(drop),
        input: futures::stream::pending().boxed(),
        room: None,
        models: Arc::new(pollux_scripted::ScriptedModels::default()),
        confinement: pollux_protocol::CallConfinement::default(),
    }
}

/// Everything that a session does with its folders, for a file of one of them.
struct Uses {
    setup: Setup,
    memory: Arc<Memory>,
    tools: Arc<pollux_tools::ToolContext>,
    policy: pollux_policy::Policy,
    expander: Expander,
    paths: Arc<PathIndex>,
}

impl Uses {
    fn of(setup: Setup) -> Self {
        let memory = Arc::new(Memory::read(&setup));
        let tools = Arc::new(setup.tool_context("session", &memory, Live::default()));
        let policy = setup.policy("session");
        let expander = Expander::new(&setup, PromptSource::Typed);
        Self { setup, memory, tools, policy, expander, paths: Arc::default() }
    }

    async fn run(&self, tool: &str, args: Value) -> String {
        let tools = pollux_tools::builtin(&self.tools);
        let tool = tools.iter().find(|one| one.name() == tool).unwrap();
        let call = match tool.prepare(args.as_object().unwrap()) {
            Ok(call) => call,
            Err(error) => return error.message,
        };
        call.run(run_context()).await.content.iter().filter_map(Part::as_text).collect()
    }

    /// Returns for each use if it reaches `note.txt` of the folder.
    async fn reach(&self, folder: &Path) -> Vec<(&'static str, bool)> {
        let note = folder.join("note.txt");
        let read = self.run("read_file", json!({"file_path": note})).await;
        let searched = json!({"pattern": "needle", "dir_path": folder});
        let searched = self.run("grep_search", searched).await;
        let listed = self.run("glob", json!({"pattern": "note.*"})).await;
        let named = self.expander.expand(&format!("What is in @{}?", note.display())).await;
        let named = format!("{:?}", named.unwrap());
        let completer = PathCompleter::new(&self.setup, &self.paths, None, Vec::new());
        let completed = completer.complete("no".to_owned(), Duration::from_secs(20)).await;
        let block = self.setup.session_context(&self.memory).render();
        self.memory.reload();
        let wanted = json!({"additional_permissions": {"fileSystem": {"write": [note]}}});
        let finding = self.policy.additional_files(&wanted);
        vec![
            ("read_file", read.contains("a needle here")),
            ("grep_search", searched.contains("a needle here")),
            ("glob", listed.contains(&*note.to_string_lossy())),
            ("a reference", named.contains("a needle here")),
            ("completion", completed.texts == ["note.txt"]),
            ("the context block", block.contains(&format!("  - {}\n", folder.display()))),
            ("context files", self.memory.list().contains(&*folder.to_string_lossy())),
            ("policy", finding == CheckerFinding::ALLOW),
            ("confinement", self.tools.sandbox_places().workspace.iter().any(|one| one == folder)),
        ]
    }
}

#[tokio::test]
async fn a_folder_that_is_added_later_is_open_to_everything() {
    let home = TestHome::new();
    let base = pollux_fs::real_path(home.root()).unwrap();
    let added = base.join("added");
    std::fs::create_dir(&added).unwrap();
    std::fs::write(added.join("note.txt"), "a needle here").unwrap();
    std::fs::write(added.join("GEMINI.md"), "Be brief.").unwrap();
    let uses = Uses::of(setup(&home, &SessionRequest::new(home.project())));
    for (name, reaches) in uses.reach(&added).await {
        assert!(!reaches, "{name} before the folder is added");
    }
    let protected = ProtectedPlaces::default();
    uses.setup.workspace.update(|workspace| add_folder(workspace, &protected, added.clone()));
    for (name, reaches) in uses.reach(&added).await {
        assert!(reaches, "{name} after the folder is added");
    }
}

#[test]
fn credentials_stay_closed_in_every_folder() {
    let home = TestHome::new();
    let further = pollux_fs::real_path(home.root()).unwrap().join("further/deep");
    std::fs::create_dir_all(&further).unwrap();
    let request = SessionRequest {
        further_folders: vec![further.clone()],
        ..SessionRequest::new(home.project())
    };
    let workspace = setup(&home, &request).workspace.get();
    for (path, is_open) in [
        (further.join("note.txt"), true),
        (further.join(".gemini/settings.json"), true),
        (further.join(".gemini/oauth_creds.json"), false),
        (further.join(".gemini/.env"), false),
        (home.project().join(".gemini/oauth_creds.json"), false),
    ] {
        let access = workspace.check(&path, pollux_fs::Access::Read);
        assert_eq!(access.is_ok(), is_open, "{}", path.display());
    }
}
