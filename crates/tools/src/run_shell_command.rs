//! `run_shell_command`: runs a command line in the user's shell.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::{FutureExt as _, StreamExt as _};
use pollux_fs::{Access, EntryKind};
use pollux_protocol::{
    Args, CallConfinement, CallId, CallInput, CancellationToken, ConfinementLevel, Confirmation,
    ConfirmationKind, Declaration, Effects, Invocation, RunContext, Shortening, SideModels, Tool,
    ToolError, ToolErrorKind, ToolFacts, ToolKind, ToolOutput,
};
use pollux_shell::sandbox::{GitConfiguration, NetworkAccess, SandboxSpec, SignalReach};
use pollux_shell::{
    ChildSpec, CommandOp, Confinement, Dialect, OutputChunk, OutputLimits, Program, Ran, Shell,
    ShellCommand, ShellError, Spill, TerminalSize, command_line,
};
use serde::Deserialize;
use serde_json::json;

use crate::context::ToolContext;
use crate::validation::{Schema, invalid};
use confined::Confined;
use live::Live;
use pollux_protocol::truncation::{self, output_path};
use report::Report;

mod background;
mod confined;
mod live;
mod report;

/// Name of the tool for models and policies.
const NAME: &str = "run_shell_command";
/// Bytes kept in memory of output that will be cut in any case. Further output goes to a file while
/// the command runs.
const SHORT_LIMITS: OutputLimits = OutputLimits { head: 1 << 20, tail: 3 << 20 };
/// Maximum threshold, in characters, for which the short limits keep all text that is shown.
const MAX_SHORT_THRESHOLD: usize = 500_000;
/// Number of bytes of output after which the folder for the file is created.
const FOLDER_ABOVE: usize = 1 << 20;
/// Maximum time limit of one call: a day, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// The tool `run_shell_command`.
pub(crate) struct RunShellCommandTool {
    context: Arc<ToolContext>,
    schema: Schema,
    form: ResultForm,
}

/// Form of the result of a command that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultForm {
    /// A report for the model that has made the call.
    Report,
    /// The output alone, which a custom command inserts into its prompt.
    Inserted,
}

