//! Values of options, generated from the tables.

use super::super::table::Usage;
use super::super::*;

/// Returns every option of every table that takes a separate value, after the program and the
/// subcommands.
fn options() -> Vec<String> {
    let mut options = Vec::new();
    for (program, text) in tables::TABLES {
        collect(&mut options, program, &Usage::parse(text).unwrap());
    }
    options
}

fn collect(options: &mut Vec<String>, before: &str, usage: &Usage) {
    // The arguments of other programs need not be known.
    if usage.any_arguments {
        return;
    }
    let separate =
        usage.options.iter().filter(|(name, kind)| !kind.is_optional && !usage.has_flag(name));
    options.extend(separate.map(|(name, _)| format!("{before} {name}")));
    for (name, inner) in &usage.subcommands {
        collect(options, &format!("{before} {name}"), inner);
    }
    if let Some(other) = &usage.otherwise {
        collect(options, before, other);
    }
}

fn is_known(text: &str) -> bool {
    let line = read(text, Dialect::Bash);
    line.is_parsed() && line.commands.iter().all(|command| command.known(0).is_ok())
}

#[test]
fn no_separate_value_begins_with_a_dash() {
    let options = options();
    assert!(options.len() > 300, "{}", options.len());
    let mut known = Vec::new();
    for option in options {
        for value in ["--output=x", "--config=x", "-oProxyCommand=x", "-~", "-1x/y", "--"] {
            for rest in ["", " x", " -- --output=x", " -a x"] {
                let text = format!("{option} {value}{rest}");
                if is_known(&text) {
                    known.push(text);
                }
            }
        }
    }
    assert!(known.is_empty(), "{}", known.join("\n"));
}

#[test]
fn negative_numbers_and_standard_output_are_values() {
    for text in [
        "find . -mtime -7 -size -10k",
        "git log -n -1",
        "xxd -s -16 f",
        "wget -qO - https://example.org/x",
        "git branch --merged",
        "git branch -r --merged main",
        "git tag --contains",
    ] {
        assert!(is_known(text), "{text}");
    }
}
