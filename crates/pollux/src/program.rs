//! Commands of the program, each on a single-threaded runtime.

use std::process::ExitCode;

use pollux_input::Stdout;

use crate::arguments::{
    Arguments, AuthArguments, DemoArguments, DoctorArguments, ExtensionsArguments, McpArguments,
    McpVerb, ModelsArguments, PolicyArguments, PromptArguments, SandboxArguments, SkillsArguments,
};
use crate::demo::Demo;
use crate::process::Process;
use crate::run::{self, Start, fail, print};
use crate::stderr::stderr_line;
use crate::stdout::text_for_stdout;

/// Runs the main command with the arguments of the command line.
pub(crate) fn run(process: Process, arguments: Arguments) -> ExitCode {
    in_runtime(async move {
        match Process::folder() {
            Ok(folder) => {
                Box::pin(run::run(Start { arguments, process, folder, recording: None })).await
            }
            Err(failure) => fail(arguments.output_format, &failure, None).await,
        }
    })
}

/// Runs `mcp`: changes, shows or tests servers, or serves a client.
pub(crate) fn mcp(process: Process, arguments: &McpArguments) -> ExitCode {
    in_runtime(async move {
        if let McpVerb::Serve(arguments) = &arguments.verb {
            return Box::pin(crate::mcp::serve(process, arguments)).await;
        }
        let (text, code) = crate::mcp::answer(&process, arguments).await;
        print(&text, code).await
    })
}

/// Runs `models`: lists the models that can be used.
pub(crate) fn models(process: Process, arguments: ModelsArguments) -> ExitCode {
    in_runtime(async move {
        match crate::models::answer(&process, &arguments).await {
            Ok(text) => print(&text, 0).await,
            Err(failure) => fail(None, &failure, None).await,
        }
    })
}

/// Runs `doctor`: checks what a run needs.
pub(crate) fn doctor(process: &Process, arguments: &DoctorArguments) -> ExitCode {
    in_runtime(async move {
        let (text, code) = crate::doctor::answer(process, arguments).await;
        print(&text, code).await
    })
}

/// Runs `auth`: shows the sign-in, or changes it.
pub(crate) fn auth(process: &Process, arguments: &AuthArguments) -> ExitCode {
    in_runtime(async move {
        let (text, code) = crate::auth::answer(process, arguments).await;
        print(&text, code).await
    })
}

/// Runs `skills`: lists, installs or changes skills.
pub(crate) fn skills(process: Process, arguments: &SkillsArguments) -> ExitCode {
    in_runtime(async move {
        let (text, code) = crate::skills::answer(&process, arguments).await;
        print(&text, code).await
    })
}

/// Runs `extensions`: lists, installs or changes extensions.
pub(crate) fn extensions(process: Process, arguments: &ExtensionsArguments) -> ExitCode {
    in_runtime(async move {
        let (text, code) = crate::extensions::answer(&process, arguments).await;
        print(&text, code).await
    })
}

/// Runs `policy`: answers a question about the policy rules.
pub(crate) fn policy(process: &Process, arguments: &PolicyArguments) -> ExitCode {
    in_runtime(async move {
        match crate::policy::answer(process, arguments) {
            Ok((text, code)) => print(&text, code).await,
            Err(failure) => fail(None, &failure, None).await,
        }
    })
}

/// Runs `prompt`: shows the text that would be sent before the first prompt.
pub(crate) fn prompt(process: &Process, arguments: PromptArguments) -> ExitCode {
    in_runtime(async move {
        match crate::prompt::answer(process, arguments).await {
            Ok(text) => print(&text, 0).await,
            Err(failure) => fail(None, &failure, None).await,
        }
    })
}

/// Runs `sandbox`: shows the available confinement, or runs a command in it.
pub(crate) fn sandbox(process: &Process, arguments: &SandboxArguments) -> ExitCode {
    in_runtime(async move {
        match crate::sandbox::answer(process, arguments).await {
            Ok((text, code)) => print(&text, code).await,
            Err(failure) => fail(None, &failure, None).await,
        }
    })
}

/// Runs the demonstration.
pub(crate) fn demo(process: Process, arguments: &DemoArguments) -> ExitCode {
    in_runtime(async move {
        let demo = match Demo::prepare(arguments, process) {
            Ok(demo) => demo,
            Err(failure) => return fail(arguments.output_format, &failure, None).await,
        };
        demo.introduce();
        let code = Box::pin(run::run(demo.start())).await;
        if let Some(text) = demo.conclude() {
            let mut out = Stdout::default();
            out.push(text_for_stdout(&text).as_bytes());
            // A closed pipe is not an error.
            drop(out.finish().await);
        }
        code
    })
}

/// Exit code of a run whose command changed a protected file, if the change cannot be undone.
const CHANGE_NOT_REVERTED: u8 = 54;

/// Runs work on a single-threaded runtime; remaining tasks are cancelled at the end.
fn in_runtime(work: impl Future<Output = u8>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            stderr_line(&format!("Cannot start the async runtime: {error}."));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(work);
    runtime.shutdown_background();
    pollux_shell::reap_all();
    let changes = pollux_shell::sandbox::audit_rest();
    for change in &changes {
        stderr_line(&format!("A command changed a protected path: {change}"));
    }
    let is_undone = changes.iter().all(|change| change.error.is_none());
    ExitCode::from(if is_undone || code != 0 { code } else { CHANGE_NOT_REVERTED })
}