impl RunShellCommandTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        Self::with_form(context, ResultForm::Report)
    }

    /// Creates the tool for the commands that a custom command inserts.
    pub(crate) fn inserting(context: Arc<ToolContext>) -> Self {
        Self::with_form(context, ResultForm::Inserted)
    }

    fn with_form(context: Arc<ToolContext>, form: ResultForm) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "command": {
                    "type": "string",
                    "description": "The command line."
                },
                "description": {
                    "type": "string",
                    "description": "What the command does, for the user: at most three sentences, no line breaks."
                },
                "dir_path": {
                    "type": "string",
                    "description": "The working directory. Default: the project folder."
                },
                "is_background": {
                    "type": "boolean",
                    "description": "Run in the background, for servers and watchers. Default: false."
                },
                "delay_ms": {
                    "type": "integer",
                    "description": "Only with is_background: time to collect output before the result, in milliseconds. Default: 200."
                },
                "timeout_ms": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_TIMEOUT_MS,
                    "description": "Time limit in milliseconds. Default: the user's setting; no limit with is_background."
                }
            },
            "required": ["command"]
        }));
        Self { context, schema, form }
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
    #[serde(default)]
    delay_ms: Option<i64>,
    #[serde(default)]
    timeout_ms: Option<u64>,
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

    fn facts(&self) -> ToolFacts {
        ToolFacts { shortening: Shortening::CommandOutput, ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        let shell = if cfg!(windows) { "PowerShell" } else { "bash (sh where there is none)" };
        let surroundings = if self.context.gives_terminals() {
            "in a terminal where the user may type"
        } else {
            "without a terminal and with closed standard input"
        };
        Declaration {
            name: NAME.to_owned(),
            description: format!(
                "Runs a command line in {shell}, {surroundings}. Use commands that end without input: pass \
                 flags such as --yes, --no-pager or CI=1, and never start an editor or a pager. The call \
                 returns when the command ends, even if background jobs ('&') still run. With \
                 is_background, the command runs until the session ends, and the result contains its PID \
                 for read_background_output and stop_background_process; do not add '&'. Otherwise, the \
                 result has these lines if they apply: Output (standard output and error together, or \
                 (empty)), Error (why the command could not start), Exit Code (if not 0), Signal, \
                 Background PIDs, Process Group PGID. To stop everything that the command started, run \
                 kill -- -PGID in a call of its own: in a line with other commands, kill reaches only \
                 processes of the same line."
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
        let context = Arc::clone(&self.context);
        let folder = match params.dir_path.as_deref().filter(|path| !path.is_empty()) {
            None => context.workspace.get().target().to_path_buf(),
            Some(given) => {
                let path = context.locate(given, Access::Write)?;
                match path.info().map(|info| info.kind) {
                    Ok(EntryKind::Directory) => path.into_path_buf(),
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
        Ok(Box::new(RunShellCommand { context, folder, params, form: self.form }))
    }
}

struct RunShellCommand {
    context: Arc<ToolContext>,
    folder: PathBuf,
    params: Params,
    form: ResultForm,
}

#[async_trait]
impl Invocation for RunShellCommand {
    fn effects(&self) -> Effects {
        Effects::command(&self.params.command, &self.folder)
    }

    fn describe(&self) -> String {
        let Params { command, description, dir_path, is_background, .. } = &self.params;
        let place = dir_path.as_ref().map(|_| format!(" [in {}]", self.displayed_folder()));
        let purpose = description.as_ref().map(|text| format!(" ({})", text.replace('\n', " ")));
        let [place, purpose] = [place, purpose].map(Option::unwrap_or_default);
        let background = if *is_background { " [background]" } else { "" };
        format!("{}{place}{purpose}{background}", command.trim_end())
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let command = self.params.command.clone();
        let bare = pollux_shell::strip_wrapper(&command);
        let line = command_line::read(&bare, dialect());
        let unknown = line.hidden.map(|gap| gap.construct.describe().to_owned());
        let mut programs = line.programs();
        if programs.is_empty() {
            programs.push(bare.into_owned());
        }
        Ok(Confirmation {
            call_id: call_id.clone(),
            title: "Confirm Shell Command".to_owned(),
            kind: ConfirmationKind::Execute {
                programs,
                commands: line.command_texts(),
                command,
                writes: line.writes(),
                unknown: unknown.into_iter().collect(),
                starts: Vec::new(),
                // Policy sets this field and the next.
                reason: None,
                level: ConfinementLevel::None,
                purpose: self.params.description.clone(),
                folder: self.params.dir_path.as_ref().map(|_| self.displayed_folder()),
                is_background: self.params.is_background,
            },
        })
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        if let Err(error) = self.context.recheck(&self.folder, Access::Write) {
            return error.into();
        }
        confined::report_weaker_level(&self.context, run.confinement);
        let file = output_path(&self.context.spill_directory, NAME, &run.call_id);
        let report = Report {
            threshold: truncation::limit(self.context.options.truncate_threshold, run.room),
            timeout: self.timeout(),
            inactivity: self.context.options.shell_inactivity,
            file: file.clone(),
            colour: self.context.options.shell_colour,
            tool: NAME,
            prompt_id: run.prompt_id.clone(),
        };
        if self.params.is_background {
            return self.run_in_background(run, report).await;
        }
        let command = self.command(file, run.confinement).await;
        let mut confined = Confined::begin(self, &command).await;
        match self.execute(run, command).await {
            Ok(Ran::Ended(outcome)) => {
                confined.set_process(outcome.process_group);
                let (form, command) = (self.form, self.params.command.clone());
                reported(move || {
                    let output = match form {
                        ResultForm::Report => report.output(&outcome),
                        ResultForm::Inserted => report.inserted(&outcome, &command),
                    };
                    confined.finish(&outcome, output)
                })
                .await
            }
            Ok(Ran::InBackground(process)) => {
                self.context.report_end(&process);
                confined.finish_later(&process);
                confined.with_earlier(background::handed_over(&process))
            }
            Err(ShellError::CancelledBeforeStart) => {
                ToolOutput::text("Command was cancelled by user before it could start.")
            }
            Err(error) => confined.with_earlier(not_started(&error)),
        }
    }
}

/// Translates an input into an op for the command; `None` for [`CallInput::Stop`].
fn command_op(input: CallInput) -> Option<CommandOp> {
    match input {
        CallInput::Key(bytes) => Some(CommandOp::Type(bytes)),
        CallInput::Resize { columns, rows } => {
            Some(CommandOp::Resize(TerminalSize::new(columns, rows)))
        }
        CallInput::Background => Some(CommandOp::MoveToBackground),
        CallInput::Stop => None,
    }
}

/// Runs `tell` on a blocking thread, because long output is scanned, cut and written.
async fn reported(tell: impl FnOnce() -> ToolOutput + Send + 'static) -> ToolOutput {
    tokio::task::spawn_blocking(tell).await.unwrap_or_else(|error| {
        let message = format!("The tool failed: {error}");
        ToolError::new(ToolErrorKind::UnhandledException, message).into()
    })
}

/// Returns the language of the shell that runs the commands.
fn dialect() -> Dialect {
    Shell::current().map_or(Dialect::Posix, |shell| shell.dialect)
}

/// Returns true if a command of the line is `git config --global`. If allowed to run unconfined,
/// the command uses the user's own file; all other commands see an empty file.
fn configures_user(line: &str) -> bool {
    command_line::read(line, dialect()).commands.iter().any(|command| {
        let has = |text| command.words.iter().any(|word| word.literal() == Some(text));
        command.base_name() == "git" && has("config") && has("--global")
    })
}

fn not_started(error: &ShellError) -> ToolOutput {
    ToolError::new(ToolErrorKind::ShellExecuteError, error.to_string()).into()
}

impl RunShellCommand {
    /// Returns the folder of the command, as users read it.
    fn displayed_folder(&self) -> String {
        self.context.workspace.get().display_path(&self.folder)
    }

    /// Returns the time limit of the command: that of the call, otherwise that of the settings.
    fn timeout(&self) -> Option<Duration> {
        self.own_timeout().or(self.context.options.shell_timeout)
    }

    fn own_timeout(&self) -> Option<Duration> {
        self.params.timeout_ms.map(Duration::from_millis)
    }

    async fn command(&self, file: PathBuf, confinement: CallConfinement) -> ShellCommand {
        let context = &self.context;
        let limits = match context.options.truncate_threshold {
            1..=MAX_SHORT_THRESHOLD => SHORT_LIMITS,
            _ => OutputLimits::default(),
        };
        let redaction = context.options.redaction.clone();
        let redaction = redaction.strict_in_actions(&context.environment);
        let environment = pollux_shell::redact(context.environment.clone(), &redaction);
        let credentials: Vec<&str> = context.credentials.iter().map(String::as_str).collect();
        let in_terminal = self.form == ResultForm::Report && context.gives_terminals();
        let is_own =
            confinement.level == ConfinementLevel::None && configures_user(&self.params.command);
        let git_config = if is_own { None } else { Some(self.git_config().await) };
        let mut environment =
            pollux_shell::child_environment(environment, &credentials, git_config.as_deref());
        if in_terminal {
            let pager = OsStr::new(&context.options.shell_pager);
            let pagers =
                environment.iter_mut().filter(|(name, _)| name == "PAGER" || name == "GIT_PAGER");
            pagers.for_each(|(_, value)| value.clone_from(&pager.to_owned()));
        }
        let line = Program::CommandLine(self.params.command.clone());
        let mut sandbox = SandboxSpec::new(confinement.level, Arc::new(context.sandbox_places()));
        if context.options.sandbox_network {
            sandbox.network = NetworkAccess::Allowed;
        }
        if confinement.configures_git {
            sandbox.git_configuration = GitConfiguration::Writable;
        }
        if command_line::only_signals(&self.params.command, dialect()) {
            sandbox.signals = SignalReach::Others;
        }
        let mut child = ChildSpec::new(line, &self.folder, environment);
        child.confinement = Confinement::of(sandbox);
        ShellCommand {
            terminal: in_terminal.then(TerminalSize::default),
            colour: context.options.shell_colour,
            attended: context.interactive,
            timeout: self.timeout(),
            inactivity: context.options.shell_inactivity,
            spill: Some(Spill::new(file, limits.head + limits.tail)),
            limits,
            ..ShellCommand::new(child)
        }
    }

    /// Returns the path of an empty configuration of Git.
    async fn git_config(&self) -> PathBuf {
        let folder = Arc::clone(&self.context);
        let made = tokio::task::spawn_blocking(move || {
            pollux_shell::empty_git_config(&folder.spill_directory)
        });
        match made.await {
            Ok(path) => path,
            // The runtime is ending.
            Err(_) => pollux_shell::empty_git_config(&self.context.spill_directory),
        }
    }

    /// Runs the command, passes on its live output, and handles input: keys, a new size, a stop, a
    /// move to the background.
    async fn execute(&self, run: RunContext, mut command: ShellCommand) -> Result<Ran, ShellError> {
        let RunContext { cancel, output, mut input, .. } = run;
        let cancel: CancellationToken = cancel.child_token();
        let (op_sender, ops) = tokio::sync::mpsc::unbounded_channel();
        let live = Arc::new(Live::new(output));
        let on_output = self.taker(&live);
        // The size of the window is applied before the start.
        while let Some(Some(first)) = input.next().now_or_never() {
            match first {
                CallInput::Stop => cancel.cancel(),
                CallInput::Resize { columns, rows } if command.terminal.is_some() => {
                    command.terminal = Some(TerminalSize::new(columns, rows));
                }
                other => drop(command_op(other).map(|op| op_sender.send(op))),
            }
        }
        let background = &self.context.background;
        let mut execution = pin!(pollux_shell::run_or_hand_over(
            command,
            cancel.clone(),
            on_output,
            ops,
            background
        ));
        let mut ticks = tokio::time::interval(live::INTERVAL);
        let ran = loop {
            tokio::select! {
                ran = &mut execution => break ran,
                _ = ticks.tick() => live.flush(),
                Some(input) = input.next() => match command_op(input) {
                    None => cancel.cancel(),
                    // A command that has just ended ignores input.
                    Some(op) => drop(op_sender.send(op)),
                }
            }
        };
        live.flush();
        if let Ok(Ran::Ended(outcome)) = &ran {
            live.end(report::ending(outcome));
        }
        ran
    }

    /// Returns the receiver of the command's output, which also creates the folder for the file in
    /// time.
    fn taker(&self, live: &Arc<Live>) -> impl FnMut(OutputChunk<'_>) + Send + use<> {
        let (live, folder) = (Arc::clone(live), self.context.spill_directory.clone());
        let (mut received, mut has_folder) = (0_usize, false);
        move |chunk| {
            received = match chunk {
                OutputChunk::Text(_) | OutputChunk::Input(_) => {
                    received.saturating_add(live::length(chunk))
                }
                OutputChunk::Binary { .. } | OutputChunk::Screen { .. } => live::length(chunk),
            };
            // Created only for commands that may need it.
            if !has_folder && received > FOLDER_ABOVE {
                has_folder = true;
                // If this fails, the file also fails, and the outcome reports that.
                pollux_fs::create_private_directories(&folder).unwrap_or_default();
            }
            live.take(chunk);
        }
    }
}
