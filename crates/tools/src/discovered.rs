//! Tools that a command in the settings lists and another command runs (`tools.discoveryCommand`,
//! `tools.callCommand`).
//!
//! The first command prints a JSON array of function declarations. The second is called with the
//! tool's name; it reads the arguments as JSON from standard input and prints the result. Both are
//! programs of the user or of a trusted project: running them is intended, but their output is
//! limited and checked.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pollux_fs::Spool;
use pollux_protocol::{
    Args, CancellationToken, Declaration, Display, Effects, Invocation, RunContext, Tool,
    ToolError, ToolErrorKind, ToolKind, ToolOutput, ToolSource,
};
use pollux_shell::{ChildSpec, Ended, PipedCommand, PipedOutcome, Program, run_piped};

use crate::context::ToolContext;
use crate::validation::Schema;
use listing::Listed;
use pollux_protocol::truncation::{self, output_path, truncate};

mod listing;
mod words;

/// Number of bytes of each stream that are read (as in Gemini CLI 0.61).
const STREAM_LIMIT: usize = 10 << 20;
/// Maximum run time of the discovery command.
const LIST_LIMIT: Duration = Duration::from_mins(1);
/// Number of characters of a program's error output that the user is shown.
const COMPLAINT: usize = 500;

/// Commands from the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryCommands {
    /// Command that lists the tools: a program and its arguments, split like in a shell, but
    /// without shell operators.
    pub discovery: String,
    /// Program that runs a tool.
    pub call: Option<String>,
}

/// Result of the discovery.
pub struct Discovered {
    /// Tools, in the order of the list.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Warnings for the user about entries that were changed or refused.
    pub warnings: Vec<String>,
}

/// Runs the discovery command and returns its tools.
///
/// # Errors
/// A message for the user: the command failed, took too long, or printed no list.
pub async fn discover(
    context: &Arc<ToolContext>,
    commands: &DiscoveryCommands,
    cancel: &CancellationToken,
) -> Result<Discovered, String> {
    let words = words::split(&commands.discovery);
    if words.is_empty() {
        return Err("Tool discovery: tools.discoveryCommand contains no program.".to_owned());
    }
    let command = piped(context, &words, Vec::new(), LIST_LIMIT);
    let outcome = run_piped(command, cancel)
        .await
        .map_err(|error| format!("Cannot run the tool discovery command: {error}"))?;
    let failure = failure(&outcome);
    if let Some(failure) = failure {
        let complaint: String =
            String::from_utf8_lossy(&outcome.stderr).trim().chars().take(COMPLAINT).collect();
        let complaint = if complaint.is_empty() { complaint } else { format!(": {complaint}") };
        return Err(format!("Tool discovery command failed {failure}{complaint}"));
    }
    if outcome.overflowed {
        let limit = STREAM_LIMIT >> 20;
        return Err(format!("Tool discovery command printed more than {limit} MiB."));
    }
    let listing::Listing { tools, warnings } = listing::read(&outcome.stdout)?;
    let tool = |listed| -> Arc<dyn Tool> {
        Arc::new(DiscoveredTool::new(Arc::clone(context), commands, listed))
    };
    Ok(Discovered { tools: tools.into_iter().map(tool).collect(), warnings })
}

/// Returns the reason for which a discovery command failed, if it failed.
fn failure(outcome: &PipedOutcome) -> Option<String> {
    match (outcome.ended, outcome.exit_code, outcome.signal) {
        (Ended::Exited, Some(0), _) => None,
        (Ended::Exited, Some(code), _) => Some(format!("with exit code {code}")),
        (Ended::Exited, None, signal) => Some(format!("by signal {}", signal_name(signal))),
        (Ended::TimedOut, ..) => Some(format!("to end within {} seconds", LIST_LIMIT.as_secs())),
        _ => Some("because it was cancelled".to_owned()),
    }
}

/// Builds the command of a program whose arguments no shell interprets.
fn piped(
    context: &ToolContext,
    words: &[String],
    input: Vec<u8>,
    timeout: Duration,
) -> PipedCommand {
    let script = Program::Script(words::script(words));
    let child = ChildSpec::new(script, context.workspace.get().target(), environment(context));
    PipedCommand { child, input, timeout, limit: STREAM_LIMIT }
}

/// Returns the user's environment, without model credentials and the variables that the settings
/// hide.
fn environment(context: &ToolContext) -> Vec<(OsString, OsString)> {
    let mut environment =
        pollux_shell::redact(context.environment.clone(), &context.options.redaction);
    environment.retain(|(name, _)| {
        !name.to_str().is_some_and(|name| context.credentials.iter().any(|known| known == name))
    });
    environment
}

/// One discovered tool.
struct DiscoveredTool {
    context: Arc<ToolContext>,
    name: String,
    /// Name in the list, which the call command knows.
    original: String,
    description: String,
    schema: Schema,
    call: Option<String>,
}

impl DiscoveredTool {
    fn new(context: Arc<ToolContext>, commands: &DiscoveryCommands, listed: Listed) -> Self {
        let Listed { name, original, description, schema } = listed;
        let DiscoveryCommands { discovery, call } = commands;
        let runs = call.as_deref().unwrap_or("(none is set)");
        let description = format!(
            "{description}\n\nThis tool belongs to the project or the user: `{discovery}` declared it, and \
             `{runs} {original}` runs it in the project folder, with the arguments as JSON on standard \
             input. On success, the result is its output. On failure, the result has these lines: \
             Stdout and Stderr (the output, or (empty)), Error (why it could not run, or (none)), Exit \
             Code ((none) after a signal), Signal (or (none))."
        );
        Self {
            context,
            name,
            original,
            description,
            schema: Schema::new(schema),
            call: call.clone(),
        }
    }
}

