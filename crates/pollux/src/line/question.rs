//! What a person is asked before a call runs, as numbered choices. Pure.

use std::path::Path;

use pollux_protocol::{Confirmation, ConfirmationKind, Outcome};

use super::external_editor;

/// Lines of a change or of a command that are shown. What is left out is said.
const SHOWN_LINES: usize = 1000;
/// Characters of one of these lines.
const SHOWN_CHARACTERS: usize = 1000;

/// Where a permission for sessions to come is kept, below the folder of settings.
const KEPT_IN: &str = " (policies/auto-saved.toml)";

/// One choice: its words and what it leads to.
pub(super) type Choice = (&'static str, Outcome);

/// Which lasting permissions are on offer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lasting {
    /// For the session: not in a folder that is not trusted, nor against the settings.
    pub(crate) session: bool,
    /// For sessions to come.
    pub(crate) saved: bool,
    /// Enter gives one for sessions to come, where that is on offer.
    pub(crate) preselected: bool,
}

/// The choices, in the order of their numbers.
pub(super) fn choices(kind: &ConfirmationKind, lasting: Lasting) -> Vec<Choice> {
    if let ConfirmationKind::Plan { .. } = kind {
        let quietly = ("Yes, automatically accept edits", Outcome::ProceedAlways);
        let mut choices: Vec<Choice> = lasting.session.then_some(quietly).into_iter().collect();
        choices.push(("Yes, manually accept edits", Outcome::ProceedOnce));
        choices.push(("No, the plan needs work", Outcome::Cancel));
        return choices;
    }
    let always = ("Allow for this session", Outcome::ProceedAlways);
    let mut choices = vec![("Allow once", Outcome::ProceedOnce)];
    choices.extend(lasting.session.then_some(always));
    let saved = match kind {
        ConfirmationKind::Edit { .. } => "Allow for this file in all future sessions",
        ConfirmationKind::Execute { .. } => "Allow this command for all future sessions",
        _ => "Allow for all future sessions",
    };
    let saved = (saved, Outcome::ProceedAlwaysAndSave);
    choices.extend((lasting.session && lasting.saved).then_some(saved));
    let is_edit = matches!(kind, ConfirmationKind::Edit { .. });
    let editor = ("Modify with external editor", Outcome::ModifyWithEditor);
    choices.extend((is_edit && external_editor::IS_THERE).then_some(editor));
    choices.push(("No, suggest changes", Outcome::Cancel));
    choices
}

/// The choice that Enter makes, by its place: keeping the permission, where the person wants that of every question.
/// A command is never kept so.
pub(super) fn preselected(
    kind: &ConfirmationKind,
    choices: &[Choice],
    lasting: Lasting,
) -> Option<usize> {
    let is_command = matches!(kind, ConfirmationKind::Execute { .. });
    let is_kept = |(_, outcome): &Choice| *outcome == Outcome::ProceedAlwaysAndSave;
    choices.iter().position(is_kept).filter(|_| lasting.preselected && !is_command)
}

/// True for a line that is no mistyped number.
pub(super) fn is_words(line: &str) -> bool {
    line.chars().any(char::is_alphabetic)
}

/// The choice that a line names: its number and nothing else.
pub(super) fn chosen(line: &str, choices: &[Choice]) -> Option<Outcome> {
    numbered(line, choices).map(|(_, outcome)| *outcome)
}

/// The item whose number a line is, counted from one.
pub(super) fn numbered<'a, T>(line: &str, items: &'a [T]) -> Option<&'a T> {
    let number: usize = line.trim().parse().ok()?;
    items.get(number.checked_sub(1)?)
}

