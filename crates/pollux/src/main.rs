//! The program: arguments in, exit code out. Everything between is in the modules; `assemble.rs` is
//! where the crates meet.

mod allocator;
mod ansi;
mod answer_schema;
mod arguments;
mod assemble;
mod auto_memory;
mod budget;
mod commands;
mod config;
mod consent;
mod demo;
mod discovery;
mod exit;
mod headless;
mod hooks;
mod input;
mod line;
mod memory;
mod policy;
mod program;
mod prompt;
mod reports;
mod sessions;
mod setup;
mod signals;
mod stdout;
mod telemetry;

use std::io::Write;
use std::process::ExitCode;

use arguments::{Exit, Invocation};

fn main() -> ExitCode {
    allocator::settle();
    hide_memory();
    match arguments::parse(std::env::args_os(), &called_as()) {
        Ok(Invocation::Run(arguments)) => program::run(*arguments),
        Ok(Invocation::Demo(arguments)) => program::demo(&arguments),
        Ok(Invocation::Config(arguments)) => config::run(&arguments),
        Ok(Invocation::Policy(arguments)) => program::policy(arguments),
        Ok(Invocation::Prompt(arguments)) => program::prompt(arguments),
        Ok(Invocation::Hooks(arguments)) => hooks::run(&arguments),
        Ok(Invocation::Completions(shell)) => print(arguments::completions(shell).as_bytes()),
        Ok(Invocation::Man) => print(&arguments::man()),
        Err(Exit { code, stdout, stderr }) => {
            drop(std::io::stderr().write_all(stderr.as_bytes()));
            print(stdout.as_bytes());
            ExitCode::from(code)
        }
    }
}

/// Keeps commands of the model from reading this process's environment and memory through `/proc`: keys
/// are in them.
#[cfg(target_os = "linux")]
fn hide_memory() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    // Where the kernel refuses, commands are no worse off than the person who starts them.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
}

/// Other systems show a process's environment to its owner; nothing can be done from inside.
#[cfg(not(target_os = "linux"))]
fn hide_memory() {}

/// Prints to standard output. A closed pipe ends quietly.
fn print(bytes: &[u8]) -> ExitCode {
    drop(std::io::stdout().write_all(bytes));
    ExitCode::SUCCESS
}

/// The name that the program was called by, for hints.
fn called_as() -> String {
    let path = std::env::args_os().next().map(std::path::PathBuf::from);
    let name = path.as_ref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy());
    name.map_or_else(|| "pollux".to_owned(), std::borrow::Cow::into_owned)
}
