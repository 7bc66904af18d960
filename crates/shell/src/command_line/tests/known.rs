//! Lines with the result expected from the programs' tables.

use super::super::*;

/// Returns the effect of a whole line according to the tables, under a rule that names its first
/// words. Returns an error for a line that is not parsed.
fn answer(text: &str, rule: &str) -> Result<Option<Does>, String> {
    let line = read(text, Dialect::Bash);
    if let Some(gap) = line.beyond {
        return Err(gap.construct.describe().to_owned());
    }
    let mut does = None;
    for command in line.commands.iter().filter(|command| command.name() != "cd") {
        let is_named = !rule.is_empty() && command.shown().starts_with(rule);
        let named = if is_named { rule.split(' ').count() } else { 0 };
        let known = command.known(named).map_err(|reason| reason.describe(command.name()))?;
        does = does.max(known.does);
    }
    Ok(does)
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("## "))
}

fn check(text: &str, expected: Does) {
    let wrong: Vec<String> = lines(text)
        .map(|line| (line, answer(line, "")))
        .filter(|(_, answer)| *answer != Ok(Some(expected)))
        .map(|(line, answer)| format!("{line}: {answer:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_that_read_are_known() {
    check(include_str!("known_reads.txt"), Does::Reads);
}

#[test]
fn lines_that_change_are_known() {
    check(include_str!("known_changes.txt"), Does::Changes);
    check(include_str!("known_configures_git.txt"), Does::ConfiguresGit);
    check("git config --global user.email a@b.example", Does::ConfiguresUser);
}

#[test]
fn lines_that_write_or_run_more_than_they_show_are_not_known() {
    let known: Vec<&str> =
        lines(include_str!("not_known.txt")).filter(|line| answer(line, "").is_ok()).collect();
    assert!(known.is_empty(), "{}", known.join("\n"));
}

/// The list has rules, given by the words that they name, each with a line that the rule must not
/// cover.
#[test]
fn rules_do_not_cover_more_than_the_tables() {
    let covered: Vec<&str> = lines(include_str!("not_covered.txt"))
        .filter(|line| {
            let (rule, line) = line.split_once(": ").unwrap();
            answer(line, rule).is_ok()
        })
        .collect();
    assert!(covered.is_empty(), "{}", covered.join("\n"));
}

/// The list has, from the manual pages of programs with a table, the options that run a program,
/// load code or options, or write a file. No table may list one of them.
#[test]
fn no_table_lists_an_option_that_runs_programs() {
    let mut listed = Vec::new();
    for line in lines(include_str!("running_options.txt")) {
        let (program, options) = line.split_once(": ").unwrap();
        for option in options.split(' ') {
            let option = option.replace('_', " ");
            for text in [
                format!("{program} {option}"),
                format!("{program} {option} x"),
                format!("{program} {option}=x"),
                format!("{program} {option}x"),
                format!("{program} {option} x y"),
                format!("{program} x {option}"),
                format!("{program} x y {option} z"),
            ] {
                // These programs take every word after the first operand as an operand.
                let is_operand = matches!(program, "awk" | "ssh") && text.contains(" x ");
                if !is_operand && answer(&text, "").is_ok() {
                    listed.push(text);
                }
            }
        }
    }
    assert!(listed.is_empty(), "{}", listed.join("\n"));
}

/// Minimum share of the lines in transcripts that must be known to only read, in percent.
const KNOWN_SHARE: usize = 95;

#[test]
fn lines_by_which_models_read_a_project_are_known() {
    let list = include_str!("../../../../../prove/reading_lines.txt");
    let (mut count, mut explained) = (0, 0);
    let mut has_reason = false;
    let mut wrong = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("# not known: ") {
            has_reason = true;
        } else if !line.starts_with('#') {
            count += 1;
            explained += usize::from(has_reason);
            let answer = answer(line, "");
            if (answer == Ok(Some(Does::Reads))) == has_reason {
                wrong.push(format!("{line}\n  {answer:?}"));
            }
            has_reason = false;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(explained * 100 <= count * (100 - KNOWN_SHARE), "{explained} of {count} not known");
}
