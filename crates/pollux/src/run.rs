//! Run of the main command: a session with a conversation or a single prompt.

#![expect(clippy::disallowed_methods, reason = "finds out which standard streams are terminals")]

use std::any::Any;
use std::cell::Cell;
use std::io::IsTerminal;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use jiff::Timestamp;
use pollux_config::environment::names;
use pollux_config::{Environment, Places, read_key_bindings};
use pollux_host::{Host, OutputSchema, ReplaySource, RunOptions};
use pollux_input::{Broken, HAS_EDITOR, KeyMap, Stdout, TerminalKind, TerminalUser, UserOptions};
use pollux_protocol::{Op, PromptInput, SessionFacts, SessionRequest, Sessions, SettingValues};
use pollux_session::{Statistics, format_deleted, format_list, format_list_as_json};
use serde_json::Value;

use crate::acp;
use crate::arguments::{Arguments, OutputFormat, is_headless, version};
use crate::clipboard::DesktopClipboard;
use crate::editor::TerminalEditor;
use crate::exit::Failure;
use crate::extensions;
use crate::headless::{Ended, Ending, Opening, Output, Run, output_of, structured_output_of};
use crate::input::{self, Input, StdinMode};
use crate::process::Process;
use crate::screen::{self, is_screen};
use crate::signals::Signals;
use crate::stderr::{can_show_status, notices, stderr_line, wants_colour};
use crate::stdout::text_for_stdout;

/// Error message for `--output-schema` in a conversation.
const NO_CONVERSATION: &str =
    "--output-schema only works in headless runs. Give the prompt with --prompt.";

/// Time limit for writing the result of a run that failed before its prompt, if the reader is slow.
const FINAL_OUTPUT: Duration = Duration::from_secs(2);

/// Input of a run.
pub(crate) struct Start {
    pub(crate) arguments: Arguments,
    pub(crate) process: Process,
    /// Folder of the project, absolute.
    pub(crate) folder: PathBuf,
    /// Recorded conversation that is built into the program.
    pub(crate) recording: Option<String>,
}

/// Runs the main command. Its result reaches standard output in every case, even after a panic.
pub(crate) async fn run(start: Start) -> u8 {
    let format = Cell::new(start.arguments.output_format);
    match Box::pin(AssertUnwindSafe(guarded(start, &format)).catch_unwind()).await {
        Ok(code) => code,
        Err(panic) => fail(format.get(), &bug(panic.as_ref()), None).await,
    }
}

fn bug(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Failure::general(format!("This is a bug in Pollux, please report it: {text}"))
}

/// Runs the main command. `format` is set to the format of standard output as soon as it is known.
async fn guarded(start: Start, format: &Cell<Option<OutputFormat>>) -> u8 {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            let message = format!("Cannot register signal handlers: {error}.");
            return fail(format.get(), &Failure::general(message), None).await;
        }
    };
    if start.arguments.acp {
        return acp::run(start, &mut signals).await;
    }
    let begun = match begin(start) {
        Ok(begun) => begun,
        Err(failure) => return fail(format.get(), &failure, None).await,
    };
    if let Some(result) = serve(&begun).await {
        return match result {
            Ok(text) => print(&text, 0).await,
            Err(failure) => fail(format.get(), &failure, None).await,
        };
    }
    if begun.request.operator.is_some() {
        return match Box::pin(converse(begun, &mut signals)).await {
            Ok(code) => code,
            Err(failure) => fail(None, &failure, None).await,
        };
    }
    match work(begun, format, &mut signals).await {
        Ok(Ok(code)) => code,
        Ok(Err(broken)) => output_ended(broken),
        Err((failure, id)) => fail(format.get(), &failure, id.as_deref()).await,
    }
}

/// A run whose session is not open yet.
struct Begun {
    arguments: Arguments,
    host: Host,
    user: TerminalUser,
    request: SessionRequest,
    /// Statistics of the run.
    statistics: Arc<Statistics>,
    /// True if the prompt and the model are built into the program.
    is_demo: bool,
}

impl Begun {
    fn sessions(&self) -> &dyn Sessions {
        &self.host
    }
}

