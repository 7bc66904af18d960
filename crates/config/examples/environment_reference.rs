//! Prints the reference of the environment variables in Markdown: `docs/environment.md`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", pollux_config::environment::names::reference());
}
