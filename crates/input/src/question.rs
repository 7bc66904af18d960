//! Questions to the user as text with numbered choices. Pure.

use std::path::Path;

use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    ConfinementLevel, Confirmation, ConfirmationKind, Question, QuestionOutcome, QuestionSubject,
};

use crate::consent::{ConsentSheet, trust_lines};
use crate::narration::cut;
use crate::tone::{Tone, TonedLine};

/// Maximum number of lines at the beginning, and at the end, of a subject that is not shown whole.
const EXCERPT_LINES: usize = 500;
/// Maximum number of commands that are listed for a command line that is not shown whole.
const LISTED_COMMANDS: usize = 50;
/// Maximum number of bytes of these lines.
const EXCERPT_BYTES: usize = 50_000;

/// Part of a question that is on the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SheetExtent {
    /// The beginning and the end, if the question is too long to read at a glance.
    #[default]
    Excerpt,
    /// All of it.
    Whole,
}

/// Decision that the user can make about a question on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetDecision {
    /// Reply to the question.
    Reply(QuestionOutcome),
    /// Request to see the whole subject.
    ShowAll,
}

/// Question as it is on the page. A subject of which a part is not shown cannot be approved.
#[derive(Debug, Default)]
pub struct QuestionSheet {
    /// Subject and numbered choices.
    pub text: String,
    /// True if the question asks whether a call may run.
    is_about_call: bool,
    /// True if the subject is a change of a file.
    is_change: bool,
    /// True if indented lines of the subject are code.
    is_code: bool,
    /// Labels and decisions in the order of their numbers, each with its letter.
    choices: Vec<(String, SheetDecision, Option<char>)>,
    /// Decision of the Enter key.
    default: Option<usize>,
}

impl QuestionSheet {
    /// Prepares a question of a project in `folder`.
    pub fn new(question: &Question, folder: &Path, extent: SheetExtent) -> Self {
        let whole = subject(question, folder).join("\n");
        let excerpt = excerpt(&whole).filter(|_| extent == SheetExtent::Excerpt);
        let excerpt = excerpt.map(|excerpt| with_commands(excerpt, question));
        let is_cut = excerpt.is_some();
        let show = ("Show everything".to_owned(), SheetDecision::ShowAll, None);
        let given = question.choices.iter();
        let given = given.filter(|choice| !is_cut || choice.outcome == QuestionOutcome::Cancel);
        let given = given.map(|choice| {
            (visible(&choice.label), SheetDecision::Reply(choice.outcome), choice.shortcut)
        });
        let choices: Vec<_> = is_cut.then_some(show).into_iter().chain(given).collect();
        let numbered = (1..).zip(&choices);
        let labels = numbered.map(|(number, (label, ..))| format!("  {number}. {label}"));
        let subject = Some(excerpt.unwrap_or(whole)).filter(|subject| !subject.is_empty());
        let text = subject.into_iter().chain(labels).collect::<Vec<_>>().join("\n");
        let is_change = matches!(
            &question.subject,
            QuestionSubject::Call(Confirmation { kind: ConfirmationKind::Edit { .. }, .. })
        );
        let is_code = matches!(
            &question.subject,
            QuestionSubject::Call(Confirmation {
                kind: ConfirmationKind::Edit { .. } | ConfirmationKind::Execute { .. },
                ..
            })
        );
        let default = question.default.filter(|_| !is_cut);
        let is_about_call = is_about_call(question);
        Self { text, is_about_call, is_change, is_code, choices, default }
    }

    /// Returns the lines about the subject of a question, without its choices.
    pub fn subject(question: &Question, folder: &Path) -> Vec<String> {
        subject(question, folder)
    }

    /// Returns the lines with their meaning.
    pub fn lines(&self) -> Vec<TonedLine> {
        let tone = |line: &str| match line.strip_prefix("  ") {
            Some(line) if self.is_change => Tone::of_patch(line),
            None if line.starts_with("Careful: ") => Tone::Warning,
            _ => Tone::Plain,
        };
        let subject = self.text.lines().count() - self.choices.len();
        let line = |(index, line): (usize, &str)| {
            if index >= subject {
                TonedLine::prose(Tone::Plain, line)
            } else if self.is_code && line.starts_with("  ") {
                TonedLine::new(tone(line), line)
            } else {
                TonedLine::prose(tone(line), line)
            }
        };
        self.text.lines().enumerate().map(line).collect()
    }

