//! Questions to the user as text with numbered choices. Pure.

use std::path::Path;

use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    ConfinementLevel, Confirmation, ConfirmationKind, Question, QuestionChoice, QuestionOutcome,
    QuestionSubject,
};

/// Maximum number of lines that are shown of a change or a command. The text reports omitted lines.
const SHOWN_LINES: usize = 1000;
/// Maximum number of characters that are shown of one of these lines.
const SHOWN_CHARACTERS: usize = 1000;

/// Returns true for a line that contains letters, so it is not a mistyped number.
pub(super) fn is_words(line: &str) -> bool {
    line.chars().any(char::is_alphabetic)
}

/// Returns the decision whose number is on the line.
pub(super) fn chosen(line: &str, choices: &[QuestionChoice]) -> Option<QuestionOutcome> {
    numbered(line, choices).map(|choice| choice.outcome)
}

/// Returns the item whose number is on the line, counted from one.
pub(super) fn numbered<'a, T>(line: &str, items: &'a [T]) -> Option<&'a T> {
    let number: usize = line.trim().parse().ok()?;
    items.get(number.checked_sub(1)?)
}

/// Returns the question with its full subject, and its numbered choices.
pub(super) fn text(question: &Question, folder: &Path) -> String {
    let mut lines = match &question.subject {
        QuestionSubject::Call(confirmation) => call(confirmation, folder),
        QuestionSubject::Loop { details } => vec![
            "Question: Loop".to_owned(),
            format!("  A potential loop was detected. {}", visible(details)),
        ],
        // Questions of these kinds are asked before a conversation.
        QuestionSubject::Trust(_) | QuestionSubject::Consent(_) => Vec::new(),
        QuestionSubject::SignIn { text } => text.lines().map(visible).collect(),
    };
    let numbered = (1..).zip(&question.choices);
    lines
        .extend(numbered.map(|(number, choice)| format!("  {number}. {}", visible(&choice.label))));
    lines.join("\n")
}

