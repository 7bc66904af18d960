//! `run_shell_command`: a command line in the user's shell.

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt as _;
use pollux_fs::{Access, EntryKind};
use pollux_protocol::{
    Args, CallId, CallInput, CancellationToken, Confirmation, ConfirmationKind, Declaration,
    Effects, Invocation, RunContext, Tool, ToolError, ToolErrorKind, ToolKind, ToolOutput,
};
use pollux_shell::{Limits, Outcome, Redaction, ShellCommand, ShellError, Spill};
use serde::Deserialize;
use serde_json::json;

use crate::context::ToolContext;
use crate::truncation::output_path;
use crate::validation::{Schema, invalid};
use live::Live;
use report::Report;

mod live;
mod report;

/// The name that models and policies use.
const NAME: &str = "run_shell_command";
/// What stays in memory of output that will be cut anyway. More than this goes to a file while the command runs.
const SHORT_LIMITS: Limits = Limits { head: 1 << 20, tail: 3 << 20 };
/// Beyond this threshold, in characters, the short limits might cut what is to be shown.
const MAX_SHORT_THRESHOLD: usize = 500_000;
/// When this much output has come, the folder for the file is made.
const FOLDER_ABOVE: usize = 1 << 20;

/// The tool.
pub(crate) struct RunShellCommandTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl RunShellCommandTool {
    /// The tool in a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "command": {
                    "type": "string",
                    "description": "The command line."
                },
                "description": {
                    "type": "string",
                    "description": "What it does, for the user: at most three sentences, no line breaks."
                },
                "dir_path": {
                    "type": "string",
                    "description": "The folder to run in. Default: the project folder."
                },
                "is_background": {
                    "type": "boolean",
                    "description": "Not available yet: end the command with '&' instead. Default: false."
                },
                "delay_ms": {
                    "type": "integer",
                    "description": "Only with is_background: how long to collect output first."
                }
            },
            "required": ["command"]
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    command: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    dir_path: Option<String>,
    #[serde(default)]
    is_background: bool,
}

impl Tool for RunShellCommandTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Shell"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn renders_markdown(&self) -> bool {
        false
    }

    fn declaration(&self) -> Declaration {
        let shell = if cfg!(windows) { "PowerShell" } else { "bash (sh where there is none)" };
        Declaration {
            name: NAME.to_owned(),
            description: format!(
                "Runs a command line in {shell}, without a terminal and with closed standard input: choose flags that \
                 neither page nor prompt. It ends when the command ends, also when background jobs ('&') go on. The \
                 result has these lines, where they apply: Output (standard output and error together, or (empty)), \
                 Error (the command could not be started), Exit Code (if not 0), Signal, Background PIDs, Process Group \
                 PGID. Stop everything the command started with kill -- -PGID."
            ),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        if params.command.trim().is_empty() {
            return Err(invalid("Command cannot be empty."));
        }
        if params.command.contains('\0') {
            return Err(invalid("Command cannot contain NUL characters."));
        }
        if params.is_background {
            return Err(invalid(
                "is_background is not supported yet. End the command with '&' instead, with its output sent to a \
                 file; the result then lists its process under Background PIDs.",
            ));
        }
        let context = Arc::clone(&self.context);
        let folder = match params.dir_path.as_deref().filter(|path| !path.is_empty()) {
            None => context.workspace.target().to_path_buf(),
            Some(given) => {
                let path = context.locate(given, Access::Write)?;
                match pollux_fs::info(&path).map(|info| info.kind) {
                    Ok(EntryKind::Directory) => path,
                    Ok(_) => {
                        let path = path.display();
                        return Err(invalid(format!("Path is not a directory: {path}")));
                    }
                    Err(_) => {
                        return Err(invalid(format!(
                            "Directory does not exist: {}",
                            path.display()
                        )));
                    }
                }
            }
        };
        Ok(Box::new(RunShellCommand { context, folder, params }))
    }
}

struct RunShellCommand {
    context: Arc<ToolContext>,
    folder: PathBuf,
    params: Params,
}

#[async_trait]
impl Invocation for RunShellCommand {
    fn effects(&self) -> Effects {
        Effects { command: Some(self.params.command.clone()), ..Effects::default() }
    }

    fn describe(&self) -> String {
        let Params { command, description, dir_path, .. } = &self.params;
        let place = dir_path
            .as_ref()
            .map(|_| format!(" [in {}]", self.context.workspace.display_path(&self.folder)));
        let purpose = description.as_ref().map(|text| format!(" ({})", text.replace('\n', " ")));
        let [place, purpose] = [place, purpose].map(Option::unwrap_or_default);
        format!("{command}{place}{purpose}")
    }