    /// Returns the decision for a line: the number of a choice, `y` or `n`, or nothing for the
    /// default.
    pub fn decision(&self, line: &str) -> Option<SheetDecision> {
        let line = line.trim().to_lowercase();
        let letter = match line.as_str() {
            "" => return self.choices.get(self.default?).map(|(_, decided, _)| *decided),
            "y" | "yes" => 'y',
            "n" | "no" => 'n',
            number => return numbered(number, &self.choices).map(|(_, decided, _)| *decided),
        };
        let mut choices = self.choices.iter();
        choices.find(|(.., shortcut)| *shortcut == Some(letter)).map(|(_, decided, _)| *decided)
    }

    /// Returns the label that asks for a decision. `words` is true if other text is accepted too.
    pub fn label(&self, words: bool) -> String {
        let last = self.choices.len();
        let enter = self.default.map(|choice| format!(", Enter for {}", choice + 1));
        let words = if words { ", or type your feedback" } else { "" };
        format!("Choose 1-{last}{}{words}: ", enter.unwrap_or_default())
    }

    /// Returns the message for a line that is not a decision.
    pub fn remark(&self) -> String {
        let last = self.choices.len();
        if self.is_about_call {
            format!("Type a number from 1 to {last}, or what to do instead.")
        } else {
            format!("Type a number from 1 to {last} and press Enter.")
        }
    }
}

/// Returns true for a question whether a call may run.
pub fn is_about_call(question: &Question) -> bool {
    match &question.subject {
        QuestionSubject::Call(Confirmation { kind, .. }) => {
            !matches!(kind, ConfirmationKind::Questions(_))
        }
        _ => false,
    }
}

/// Returns true for a line that contains letters, so it is not a mistyped number.
pub fn is_words(line: &str) -> bool {
    line.chars().any(char::is_alphabetic)
}

/// Returns the item whose number is on the line, counted from one.
fn numbered<'a, T>(line: &str, items: &'a [T]) -> Option<&'a T> {
    let number: usize = line.trim().parse().ok()?;
    items.get(number.checked_sub(1)?)
}

/// Returns the lines about the subject of a question. If a subagent asks, they name it.
fn subject(question: &Question, folder: &Path) -> Vec<String> {
    let asking = question.from.agent.below_main();
    let asking = asking.map(|name| format!("The subagent {} asks:", visible(&name)));
    asking.into_iter().chain(of_subject(question, folder)).collect()
}

fn of_subject(question: &Question, folder: &Path) -> Vec<String> {
    match &question.subject {
        QuestionSubject::Call(confirmation) => call(confirmation, folder),
        QuestionSubject::Loop { details } => vec![
            "Question: Loop".to_owned(),
            format!("  A potential loop was detected. {}", visible(details)),
        ],
        QuestionSubject::Trust(request) => trust_lines(request),
        QuestionSubject::SignIn { text } | QuestionSubject::Request { text } => {
            text.lines().map(visible).collect()
        }
        QuestionSubject::Form(form) => asked_by(&form.source, &form.message, None),
        QuestionSubject::Address(asked) => {
            asked_by(&asked.source, &asked.message, Some(&asked.url))
        }
        QuestionSubject::Consent(items) => {
            let text = ConsentSheet::new(items).text();
            let title = "Question: Consent".to_owned();
            std::iter::once(title).chain(text.lines().skip(1).map(str::to_owned)).collect()
        }
    }
}

/// Returns the lines about what a program asks.
fn asked_by(source: &str, message: &str, url: Option<&str>) -> Vec<String> {
    let mut lines = vec![format!("{} asks:", visible(source))];
    lines.extend(message.lines().chain(url).map(|line| format!("  {}", visible(line))));
    lines
}

/// Returns the beginning and the end of a text, with a mark between them; `None` if that is the
/// whole text.
fn excerpt(text: &str) -> Option<String> {
    let line = text.match_indices('\n').nth(EXCERPT_LINES - 1).map_or(text.len(), |(at, _)| at);
    let end = text.floor_char_boundary(line.min(EXCERPT_BYTES));
    let line = text.rmatch_indices('\n').nth(EXCERPT_LINES - 1).map_or(0, |(at, _)| at + 1);
    let start = text.ceil_char_boundary(line.max(text.len().saturating_sub(EXCERPT_BYTES)));
    let hidden = text.get(end..start)?.trim_matches('\n');
    let (lines, characters) = (hidden.lines().count(), hidden.chars().count());
    let (head, tail) = (&text[..end], &text[start..]);
    let mark = format!("[Not shown: characters {characters}, in lines {lines}.]");
    (characters > 0).then(|| format!("{head}\n{mark}\n{tail}"))
}

