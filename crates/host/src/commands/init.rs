//! `/init`: creates the context file of the project, and lets the model fill it.

use std::path::{Component, Path};
use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::context;
use pollux_fs::{Access, Expectation, WriteOptions};
use pollux_protocol::{Command, CommandContext, CommandError, Op, Part, PromptInput};

use crate::setup::Setup;

/// Prompt for the model; `{file}` is the name of the context file.
const PROMPT: &str = include_str!("init.md");
/// Name of the file, unless the settings have another one.
const DEFAULT: &str = "GEMINI.md";

pub(super) struct Init(pub(super) Arc<Setup>);

#[async_trait]
impl Command for Init {
    fn name(&self) -> &'static str {
        "init"
    }

    fn description(&self) -> &'static str {
        "create GEMINI.md, and let the model describe the project"
    }

    fn is_prompt(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let name = file_name(&self.0);
        let (setup, file) = (Arc::clone(&self.0), name.clone());
        let created = tokio::task::spawn_blocking(move || create(&setup, &file)).await;
        created.map_err(|error| CommandError(error.to_string()))?.map_err(CommandError)?;
        context.say(format!("Empty {name} created. Now analyzing the project to populate it."));
        let parts = vec![Part::text(PROMPT.replace("{file}", &name))];
        let input = PromptInput::shown(parts, Some(context.line()));
        Ok(Some(Op::Prompt { id: context.id, input }))
    }
}

/// Returns the name of the project's context file: the first of the settings that is a plain name.
fn file_name(setup: &Setup) -> String {
    let names = context::names(&setup.loaded.settings.context().file_names);
    let is_plain = |name: &&String| {
        let mut parts = Path::new(name.as_str()).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
            && Path::new(name.as_str()).extension().is_some_and(|extension| extension == "md")
            && !name.starts_with('.')
    };
    names.iter().find(is_plain).cloned().unwrap_or_else(|| DEFAULT.to_owned())
}

/// Creates an empty file in the project's folder, unless one exists.
///
/// # Errors
/// The message for the user.
fn create(setup: &Setup, name: &str) -> Result<(), String> {
    let path = setup.input.request.folder.join(name);
    if pollux_fs::info(&path).is_ok() {
        return Err(format!(
            "A {name} file already exists in this directory. No changes were made."
        ));
    }
    // A link of the project must not lead elsewhere.
    let file = setup.workspace.get().check(&path, Access::Write);
    let options = WriteOptions { expected: Some(Expectation::Absent), ..WriteOptions::default() };
    let written = file.and_then(|file| file.write_atomic(b"", &options));
    written.map(drop).map_err(|error| format!("{name} cannot be created: {error}"))
}