/// Creates the request for the session of a run.
fn begin(start: Start) -> Result<Begun, Failure> {
    let Start { arguments, process, folder, recording } = start;
    let given = arguments.output_schema.as_deref();
    let schema = given.map(|given| OutputSchema::read(given, &folder)).transpose();
    let answer_schema = schema.map_err(Failure::general)?;
    let is_demo = recording.is_some();
    let has_user = !is_demo && is_conversation(&arguments, &process)?;
    if has_user && answer_schema.is_some() {
        return Err(Failure::general(NO_CONVERSATION));
    }
    let options = arguments.options();
    let options = RunOptions {
        answer_schema,
        has_editor: HAS_EDITOR,
        replay: recording.map(ReplaySource::Text).or(options.replay),
        ..options
    };
    let user = TerminalUser::new(user_options(&arguments, &process, folder.clone()));
    let Process { called_as, environment } = process;
    let host = Host { environment, options, called_as };
    let statistics = Arc::<Statistics>::default();
    let request = SessionRequest {
        operator: has_user.then(|| user.operator()),
        notices: user.notices(),
        observers: vec![statistics.clone()],
        can_switch: has_user,
        live_settings: if has_user { pollux_tui::LIVE_SETTINGS } else { &[] },
        ..arguments.request(folder)
    };
    Ok(Begun { arguments, host, user, request, statistics, is_demo })
}

fn user_options(arguments: &Arguments, process: &Process, folder: PathBuf) -> UserOptions {
    let environment = &process.environment;
    let (keys, key_messages) = key_map(environment);
    UserOptions {
        version: version(),
        called_as: process.called_as.clone(),
        raw_output: arguments.keeps_escapes(),
        is_coloured: wants_colour(|name| environment.get(name).map(Into::into)),
        cuts_rows: cuts_rows(|name| environment.get(name).map(Into::into)),
        terminal: TerminalKind::of(|name| environment.get(name).map(Into::into)),
        home: environment.get(names::HOME).map(PathBuf::from),
        is_dumb: environment.get("TERM").is_some_and(|name| name == "dumb"),
        first_prompt: arguments.positional_prompt().or(arguments.prompt_interactive.clone()),
        clipboard: Arc::new(DesktopClipboard::new(environment.clone())),
        editor: Arc::new(TerminalEditor::new(environment.clone(), folder.clone())),
        describe_failure: |outcome| Failure::outcome(outcome).map(|failure| failure.message),
        notices: notices(),
        keys,
        key_messages,
        show_question: screen::show_question(environment.clone(), folder, arguments.screen_reader),
    }
}