/// Adds a list of the commands with their arguments to the excerpt of a command line, before its
/// last line.
fn with_commands(excerpt: String, question: &Question) -> String {
    let QuestionSubject::Call(Confirmation {
        kind: ConfirmationKind::Execute { commands, .. },
        ..
    }) = &question.subject
    else {
        return excerpt;
    };
    let Some((head, last)) = excerpt.rsplit_once('\n').filter(|_| !commands.is_empty()) else {
        return excerpt;
    };
    let listed = commands.iter().take(LISTED_COMMANDS);
    let mut lines: Vec<String> =
        listed.map(|command| format!("  {}", cut(&visible(command)))).collect();
    let more = commands.len().saturating_sub(LISTED_COMMANDS);
    lines.extend((more > 0).then(|| format!("  and {more} more")));
    format!("{head}\nCommands, each once:\n{}\n{last}", lines.join("\n"))
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
        kind @ ConfirmationKind::Execute { .. } => command_lines(kind),
        ConfirmationKind::Plan { path, text } => {
            let mut lines = indented(text);
            let path = visible(&path.display().to_string());
            lines.insert(0, format!("Plan ({path}):"));
            lines.push("Ready to start implementation?".to_owned());
            lines
        }
        // The module `survey` asks these questions one by one.
        ConfirmationKind::Questions(_) => Vec::new(),
        ConfirmationKind::ServerTool(call) => {
            let [server, tool] = [&call.server, &call.tool].map(|name| visible(name));
            let mut lines = vec![format!("MCP Server: {server}"), format!("Tool: {tool}")];
            let changed = "Careful: the server has changed this tool since you approved it.";
            lines.extend(call.is_changed.then(|| changed.to_owned()));
            lines.extend(call.description.lines().next().map(|line| visible(line.trim())));
            let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
            lines.extend(indented(&arguments));
            lines.push(format!("Allow execution of MCP tool \"{tool}\" from server \"{server}\"?"));
            lines
        }
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

/// Returns the lines about a command.
fn command_lines(kind: &ConfirmationKind) -> Vec<String> {
    let ConfirmationKind::Execute {
        command,
        programs,
        writes,
        unknown,
        starts,
        reason,
        level,
        purpose,
        folder,
        is_background,
        ..
    } = kind
    else {
        return Vec::new();
    };
    let mut lines = indented(command);
    lines.insert(0, "Command:".to_owned());
    let places: Vec<String> = folder.iter().cloned().collect();
    let purposes: Vec<String> = purpose.iter().cloned().collect();
    let reported = [
        ("In", &places),
        ("Description", &purposes),
        ("Runs", programs),
        ("Writes", writes),
        ("Cannot tell", unknown),
    ];
    let reported = reported.into_iter().filter(|(_, found)| !found.is_empty());
    lines.extend(reported.map(|(label, found)| format!("{label}: {}", visible(&found.join(", ")))));
    lines.extend(reason.as_ref().map(|reason| format!("Asked because: {}", visible(reason))));
    lines.extend(starts.iter().map(|sentence| visible(sentence)));
    lines.extend(is_background.then(|| "The command continues in the background.".to_owned()));
    lines.extend(consequence(*level).map(str::to_owned));
    lines.push("Allow execution of [Shell]?".to_owned());
    lines
}

/// Returns the restrictions of later runs that an approval covers; `None` without restrictions.
fn consequence(level: ConfinementLevel) -> Option<&'static str> {
    match level {
        ConfinementLevel::Inspect => {
            Some("If allowed for longer, later runs can only read, and have no network.")
        }
        ConfinementLevel::WorkspaceWrite => Some(
            "If allowed for longer, later runs can write only in the workspace and in temporary folders.",
        ),
        ConfinementLevel::Protect => Some(
            "If allowed for longer, later runs cannot change start-up files, Git hooks or Pollux's own state.",
        ),
        ConfinementLevel::None => None,
    }
}

