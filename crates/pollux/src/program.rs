//! One run from start to exit code: settings, session, prompt, agent, result.

use std::any::Any;
use std::cell::Cell;
use std::io::IsTerminal;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use pollux_config::Environment;
use pollux_protocol::Op;
use pollux_session::Statistics;

use crate::answer_schema;
use crate::arguments::{Arguments, DemoArguments, OutputFormat, PolicyArguments, PromptArguments};
use crate::assemble::{FAREWELL, Launch};
use crate::consent;
use crate::demo::Demo;
use crate::exit::Failure;
use crate::headless::{
    Ended, Ending, Opening, Output, Run, output_of, stderr_line, structured_output_of,
};
use crate::input::{self, Input};
use crate::line::Typed;
use crate::memory::Memory;
use crate::sessions::{self, Opened};
use crate::setup::{Beginning, Setup, Start};
use crate::signals::Signals;
use crate::stdout::{Broken, Stdout};

/// Runs with the arguments of the command line.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    in_runtime(async move {
        let environment = Environment::from_process();
        let format = arguments.output_format;
        match std::env::current_dir() {
            Ok(cwd) => match with_schema(arguments, &cwd) {
                Ok(arguments) => {
                    headless(Start { arguments, environment, cwd, replay: None }).await
                }
                Err(failure) => fail(format, &failure, None).await,
            },
            Err(error) => {
                let message = format!("The current directory cannot be found: {error}.");
                fail(format, &Failure::general(message), None).await
            }
        }
    })
}

/// The arguments with the schema that they name.
fn with_schema(mut arguments: Arguments, cwd: &Path) -> Result<Arguments, Failure> {
    if let Some(given) = &arguments.output_schema {
        let schema = answer_schema::read(given, cwd).map_err(Failure::general)?;
        arguments.answer_schema = Some(schema);
    }
    Ok(arguments)
}

/// Answers a question about the policy rules.
pub(crate) fn policy(arguments: PolicyArguments) -> ExitCode {
    in_runtime(async move {
        let environment = Environment::from_process();
        let asked = match std::env::current_dir() {
            Ok(cwd) => crate::policy::explain::answer(arguments, environment, cwd),
            Err(error) => {
                Err(Failure::general(format!("The current directory cannot be found: {error}.")))
            }
        };
        let (text, code) = match asked {
            Ok(answer) => answer,
            Err(failure) => return fail(None, &failure, None).await,
        };
        let mut out = Stdout::default();
        out.push(text.as_bytes());
        out.finish().await.map_or_else(output_ended, |()| code)
    })
}

/// Shows what would be sent before the first prompt.
pub(crate) fn prompt(arguments: PromptArguments) -> ExitCode {
    in_runtime(async move {
        let environment = Environment::from_process();
        let shown = match std::env::current_dir() {
            Ok(cwd) => crate::prompt::show::answer(arguments, environment, cwd).await,
            Err(error) => {
                Err(Failure::general(format!("The current directory cannot be found: {error}.")))
            }
        };
        let text = match shown {
            Ok(text) => text,
            Err(failure) => return fail(None, &failure, None).await,
        };
        let mut out = Stdout::default();
        out.push(text.as_bytes());
        out.finish().await.map_or_else(output_ended, |()| 0)
    })
}

/// Runs the demonstration.
pub(crate) fn demo(arguments: &DemoArguments) -> ExitCode {
    let environment = Environment::from_process();
    let format = arguments.output_format;
    in_runtime(async move {
        let demo = match Demo::prepare(arguments, &environment) {
            Ok(demo) => demo,
            Err(failure) => return fail(format, &failure, None).await,
        };
        demo.introduce();
        let code = headless(demo.start(&environment)).await;
        if let Some(text) = demo.conclude() {
            let mut out = Stdout::default();
            out.push(text.as_bytes());
            // A reader that has left has seen what it wanted.
            drop(out.finish().await);
        }
        code
    })
}

/// A runtime of one thread; what is left behind at the end is ended.
fn in_runtime(work: impl Future<Output = u8>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            stderr_line(&format!("The system gives no resources to start: {error}."));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(work);
    runtime.shutdown_background();
    pollux_shell::reap_all();
    ExitCode::from(code)
}

/// A run whose result reaches standard output whatever happens, a panic included.
async fn headless(start: Start) -> u8 {
    let format = Cell::new(start.arguments.output_format);
    match AssertUnwindSafe(guarded(start, &format)).catch_unwind().await {
        Ok(code) => code,
        Err(panic) => fail(format.get(), &bug(panic.as_ref()), None).await,
    }
}

fn bug(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Failure::general(format!("This is a bug in Pollux, please report it: {text}"))
}