/// The question with everything that it is about, and its numbered choices.
pub(super) fn text(confirmation: &Confirmation, folder: &Path, choices: &[Choice]) -> String {
    let mut lines = match &confirmation.kind {
        ConfirmationKind::Edit { path, patch, stat, rewrite, .. } => {
            let path = path.strip_prefix(folder).unwrap_or(path).display().to_string();
            let (added, removed) = (stat.model_added_lines, stat.model_removed_lines);
            // The first line says what the patch's heading would.
            let body = patch.find("\n@@").map_or(patch.as_str(), |end| &patch[end + 1..]);
            let mut lines = indented(body);
            lines.insert(0, format!("Change of {} (+{added} -{removed}):", visible(&path)));
            // Last, where it is seen after a long patch.
            lines.extend(rewrite.map(|rewrite| format!("Careful: this {rewrite}.")));
            lines.push("Apply this change?".to_owned());
            lines
        }
        ConfirmationKind::Execute { command, programs, writes, unknown } => {
            let mut lines = indented(command);
            lines.insert(0, "Command:".to_owned());
            let told = [("Runs", programs), ("Writes", writes), ("Cannot tell", unknown)];
            let told = told.into_iter().filter(|(_, found)| !found.is_empty());
            lines.extend(told.map(|(label, found)| {
                format!("{label}: {}", shown(&found.join(", ")).trim_start())
            }));
            lines.push("Allow execution of [Shell]?".to_owned());
            lines
        }
        ConfirmationKind::Plan { path, text } => {
            let mut lines = indented(text);
            let path = visible(&path.display().to_string());
            lines.insert(0, format!("Plan ({path}):"));
            lines.push("Ready to start implementation?".to_owned());
            lines
        }
        // They are asked one by one: see `survey`.
        ConfirmationKind::Questions(_) => Vec::new(),
        ConfirmationKind::Information { prompt, urls } => {
            let mut lines = vec![visible(&confirmation.title)];
            lines.extend(indented(prompt));
            if !urls.is_empty() {
                lines.push("URLs to fetch:".to_owned());
                lines.extend(indented(&urls.join("\n")));
            }
            lines.push("Do you want to proceed?".to_owned());
            lines
        }
    };
    let numbered = choices.iter().enumerate();
    lines.extend(numbered.map(|(index, (words, outcome))| {
        let place = if *outcome == Outcome::ProceedAlwaysAndSave { KEPT_IN } else { "" };
        format!("  {}. {words}{place}", index + 1)
    }));
    lines.join("\n")
}

/// Asks for the number. `preselected`: what Enter chooses. `words`: other answers are taken too.
pub(super) fn label(last: usize, preselected: Option<usize>, words: bool) -> String {
    let enter = preselected.map(|choice| format!(", Enter for {}", choice + 1));
    let words = if words { ", or type your feedback" } else { "" };
    format!("Choose 1-{last}{}{words}: ", enter.unwrap_or_default())
}

/// What a line that is no such number is answered with.
pub(super) fn remark(last: usize) -> String {
    format!("Type a number from 1 to {last} and press Enter.")
}

fn indented(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().take(SHOWN_LINES).map(shown).collect();
    let more = text.lines().skip(SHOWN_LINES).count();
    if more > 0 {
        lines.push(format!("  [{more} more lines are not shown]"));
    }
    lines
}

fn shown(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(SHOWN_CHARACTERS) else {
        return format!("  {}", visible(line));
    };
    let more = line[end..].chars().count();
    format!("  {} [{more} more characters are not shown]", visible(&line[..end]))
}