    async fn confirmation(&self, call_id: &CallId) -> Result<Confirmation, ToolError> {
        let command = self.params.command.clone();
        let bare = pollux_shell::strip_wrapper(&command);
        let programs = bare.split_whitespace().take(1).map(str::to_owned).collect();
        Ok(Confirmation {
            call_id: call_id.clone(),
            title: "Confirm Shell Command".to_owned(),
            kind: ConfirmationKind::Execute { programs, command },
        })
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        if let Err(error) = self.context.recheck(&self.folder, Access::Write) {
            return error.into();
        }
        let file = output_path(&self.context.spill_directory, NAME, &run.call_id);
        let report = Report {
            threshold: self.context.options.truncate_threshold,
            timeout: self.context.options.shell_timeout,
            inactivity: self.context.options.shell_inactivity,
            file: file.clone(),
            tool: NAME,
            prompt_id: run.prompt_id.clone(),
        };
        match self.execute(run, file).await {
            Ok(outcome) => {
                // Long output is scanned, cut and written: not on the threads that serve everyone.
                let told = tokio::task::spawn_blocking(move || report.output(&outcome)).await;
                told.unwrap_or_else(|error| {
                    let message = format!("The tool failed: {error}");
                    ToolError::new(ToolErrorKind::UnhandledException, message).into()
                })
            }
            Err(ShellError::CancelledBeforeStart) => {
                ToolOutput::text("Command was cancelled by user before it could start.")
            }
            Err(error) => {
                ToolError::new(ToolErrorKind::ShellExecuteError, error.to_string()).into()
            }
        }
    }
}

/// Whether the program runs for strangers, whose words must not lead to the owner's secrets (Gemini CLI's test).
fn is_github_action(environment: &[(OsString, OsString)]) -> bool {
    environment.iter().any(|(name, value)| match name.to_str() {
        Some("GITHUB_SHA") => !value.is_empty(),
        Some("SURFACE") => value == "Github",
        _ => false,
    })
}

impl RunShellCommand {
    fn command(&self, file: PathBuf) -> ShellCommand {
        let context = &self.context;
        let limits = match context.options.truncate_threshold {
            1..=MAX_SHORT_THRESHOLD => SHORT_LIMITS,
            _ => Limits::default(),
        };
        let redaction = Redaction {
            strict: context.options.redaction.strict || is_github_action(&context.environment),
            ..context.options.redaction.clone()
        };
        let environment = pollux_shell::redact(context.environment.clone(), &redaction);
        let credentials: Vec<&str> = context.credentials.iter().map(String::as_str).collect();
        ShellCommand {
            environment: pollux_shell::child_environment(environment, &credentials),
            timeout: context.options.shell_timeout,
            inactivity: context.options.shell_inactivity,
            spill: Some(Spill::new(file, limits.head + limits.tail)),
            limits,
            ..ShellCommand::new(self.params.command.clone(), self.folder.clone())
        }
    }

    /// Runs the command; live output goes up, a wish to stop comes down.
    async fn execute(&self, run: RunContext, file: PathBuf) -> Result<Outcome, ShellError> {
        let RunContext { cancel, output, mut input, .. } = run;
        let cancel: CancellationToken = cancel.child_token();
        let live = Arc::new(Live::new(output));
        let taker = Arc::clone(&live);
        let folder = self.context.spill_directory.clone();
        let (mut received, mut has_folder) = (0_usize, false);
        let on_output = move |chunk: pollux_shell::Chunk<'_>| {
            received = received.saturating_add(live::length(chunk));
            // The folder is made in time for the file, and only for commands that may need it.
            if !has_folder && received > FOLDER_ABOVE {
                has_folder = true;
                // Should it fail, so will the file, and that is told with the outcome.
                pollux_fs::create_private_directories(&folder).unwrap_or_default();
            }
            taker.take(chunk);
        };
        let mut execution = pin!(pollux_shell::run(self.command(file), cancel.clone(), on_output));
        let mut ticks = tokio::time::interval(live::INTERVAL);
        let outcome = loop {
            tokio::select! {
                outcome = &mut execution => break outcome,
                _ = ticks.tick() => live.flush(),
                Some(wish) = input.next() => {
                    if wish == CallInput::Stop {
                        cancel.cancel();
                    }
                }
            }
        };
        live.flush();
        outcome
    }
}
