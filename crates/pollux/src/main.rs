//! Program entry: turns arguments into an exit code. `pollux_host` opens sessions; this crate
//! contains the command line, the output of headless runs, the subcommands and the exit codes.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod acp;
mod allocator;
mod arguments;
mod auth;
mod clipboard;
mod config;
mod demo;
mod doctor;
mod editor;
mod exit;
mod extensions;
mod headless;
mod hooks;
mod input;
mod inspection;
mod mcp;
mod models;
mod policy;
mod process;
mod process_memory;
mod program;
mod prompt;
mod run;
mod sandbox;
mod screen;
mod sign_in_user;
mod signals;
mod skills;
mod stderr;
mod stdout;
mod trust;

use std::process::ExitCode;

use arguments::{Exit, Invocation, Subcommand};
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
        Ok(Invocation::Subcommand(subcommand)) => run(subcommand, process),
        Err(Exit { code, stdout, stderr }) => {
            stderr::print_once(&stderr);
            stdout::print_once(&stdout);
            ExitCode::from(code)
        }
    }
}

fn run(subcommand: Subcommand, process: Process) -> ExitCode {
    match subcommand {
        Subcommand::Demo(arguments) => program::demo(process, &arguments),
        Subcommand::Auth(arguments) => program::auth(&process, &arguments),
        Subcommand::Config(arguments) => config::run(&process, &arguments),
        Subcommand::Doctor(arguments) => program::doctor(&process, &arguments),
        Subcommand::Extensions(arguments) => program::extensions(process, &arguments),
        Subcommand::Hooks(arguments) => hooks::run(&process, &arguments),
        Subcommand::Mcp(arguments) => program::mcp(process, &arguments),
        Subcommand::Models(arguments) => program::models(process, arguments),
        Subcommand::Policy(arguments) => program::policy(&process, &arguments),
        Subcommand::Prompt(arguments) => program::prompt(&process, arguments),
        Subcommand::Sandbox(arguments) => program::sandbox(&process, &arguments),
        Subcommand::Skills(arguments) => program::skills(process, &arguments),
        Subcommand::Trust(arguments) => trust::run(&process, &arguments),
        Subcommand::Completions(arguments) => print(&arguments::completions(arguments.shell)),
        Subcommand::Man => print(&String::from_utf8_lossy(&arguments::man())),
        Subcommand::Help { subcommand } => {
            print(&arguments::help_of(&subcommand, &process.called_as))
        }
        Subcommand::Version => print(&format!("{}\n", arguments::version())),
    }
}

fn print(text: &str) -> ExitCode {
    stdout::print_once(text);
    ExitCode::SUCCESS
}