/// `format` is what standard output looks like, as soon as it is known.
async fn guarded(start: Start, format: &Cell<Option<OutputFormat>>) -> u8 {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            let message = format!("Signals cannot be heard: {error}.");
            return fail(format.get(), &Failure::general(message), None).await;
        }
    };
    let (setup, typed) = match set_up(start, &mut signals).await {
        Ok(ready) => ready,
        Err(failure) => return fail(format.get(), &failure, None).await,
    };
    format.set(Some(setup.output_format()));
    if let Some(result) = sessions::serve(&setup) {
        return match result {
            Ok(text) => {
                let mut out = Stdout::default();
                out.push(text.as_bytes());
                out.finish().await.map_or_else(output_ended, |()| 0)
            }
            Err(failure) => fail(format.get(), &failure, None).await,
        };
    }
    let opened = match sessions::open(&setup) {
        Ok(opened) => opened,
        Err(failure) => return fail(format.get(), &failure, None).await,
    };
    let id = opened.id.clone();
    if setup.interactive && setup.arguments.answer_schema.is_some() {
        return fail(None, &Failure::general(NO_CONVERSATION), None).await;
    }
    if setup.interactive {
        return match crate::line::run(setup, opened, typed, &mut signals).await {
            Ok(code) => code,
            Err(failure) => fail(None, &failure, None).await,
        };
    }
    match work(setup, opened, &mut signals).await {
        Ok(Ok(code)) => code,
        Ok(Err(broken)) => output_ended(broken),
        Err(failure) => fail(format.get(), &failure, Some(&id)).await,
    }
}

/// The settings of the run, once it is decided what of the project takes effect; and what is typed, when
/// that had to be asked.
async fn set_up(start: Start, signals: &mut Signals) -> Result<(Setup, Option<Typed>), Failure> {
    let mut beginning = Beginning::read(start)?;
    let (accepted, typed) = consent::settle(&mut beginning, signals).await?;
    Ok((Setup::read(beginning, accepted)?, typed))
}

/// What `--output-schema` is answered with in a conversation.
const NO_CONVERSATION: &str = "--output-schema is for runs without a person, whose one answer a program reads. Give the prompt with --prompt.";

/// What flags of this run a person should be told of.
fn tell_what_is_special(setup: &Setup, session_id: &str) {
    let arguments = &setup.arguments;
    if arguments.debug {
        stderr_line(&format!("Session ID: {session_id}"));
    }
    let raw = arguments.raw_output && !arguments.accept_raw_output_risk;
    if raw && setup.output_format() == OutputFormat::Text {
        stderr_line(
            "[WARNING] --raw-output is enabled. Escape sequences in the model's words reach your terminal as they are, harmful ones too. Use --accept-raw-output-risk to silence this warning.",
        );
    }
}

/// The exit code when standard output took no more.
fn output_ended(broken: Broken) -> u8 {
    match broken {
        // The reader has left: that is its right.
        Broken::Closed => 0,
        Broken::Failed(reason) => {
            stderr_line(&format!("Standard output cannot be written: {reason}."));
            1
        }
    }
}

/// From an open session to the end of the prompt.
async fn work(setup: Setup, mut opened: Opened, signals: &mut Signals) -> Result<Ended, Failure> {
    let models = setup.models().await?;
    let wishes = setup.prompt_wishes()?;
    let spending = setup.spending(&opened.figures)?;
    let prompt = unless_signalled(signals, input::prompt(&setup)).await?;
    let started = Instant::now();
    let format = setup.output_format();
    tell_what_is_special(&setup, &opened.id);
    let is_structured = setup.arguments.answer_schema.is_some();
    let form = if is_structured { structured_output_of } else { output_of };
    let (mut output, mut out) = (form(format, setup.raw_output()), Stdout::default());
    let opening = Opening { session_id: &opened.id, model: &setup.model, prompt: &prompt };
    output.begin(&mut out, &opening);
    let prepared = unless_signalled(signals, Input::prepare(&setup, prompt)).await;
    let ready = prepared.and_then(|input| Ok((input, opened.take_log(&setup)?)));
    let (input, log) = match ready {
        Ok(ready) => ready,
        Err(failure) => {
            end_early(output.as_mut(), out, &failure, Some(&opened.id)).await;
            return Ok(Ok(failure.exit_code(format != OutputFormat::Text)));
        }
    };
    let is_demo = setup.replay.is_some();
    let Opened { id, history, statistics, .. } = opened;
    let hooks = setup.hooks(&id, Some(log.path().to_owned()));
    let (commands, memory) = (crate::commands::all(), Arc::new(Memory::read(&setup)));
    let launch = Launch {
        models,
        log,
        session_id: &id,
        history,
        statistics,
        commands,
        hooks,
        wishes,
        memory,
        spending,
    };
    let assembled = setup.start(launch);
    let run = Run {
        handle: &assembled.handle,
        statistics: &assembled.statistics,
        session_id: &id,
        op: Op::Prompt {
            id: uuid::Uuid::new_v4().simple().to_string(),
            parts: input.parts,
            display: input.display,
        },
        started,
        json: format != OutputFormat::Text,
        narrated: format == OutputFormat::Text && (is_demo || std::io::stderr().is_terminal()),
    };
    let ended = run.drive(output.as_mut(), &mut out, signals).await;
    assembled.close().await;
    Ok(ended)
}

/// What comes of some work, unless a signal ends the run before.
async fn unless_signalled<T>(
    signals: &mut Signals,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        code = signals.next() => Err(Failure::cancelled(code)),
        done = work => done,
    }
}

/// Ends a run that came to no prompt: the message on standard error, and in the JSON formats the one
/// terminal result on standard output.
async fn fail(format: Option<OutputFormat>, failure: &Failure, session_id: Option<&str>) -> u8 {
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
    drop(tokio::time::timeout(FAREWELL, out.finish()).await);
}