impl Tool for DiscoveredTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn display_name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn renders_markdown(&self) -> bool {
        false
    }

    fn source(&self) -> ToolSource {
        ToolSource::Discovered
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let args: Args = self.schema.read(args)?;
        let input = serde_json::Value::Object(args).to_string();
        Ok(Box::new(DiscoveredCall {
            context: Arc::clone(&self.context),
            name: self.name.clone(),
            words: self.call.iter().cloned().chain([self.original.clone()]).collect(),
            has_call_command: self.call.is_some(),
            input,
        }))
    }
}

struct DiscoveredCall {
    context: Arc<ToolContext>,
    name: String,
    words: Vec<String>,
    has_call_command: bool,
    input: String,
}

#[async_trait]
impl Invocation for DiscoveredCall {
    fn effects(&self) -> Effects {
        Effects::unknown()
    }

    fn describe(&self) -> String {
        self.input.clone()
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        if !self.has_call_command {
            return failed(
                "No command for running discovered tools is configured (tools.callCommand).",
            );
        }
        let limit = self.context.options.shell_timeout.unwrap_or(Duration::MAX);
        let command = piped(&self.context, &self.words, self.input.clone().into_bytes(), limit);
        let outcome = match run_piped(command, &run.cancel).await {
            Ok(outcome) => outcome,
            Err(error) => return failed(report(None, &error.to_string())),
        };
        let file = output_path(&self.context.spill_directory, &self.name, &run.call_id);
        let threshold = truncation::limit(self.context.options.truncate_threshold, run.room);
        // Long output is scanned, cut and written on a blocking thread, not on the threads of the
        // runtime.
        let reported =
            tokio::task::spawn_blocking(move || reported(&outcome, threshold, &file)).await;
        reported.unwrap_or_else(|error| failed(format!("The tool failed: {error}")))
    }
}

fn failed(message: impl Into<String>) -> ToolOutput {
    ToolError::new(ToolErrorKind::DiscoveredToolExecutionError, message).into()
}

/// Returns the result: the output of the program, or a failure if the program failed or wrote to
/// standard error.
fn reported(outcome: &PipedOutcome, threshold: usize, file: &Path) -> ToolOutput {
    let is_success =
        outcome.ended == Ended::Exited && outcome.exit_code == Some(0) && outcome.stderr.is_empty();
    if !is_success {
        return failed(report(Some(outcome), why(outcome.ended)));
    }
    let mut text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    if outcome.overflowed {
        let limit = STREAM_LIMIT >> 20;
        text = format!("{text}\n... [everything after {limit} MiB was dropped]");
    }
    let keep = || Spool::create(file).and_then(|mut spool| spool.write(text.as_bytes())).is_ok();
    let is_long = threshold > 0 && text.len() > threshold && text.chars().count() > threshold;
    let kept = (is_long && keep()).then_some(file);
    let shown = truncate(&text, threshold, kept).unwrap_or_else(|| text.clone());
    let mut output = ToolOutput::quiet(shown.clone()).display(Display::Text(shown));
    output.output_file = kept.map(Path::to_path_buf);
    output
}

fn why(ended: Ended) -> &'static str {
    match ended {
        Ended::TimedOut => "It exceeded the time limit and was ended.",
        Ended::Cancelled => "It was cancelled.",
        Ended::Exited | Ended::Inactive | Ended::Unanswered => "",
    }
}

/// Describes a program that failed or wrote to standard error.
fn report(outcome: Option<&PipedOutcome>, error: &str) -> String {
    let text = |bytes: Option<&[u8]>| match String::from_utf8_lossy(bytes.unwrap_or_default()) {
        text if text.is_empty() => "(empty)".to_owned(),
        text => text.into_owned(),
    };
    let none = || "(none)".to_owned();
    let stdout = text(outcome.map(|outcome| outcome.stdout.as_slice()));
    let stderr = text(outcome.map(|outcome| outcome.stderr.as_slice()));
    let error = if error.is_empty() { none() } else { error.to_owned() };
    let code = outcome.and_then(|outcome| outcome.exit_code);
    let code = code.map_or_else(none, |code| code.to_string());
    let signal = outcome.and_then(|outcome| outcome.signal);
    let signal = signal.map_or_else(none, |signal| signal_name(Some(signal)));
    format!(
        "Stdout: {stdout}\nStderr: {stderr}\nError: {error}\nExit Code: {code}\nSignal: {signal}"
    )
}

/// Returns the name of a signal whose number is the same on all systems, otherwise its number.
fn signal_name(signal: Option<i32>) -> String {
    let name = match signal {
        Some(1) => "SIGHUP",
        Some(2) => "SIGINT",
        Some(3) => "SIGQUIT",
        Some(4) => "SIGILL",
        Some(6) => "SIGABRT",
        Some(8) => "SIGFPE",
        Some(9) => "SIGKILL",
        Some(11) => "SIGSEGV",
        Some(13) => "SIGPIPE",
        Some(14) => "SIGALRM",
        Some(15) => "SIGTERM",
        Some(other) => return other.to_string(),
        None => return "(none)".to_owned(),
    };
    name.to_owned()
}
