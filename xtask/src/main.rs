//! The development tasks of this repository, as one program: `cargo xtask VERB`.
//!
//! `check` checks the code against the rules of `ARCHITECTURE.md`, `gen` writes the reference
//! material under `docs/`, `fuzz` runs the fuzz targets, `mutants` tests the tests, `interop` runs
//! the tests against external programs, `bench` compares Pollux with its peers, `prove` tests the
//! guarantees of Pollux, `screens` writes the screens of the documentation. `ci`, `gate` and
//! `nightly` are sequences of them. This program is not part of the product, and no crate depends
//! on it.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task reports to the person who started it"
)]

mod bench;
mod check;
mod ci;
mod circles;
mod finding;
mod fuzz;
mod generate;
mod interop;
mod layers;
mod mutants;
mod process;
mod prose;
mod prove;
mod screens;
mod shape;
mod source;
mod steps;
mod tokens;
mod tool_names;
mod type_names;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks of this repository
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Check the rules: format, layers, imports, sizes, generated files
    Check {
        /// Format and regenerate instead of complaining about it
        #[arg(long)]
        fix: bool,
    },
    /// Write the reference material under docs/
    Gen {
        /// Only compare, and name each file that is stale
        #[arg(long)]
        check: bool,
    },
    /// Run what every change must pass: check, clippy, test
    Ci,
    /// Run what every submission must pass: ci, the demo, samples of the long tests
    Gate,
    /// Run every test whole
    Nightly,
    /// Run the fuzz targets, each for a while, or only their committed inputs
    Fuzz(fuzz::Options),
    /// Run mutation tests of the modules that make decisions
    Mutants(mutants::Options),
    /// Run the tests against real outside programs, under interop/
    Interop(interop::Options),
    /// Measure Pollux and its peers from npm, and write bench/RESULTS.md; or compare its figures
    /// with their goals
    Bench(bench::Options),
    /// Compare the screens of the documentation with those of the program, or write them
    Screens(screens::Options),
    /// Prove the guarantees of Pollux
    Prove {
        #[command(subcommand)]
        proof: prove::Proof,
    },
}

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

fn run() -> anyhow::Result<ExitCode> {
    let root = process::repository_root()?;
    match Arguments::parse().verb {
        Verb::Check { fix } => check::run(&root, fix),
        Verb::Gen { check: false } => generate::write(&root),
        Verb::Gen { check: true } => generate::compare(&root).map(|stale| finding::report(&stale)),
        Verb::Ci => ci::run(&root),
        Verb::Gate => ci::gate(&root),
        Verb::Nightly => ci::nightly(&root),
        Verb::Fuzz(options) => fuzz::run(&root, &options),
        Verb::Mutants(options) => mutants::run(&root, &options),
        Verb::Interop(options) => interop::run(&root, &options),
        Verb::Bench(options) => bench::run(&root, &options),
        Verb::Screens(options) => screens::run(&root, &options),
        Verb::Prove { proof } => prove::run(&root, &proof),
    }
}
