//! Program entry: turns arguments into an exit code. `pollux_host` opens sessions; this crate
//! contains the command line, the output of headless runs, the subcommands and the exit codes.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod allocator;
mod arguments;
mod config;
mod demo;
mod editor;
mod exit;
mod headless;
mod hooks;
mod input;
mod inspection;
mod policy;
mod process;
mod process_memory;
mod program;
mod prompt;
mod run;
mod sandbox;
mod signals;
mod stderr;
mod stdout;
mod trust;

use std::process::ExitCode;

use arguments::{Exit, Invocation};
use process::Process;

fn main() -> ExitCode {
    // First of all, while this process is unchanged: it may be a helper of another Pollux process.
    if let Some(code) = pollux_shell::helper() {
        return code;
    }
    allocator::settle();
    process_memory::hide();
    let process = Process::read();
    match arguments::parse(std::env::args_os(), &process.called_as) {
        Ok(Invocation::Run(arguments)) => program::run(process, *arguments),
        Ok(Invocation::Demo(arguments)) => program::demo(process, &arguments),
        Ok(Invocation::Config(arguments)) => config::run(&process, &arguments),
        Ok(Invocation::Policy(arguments)) => program::policy(&process, &arguments),
        Ok(Invocation::Prompt(arguments)) => program::prompt(&process, arguments),
        Ok(Invocation::Hooks(arguments)) => hooks::run(&process, &arguments),
        Ok(Invocation::Sandbox(arguments)) => program::sandbox(&process, &arguments),
        Ok(Invocation::Trust(arguments)) => trust::run(&process, &arguments),
        Ok(Invocation::Completions(shell)) => print(&arguments::completions(shell)),
        Ok(Invocation::Man) => print(&String::from_utf8_lossy(&arguments::man())),
        Err(Exit { code, stdout, stderr }) => {
            stderr::print_once(&stderr);
            stdout::print_once(&stdout);
            ExitCode::from(code)
        }
    }
}

fn print(text: &str) -> ExitCode {
    stdout::print_once(text);
    ExitCode::SUCCESS
}