fn indented(text: &str) -> Vec<String> {
    text.lines().map(|line| format!("  {}", visible(line))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pollux_protocol::{CallId, DiffStat, QuestionChoice, Rewrite};
    use pretty_assertions::assert_eq;

    use super::*;

    fn run(command: &str) -> ConfirmationKind {
        ConfirmationKind::Execute {
            command: command.to_owned(),
            programs: Vec::new(),
            commands: Vec::new(),
            writes: Vec::new(),
            unknown: Vec::new(),
            starts: Vec::new(),
            reason: None,
            level: ConfinementLevel::None,
            purpose: None,
            folder: None,
            is_background: false,
        }
    }

    fn sheet(question: &Question, extent: SheetExtent) -> QuestionSheet {
        QuestionSheet::new(question, Path::new("/p"), extent)
    }

    fn text(question: &Question, folder: &Path) -> String {
        QuestionSheet::new(question, folder, SheetExtent::Excerpt).text
    }

    #[test]
    fn the_label_names_every_way_to_answer() {
        let mut asked = question(run("ls"));
        assert_eq!(
            sheet(&asked, SheetExtent::Excerpt).label(true),
            "Choose 1-3, or type your feedback: "
        );
        asked.default = Some(2);
        assert_eq!(sheet(&asked, SheetExtent::Excerpt).label(false), "Choose 1-3, Enter for 3: ");
    }

    #[test]
    fn a_command_is_shown_with_what_it_runs_and_writes() {
        let kind = ConfirmationKind::Execute {
            command: "a | b > c".to_owned(),
            programs: vec!["a".to_owned(), "b".to_owned()],
            commands: Vec::new(),
            writes: vec!["c\u{1b}".to_owned()],
            unknown: vec!["a command name is computed".to_owned()],
            starts: vec!["a also starts: hooks".to_owned()],
            reason: Some("a is not known".to_owned()),
            level: ConfinementLevel::Protect,
            purpose: Some("Counts\u{1b} lines".to_owned()),
            folder: Some("sub".to_owned()),
            is_background: true,
        };
        assert_eq!(
            text(&question(kind), Path::new("/p")),
            "Command:\n  a | b > c\nIn: sub\nDescription: Counts\\u{1b} lines\nRuns: a, b\nWrites: c\\u{1b}\nCannot tell: a command name is computed\n\
             Asked because: a is not known\n\
             a also starts: hooks\n\
             The command continues in the background.\n\
             If allowed for longer, later runs cannot change start-up files, Git hooks or Pollux's own state.\n\
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
    fn nothing_is_approved_unseen() {
        let long_line = format!("echo {}; touch HIDDEN", "x".repeat(1100));
        let lines = format!("{}touch HIDDEN", "echo\n".repeat(900));
        for command in [long_line, lines] {
            let text = text(&question(run(&command)), Path::new("/p"));
            let shown: Vec<&str> = text.lines().map(str::trim_start).collect();
            assert!(shown.join("\n").contains(&command) && text.ends_with(CHOICES), "{text}");
        }
        let huge_line = format!("first {} last", "x漢".repeat(100_000));
        let many_lines = format!("first {}last", "x\n".repeat(5000));
        for command in [huge_line, many_lines] {
            let mut question = question(run(&command));
            question.default = Some(0);
            let cut = sheet(&question, SheetExtent::Excerpt);
            assert!(cut.text.contains("  first ") && cut.text.contains("last\n"));
            assert!(cut.text.len() < 2 * EXCERPT_BYTES + 500 && cut.text.contains("[Not shown: "));
            assert!(cut.text.ends_with("?\n  1. Show everything\n  2. No"), "{}", cut.text);
            let decisions = ["", "y", "1", "2", "3", "n"].map(|line| cut.decision(line));
            let no = Some(SheetDecision::Reply(QuestionOutcome::Cancel));
            assert_eq!(decisions, [None, None, Some(SheetDecision::ShowAll), no, None, no]);
            let whole = sheet(&question, SheetExtent::Whole);
            let shown: Vec<&str> = whole.text.lines().map(str::trim_start).collect();
            assert!(shown.join("\n").contains(command.trim_end()) && whole.text.ends_with(CHOICES));
            assert!(whole.decision("").is_some());
        }
    }

    #[test]
    fn an_excerpt_counts_what_it_leaves_out() {
        let whole = "a\n".repeat(2 * EXCERPT_LINES - 1) + "b";
        assert_eq!(excerpt(&whole), None);
        let cut = excerpt(&(whole + "\nc\nd")).unwrap();
        assert!(cut.contains("\n[Not shown: characters 3, in lines 2.]\na\n"), "{cut}");
        let cut = excerpt(&"x".repeat(2 * EXCERPT_BYTES + 7)).unwrap();
        assert!(cut.contains("x\n[Not shown: characters 7, in lines 1.]\nx"));
    }

    #[test]
    fn a_number_or_a_plain_yes_or_no_chooses() {
        let sheet = sheet(&question(run("ls")), SheetExtent::Excerpt);
        let table = [
            ("1", Some(QuestionOutcome::ProceedOnce)),
            (" 2 ", Some(QuestionOutcome::ProceedAlways)),
            ("3", Some(QuestionOutcome::Cancel)),
            ("y", Some(QuestionOutcome::ProceedOnce)),
            ("Yes ", Some(QuestionOutcome::ProceedOnce)),
            ("n", Some(QuestionOutcome::Cancel)),
            ("no", Some(QuestionOutcome::Cancel)),
            ("0", None),
            ("4", None),
            ("", None),
            ("a", None),
            ("yes please", None),
            ("1 2", None),
            ("99999999999999999999999", None),
        ];
        for (line, outcome) in table {
            assert_eq!(sheet.decision(line), outcome.map(SheetDecision::Reply), "{line:?}");
        }
    }
}