/// Returns the lines about a call.
fn call(confirmation: &Confirmation, folder: &Path) -> Vec<String> {
    match &confirmation.kind {
        ConfirmationKind::Edit { path, patch, stat, rewrite, .. } => {
            let path = path.strip_prefix(folder).unwrap_or(path).display().to_string();
            let (added, removed) = (stat.model_added_lines, stat.model_removed_lines);
            // The first line of the text replaces the heading of the patch.
            let body = patch.find("\n@@").map_or(patch.as_str(), |end| &patch[end + 1..]);
            let mut lines = indented(body);
            lines.insert(0, format!("Change of {} (+{added} -{removed}):", visible(&path)));
            // The warning comes last, so that it is visible after a long patch.
            lines.extend(rewrite.map(|rewrite| format!("Careful: this {rewrite}.")));
            lines.push("Apply this change?".to_owned());
            lines
        }
        ConfirmationKind::Execute { command, programs, writes, unknown, starts, reason, level } => {
            let mut lines = indented(command);
            lines.insert(0, "Command:".to_owned());
            let reported = [("Runs", programs), ("Writes", writes), ("Cannot tell", unknown)];
            let reported = reported.into_iter().filter(|(_, found)| !found.is_empty());
            lines.extend(reported.map(|(label, found)| {
                format!("{label}: {}", shown(&found.join(", ")).trim_start())
            }));
            lines.extend(
                reason.as_ref().map(|reason| format!("Asked because: {}", visible(reason))),
            );
            lines.extend(starts.iter().map(|sentence| shown(sentence).trim_start().to_owned()));
            if *level != ConfinementLevel::None {
                lines.push(format!(
                    "If allowed for longer than once, confined to: {}",
                    level.as_str()
                ));
            }
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
        // The module `survey` asks these questions one by one.
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
    }
}

/// Returns the label that asks for a number. `preselected` is the choice of the Enter key; `words`
/// is true if other text is accepted too.
pub(super) fn label(last: usize, preselected: Option<usize>, words: bool) -> String {
    let enter = preselected.map(|choice| format!(", Enter for {}", choice + 1));
    let words = if words { ", or type your feedback" } else { "" };
    format!("Choose 1-{last}{}{words}: ", enter.unwrap_or_default())
}

/// Returns the message for a line that is not a valid number.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pollux_protocol::{CallId, DiffStat, Rewrite};
    use pretty_assertions::assert_eq;

    use super::*;

    fn run(command: &str) -> ConfirmationKind {
        ConfirmationKind::Execute {
            command: command.to_owned(),
            programs: Vec::new(),
            writes: Vec::new(),
            unknown: Vec::new(),
            starts: Vec::new(),
            reason: None,
            level: ConfinementLevel::None,
        }
    }

    #[test]
    fn the_label_names_every_way_to_answer() {
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
            starts: vec!["a also starts: hooks".to_owned()],
            reason: Some("a is not known".to_owned()),
            level: ConfinementLevel::Protect,
        };
        assert_eq!(
            text(&question(kind), Path::new("/p")),
            "Command:\n  a | b > c\nRuns: a, b\nWrites: c\\u{1b}\nCannot tell: a command name is computed\n\
             Asked because: a is not known\n\
             a also starts: hooks\n\
             If allowed for longer than once, confined to: protect\n\
             Allow execution of [Shell]?"
                .to_owned()
                + CHOICES
        );
    }

    fn question(kind: ConfirmationKind) -> Question {
        let confirmation =
            Confirmation { call_id: CallId::new("c"), title: "Confirm".to_owned(), kind };
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y'),
            QuestionChoice::new(QuestionOutcome::ProceedAlways, "Allow for this session", 'a'),
            QuestionChoice::new(QuestionOutcome::Cancel, "No", 'n'),
        ];
        Question::new(Arc::default(), QuestionSubject::Call(confirmation), choices, None)
    }

    const CHOICES: &str = "\n  1. Allow once\n  2. Allow for this session\n  3. No";

    #[test]
    fn a_loop_is_described() {
        let subject = QuestionSubject::Loop { details: "The same call.".to_owned() };
        let question = Question::new(Arc::default(), subject, Vec::new(), None);
        assert_eq!(
            text(&question, Path::new("/p")),
            "Question: Loop\n  A potential loop was detected. The same call."
        );
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
        let text = text(&question(kind), Path::new("/p"));
        assert_eq!(
            text,
            "Change of src/a.rs (+1 -1):\n  @@ -1 +1 @@\n  -old\n  +new\nApply this change?"
                .to_owned()
                + CHOICES
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
            let text = text(&question(kind), Path::new("/p"));
            let words =
                format!("Careful: this removes {removed} of {lines} lines.\nApply this change?");
            assert_eq!(text.contains(&words), called_out, "{text}");
        }
    }

    #[test]
    fn a_plan_is_shown_whole() {
        let kind =
            ConfirmationKind::Plan { path: "/t/plans/a.md".into(), text: "# Goal\nx".into() };
        let text = text(&question(kind), Path::new("/p"));
        assert_eq!(
            text,
            "Plan (/t/plans/a.md):\n  # Goal\n  x\nReady to start implementation?".to_owned()
                + CHOICES
        );
    }

    #[test]
    fn what_would_be_unseen_is_spelt_out() {
        let command = "rm a\u{1b}[2K\rls \u{202e}x\necho é".to_owned();
        let kind = run(&command);
        let text = text(&question(kind), Path::new("/p"));
        assert!(text.contains("  rm a\\u{1b}[2K\\u{d}ls \\u{202e}x\n  echo é\n"), "{text}");
        assert!(text.ends_with(CHOICES), "{text}");
    }

    #[test]
    fn what_is_left_out_is_said() {
        let command = format!("{}\n{}", "x".repeat(1500), "y\n".repeat(1500));
        let kind = run(&command);
        let text = text(&question(kind), Path::new("/p"));
        assert!(text.contains("[500 more characters are not shown]"));
        assert!(text.contains("[501 more lines are not shown]"));
    }

    #[test]
    fn only_a_number_chooses() {
        let choices = question(run("ls")).choices;
        let table = [
            ("1", Some(QuestionOutcome::ProceedOnce)),
            (" 2 ", Some(QuestionOutcome::ProceedAlways)),
            ("3", Some(QuestionOutcome::Cancel)),
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