/// Returns the keys with the user's bindings, and messages about those that have no effect.
fn key_map(environment: &Environment) -> (Arc<KeyMap>, Vec<String>) {
    let path = Places::new(environment).key_bindings();
    let (bindings, mut messages) = read_key_bindings(&path);
    if bindings.is_empty() {
        return (KeyMap::usual(), messages);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (keys, more) = KeyMap::with(&bindings, &name);
    messages.extend(more);
    (Arc::new(keys), messages)
}

/// Returns true for a terminal that cuts rows when it becomes narrower: xterm, and the console of
/// Linux. All others fold the rows.
fn cuts_rows(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable(names::XTERM_VERSION).is_some()
        || variable(names::TERM).is_some_and(|name| name == "linux")
}

/// Returns true for a run at a terminal without `--prompt`. A prompt in the words of the command
/// line begins the conversation, unless another flag requests a result for a program.
fn is_conversation(arguments: &Arguments, process: &Process) -> Result<bool, Failure> {
    let (stdin, stdout) = (std::io::stdin().is_terminal(), std::io::stdout().is_terminal());
    if arguments.prompt_interactive.as_deref().is_none_or(str::is_empty) {
        let has_prompt = arguments.positional_prompt().is_some();
        let headless = is_headless(arguments, stdin, stdout, &process.environment)
            || has_prompt && arguments.wants_result();
        return Ok(!headless);
    }
    let refusal = match (stdin, stdout) {
        (true, true) => return Ok(true),
        (false, _) => "cannot be used when input is piped from stdin.",
        (true, false) => "cannot be used when output is not a terminal.",
    };
    Err(Failure::input(format!("Error: The --prompt-interactive flag {refusal}")))
}

/// Returns the format of standard output: from the flag, otherwise from the settings.
fn output_format(arguments: &Arguments, settings: &SettingValues) -> OutputFormat {
    let is_json = settings.get("output.format").is_some_and(|format| format == "json");
    let configured = if is_json { OutputFormat::Json } else { OutputFormat::Text };
    arguments.output_format.unwrap_or(configured)
}

/// Returns the text that `--list-extensions`, `--list-sessions` or `--delete-session` print; `None`
/// without these flags.
async fn serve(begun: &Begun) -> Option<Result<String, Failure>> {
    let Begun { arguments, request, .. } = begun;
    // Problems of policy files do not matter to these flags, and nothing is asked.
    let request = SessionRequest { operator: None, ..request.clone() };
    if arguments.list_extensions {
        let setup = begun.host.look(&request).map_err(Failure::from);
        return Some(setup.map(|setup| extensions::names(&setup)));
    }
    if arguments.list_sessions {
        // The setting of the format does not apply, because scripts for Gemini CLI expect text.
        let format = arguments.output_format.unwrap_or(OutputFormat::Text);
        let folder = request.folder.clone();
        let listed = begun.sessions().list(request).await.map(|sessions| match format {
            OutputFormat::Text => format_list(&sessions, None, Timestamp::now()),
            OutputFormat::Json | OutputFormat::StreamJson => {
                format_list_as_json(&sessions, &folder)
            }
        });
        return Some(listed.map_err(Failure::from));
    }
    let identifier = arguments.delete_session.as_ref()?;
    let deleted = begun.sessions().delete(request, identifier).await;
    let deleted =
        deleted.map(|session| format!("{}\n", format_deleted(&session, Timestamp::now())));
    Some(deleted.map_err(Failure::from))
}

/// Runs a conversation to its end.
async fn converse(begun: Begun, signals: &mut Signals) -> Result<u8, Failure> {
    let opening = begun.sessions().open(begun.request.clone());
    let session = unless_interrupted(&begun.user, signals, opening).await?;
    signals.be_patient();
    let Begun { host, user, request, .. } = begun;
    let settings = session.settings();
    let is_for_reader = session.facts().is_for_screen_reader;
    let stream = signals.stream();
    let end = if is_screen(&host.environment, &settings, is_for_reader) {
        pollux_tui::talk(user, &host, &request, session, stream).await
    } else {
        pollux_line::talk(user, &host, &request, session, stream).await
    };
    let end = end
        .map_err(|error| Failure::general(format!("Cannot register signal handlers: {error}.")))?;
    Ok(crate::exit::conversation_code(end))
}

/// Reports effects of this run's flags that the user should know.
fn report_flags(arguments: &Arguments, facts: &SessionFacts, format: OutputFormat) {
    if facts.is_debug {
        stderr_line(&format!("Session ID: {}", facts.id));
    }
    let raw = arguments.raw_output && !arguments.accept_raw_output_risk;
    if raw && format == OutputFormat::Text {
        stderr_line(
            "[WARNING] --raw-output is enabled. Escape sequences in the model's output reach your terminal unfiltered, including harmful ones. Use --accept-raw-output-risk to silence this warning.",
        );
    }
}

/// Runs the only prompt to its end. `format` is set as soon as the settings are known. A failure
/// comes with the id of the session, if it was known.
async fn work(
    begun: Begun,
    format: &Cell<Option<OutputFormat>>,
    signals: &mut Signals,
) -> Result<Ended, (Failure, Option<String>)> {
    let (arguments, called_as) = (&begun.arguments, &begun.host.called_as);
    let prepared = begun.sessions().prepare(begun.request.clone()).await.map_err(|error| {
        if let Some(settings) = &error.settings {
            format.set(Some(output_format(arguments, settings)));
        }
        let session = error.session.clone();
        (error.into(), session)
    })?;
    let (id, settings) = (prepared.facts().id.clone(), prepared.settings());
    format.set(Some(output_format(arguments, &settings)));
    let format = format.get().unwrap_or_default();
    let typed = arguments.prompt_text().unwrap_or_default();
    let stdin = stdin_mode(&begun, &settings);
    let prompt = unless_signalled(signals, input::prompt(&typed, stdin, called_as));
    let prompt = prompt.await.map_err(|failure| (failure, Some(id.clone())))?;
    let started = Instant::now();
    report_flags(arguments, prepared.facts(), format);
    let is_structured = begun.host.options.answer_schema.is_some();
    let form = if is_structured { structured_output_of } else { output_of };
    let (mut output, mut out) = (form(format, arguments.keeps_escapes()), Stdout::default());
    let (model, mode) = (prepared.facts().model.clone(), prepared.facts().mode);
    output.begin(&mut out, &Opening { session_id: &id, model: &model, prompt: &prompt });
    let opened = unless_signalled(signals, Input::open(prepared, &typed, prompt));
    let (input, session) = match opened.await {
        Ok(opened) => opened,
        Err(failure) => {
            end_early(output.as_mut(), out, &failure, Some(&id)).await;
            return Ok(Ok(failure.exit_code(format != OutputFormat::Text)));
        }
    };
    let handle = session.handle();
    let run = Run {
        handle: handle.as_ref(),
        statistics: &begun.statistics,
        session_id: &id,
        command: input.command,
        prompt: Op::Prompt {
            id: uuid::Uuid::new_v4().simple().to_string(),
            input: PromptInput::shown(input.parts, input.display),
        },
        started,
        json: format != OutputFormat::Text,
        mode,
        narrated: format == OutputFormat::Text
            && (begun.is_demo || std::io::stderr().is_terminal()),
        has_status: can_show_status(),
    };
    let ended = run.drive(output.as_mut(), &mut out, signals).await;
    drop(handle);
    session.close().await;
    Ok(ended)
}

/// Returns how a run reads standard input.
fn stdin_mode(begun: &Begun, settings: &SettingValues) -> StdinMode {
    if begun.is_demo || begun.arguments.no_stdin {
        return StdinMode::Ignored;
    }
    StdinMode::Read { timeout: stdin_timeout(settings) }
}

/// Returns the time limit for the first byte of standard input if there is a prompt without it;
/// `None` for no limit.
fn stdin_timeout(settings: &SettingValues) -> Option<Duration> {
    let seconds = settings.get("pollux.stdinTimeout").and_then(Value::as_f64).unwrap_or_default();
    Duration::try_from_secs_f64(seconds).ok().filter(|timeout| !timeout.is_zero())
}

/// Returns the result of some work, unless a signal ends the run first.
async fn unless_signalled<T, E>(
    signals: &mut Signals,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Failure>
where
    Failure: From<E>,
{
    tokio::select! {
        biased;
        code = signals.next() => Err(Failure::cancelled(code)),
        done = work => done.map_err(Failure::from),
    }
}

/// Returns the result of work that asks the user at the terminal, unless a signal ends the run
/// first.
async fn unless_interrupted<T, E>(
    user: &TerminalUser,
    signals: &mut Signals,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Failure>
where
    Failure: From<E>,
{
    let done = unless_signalled(signals, work).await;
    if done.is_err() {
        user.interrupted().await;
    }
    done
}

/// Prints a text and returns the exit code: `code` if standard output has accepted all of it.
pub(crate) async fn print(text: &str, code: u8) -> u8 {
    let mut out = Stdout::default();
    out.push(text_for_stdout(text).as_bytes());
    out.finish().await.map_or_else(output_ended, |()| code)
}

/// Returns the exit code for a standard output that accepts no more data.
fn output_ended(broken: Broken) -> u8 {
    match broken {
        // The reader has closed the pipe, which is not an error.
        Broken::Closed => 0,
        Broken::Failed(reason) => {
            stderr_line(&format!("Cannot write to standard output: {reason}."));
            1
        }
    }
}

/// Ends a run that failed before its prompt: prints the message to standard error, and in the JSON
/// formats the terminal result to standard output.
pub(crate) async fn fail(
    format: Option<OutputFormat>,
    failure: &Failure,
    session_id: Option<&str>,
) -> u8 {
    let format = format.unwrap_or_default();
    end_early(output_of(format, false).as_mut(), Stdout::default(), failure, session_id).await;
    failure.exit_code(format != OutputFormat::Text)
}

async fn end_early(
    output: &mut (dyn Output + Send),
    mut out: Stdout,
    failure: &Failure,
    session_id: Option<&str>,
) {
    let statistics = Statistics::default();
    let ending = Ending {
        session_id,
        outcome: None,
        failure: Some(failure),
        statistics: Some(&statistics),
        duration: Duration::ZERO,
    };
    output.end(&mut out, &ending);
    // A reader that has left, or does not read, gets no result.
    drop(tokio::time::timeout(FINAL_OUTPUT, out.finish()).await);
}
