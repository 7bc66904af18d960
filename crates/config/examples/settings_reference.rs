//! Prints the settings reference in Markdown: `docs/generated/settings.md`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", pollux_config::schema::reference());
}