/// What would be unseen, or would change how the rest is seen, is spelt out: nobody says yes to something
/// other than what runs.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_unseen(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Controls, and the characters that turn the direction of writing or take no room.
fn is_unseen(letter: char) -> bool {
    (letter.is_control() && letter != '\t')
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{CallId, DiffStat, Rewrite};
    use pretty_assertions::assert_eq;

    use super::*;

    const SESSION: Lasting = Lasting { session: true, saved: false, preselected: false };
    const SAVED: Lasting = Lasting { session: true, saved: true, preselected: false };

    fn run(command: &str) -> ConfirmationKind {
        ConfirmationKind::Execute {
            command: command.to_owned(),
            programs: Vec::new(),
            writes: Vec::new(),
            unknown: Vec::new(),
        }
    }

    #[test]
    fn what_is_saved_comes_behind_what_holds_for_the_session() {
        let kind = run("ls");
        let words = |lasting| -> Vec<&str> {
            choices(&kind, lasting).iter().map(|(words, _)| *words).collect()
        };
        let [once, session, no] = ["Allow once", "Allow for this session", "No, suggest changes"];
        let saved = "Allow this command for all future sessions";
        assert_eq!(words(SAVED), [once, session, saved, no]);
        assert_eq!(words(Lasting { session: false, ..SAVED }), [once, no]);
    }

    #[test]
    fn enter_keeps_a_permission_only_where_that_is_wanted() {
        let information = ConfirmationKind::Information { prompt: String::new(), urls: Vec::new() };
        let wanted = Lasting { preselected: true, ..SAVED };
        for (kind, lasting, expected) in [
            (&information, wanted, Some(2)),
            (&information, SAVED, None),
            (&information, Lasting { saved: false, ..wanted }, None),
            (&run("ls"), wanted, None),
        ] {
            assert_eq!(preselected(kind, &choices(kind, lasting), lasting), expected, "{kind:?}");
        }
        assert_eq!(label(4, Some(2), false), "Choose 1-4, Enter for 3: ");
        assert_eq!(label(3, None, true), "Choose 1-3, or type your feedback: ");
    }

    #[test]
    fn a_command_is_shown_with_what_it_runs_and_writes() {
        let kind = ConfirmationKind::Execute {
            command: "a | b > c".to_owned(),
            programs: vec!["a".to_owned(), "b".to_owned()],
            writes: vec!["c\u{1b}".to_owned()],
            unknown: vec!["a command name is computed".to_owned()],
        };
        assert_eq!(
            text(&question(kind), Path::new("/p"), &[]),
            "Command:\n  a | b > c\nRuns: a, b\nWrites: c\\u{1b}\nCannot tell: a command name is computed\n\
             Allow execution of [Shell]?"
        );
    }

    fn question(kind: ConfirmationKind) -> Confirmation {
        Confirmation { call_id: CallId::new("c"), title: "Confirm".to_owned(), kind }
    }

    #[test]
    fn a_change_is_shown_whole() {
        let kind = ConfirmationKind::Edit {
            path: "/p/src/a.rs".into(),
            patch: "Index: a.rs\n--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-old\n+new".to_owned(),
            original: None,
            proposed: "new".to_owned(),
            stat: DiffStat { model_added_lines: 1, model_removed_lines: 1, ..DiffStat::default() },
            rewrite: Rewrite::of(1, 1),
        };
        let choices = choices(&kind, SESSION);
        let text = text(&question(kind), Path::new("/p"), &choices);
        assert_eq!(
            text,
            "Change of src/a.rs (+1 -1):\n  @@ -1 +1 @@\n  -old\n  +new\nApply this change?\n  \
             1. Allow once\n  2. Allow for this session\n  3. Modify with external editor\n  4. No, suggest changes"
        );
    }

    #[test]
    fn taking_most_of_a_large_file_away_is_called_out() {
        for (removed, lines, called_out) in
            [(480, 500, true), (26, 50, true), (25, 50, false), (49, 49, false), (0, 500, false)]
        {
            let kind = ConfirmationKind::Edit {
                path: "/p/a".into(),
                patch: String::new(),
                original: None,
                proposed: String::new(),
                stat: DiffStat::default(),
                rewrite: Rewrite::of(removed, lines),
            };
            let text = text(&question(kind), Path::new("/p"), &[]);
            let words =
                format!("Careful: this removes {removed} of {lines} lines.\nApply this change?");
            assert_eq!(text.contains(&words), called_out, "{text}");
        }
    }

    #[test]
    fn a_plan_is_shown_and_its_choices_are_its_own() {
        let kind =
            ConfirmationKind::Plan { path: "/t/plans/a.md".into(), text: "# Goal\nx".into() };
        let choices = choices(&kind, SESSION);
        let text = text(&question(kind), Path::new("/p"), &choices);
        assert_eq!(
            text,
            "Plan (/t/plans/a.md):\n  # Goal\n  x\nReady to start implementation?\n  1. Yes, automatically accept edits\n  \
             2. Yes, manually accept edits\n  3. No, the plan needs work"
        );
    }

    #[test]
    fn what_would_be_unseen_is_spelt_out() {
        let command = "rm a\u{1b}[2K\rls \u{202e}x\necho é".to_owned();
        let kind = run(&command);
        let choices = choices(&kind, Lasting::default());
        let text = text(&question(kind), Path::new("/p"), &choices);
        assert!(text.contains("  rm a\\u{1b}[2K\\u{d}ls \\u{202e}x\n  echo é\n"), "{text}");
        assert!(text.ends_with("  1. Allow once\n  2. No, suggest changes"), "{text}");
    }

    #[test]
    fn what_is_left_out_is_said() {
        let command = format!("{}\n{}", "x".repeat(1500), "y\n".repeat(1500));
        let kind = run(&command);
        let choices = choices(&kind, SESSION);
        let text = text(&question(kind), Path::new("/p"), &choices);
        assert!(text.contains("[500 more characters are not shown]"));
        assert!(text.contains("[501 more lines are not shown]"));
    }

    #[test]
    fn only_a_number_chooses() {
        let kind = ConfirmationKind::Information { prompt: String::new(), urls: Vec::new() };
        let choices = choices(&kind, SESSION);
        let table = [
            ("1", Some(Outcome::ProceedOnce)),
            (" 2 ", Some(Outcome::ProceedAlways)),
            ("3", Some(Outcome::Cancel)),
            ("0", None),
            ("4", None),
            ("", None),
            ("yes", None),
            ("1 2", None),
            ("99999999999999999999999", None),
        ];
        for (line, outcome) in table {
            assert_eq!(chosen(line, &choices), outcome, "{line:?}");
        }
    }
}
