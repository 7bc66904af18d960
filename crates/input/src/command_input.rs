//! Input for a command that waits for it: the prompt of the command is shown, and the typed line is
//! sent to this command only. Pure.

use std::collections::HashMap;

use pollux_protocol::{AwaitedInput, CallId, Event, LiveOutput};

use crate::editor::{EditOutcome, LineEditor};
use crate::keys::KeyPress;

/// Maximum number of lines that are shown of the screen of a waiting command.
const SHOWN_LINES: usize = 12;

/// Message about a command that waits.
pub const COMMAND_WAITS: &str =
    "The command waits for input. What you type goes to it; Esc stops the work.";

const LABEL: &str = "input> ";
const SECRET_LABEL: &str = "input (not shown)> ";

/// State of the running commands, and of the input for one of them.
#[derive(Debug, Default)]
pub struct CommandInput {
    /// Screen contents of running commands with a terminal.
    screens: HashMap<CallId, String>,
    asked: Option<Asked>,
}

#[derive(Debug)]
struct Asked {
    call_id: CallId,
    secret: bool,
    /// Editor for the input, which is stored nowhere else.
    entry: LineEditor,
}

impl CommandInput {
    /// Returns true if a command waits for input.
    pub fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns the input line: its label, and the text left and right of the cursor.
    pub fn row(&self) -> Option<(&str, &str, &str)> {
        let Asked { secret, entry, .. } = self.asked.as_ref()?;
        Some(match secret {
            true => (SECRET_LABEL, "", ""),
            false => (LABEL, entry.before(), entry.after()),
        })
    }

    /// Handles output and input requests of commands; returns the text that a user must see to
    /// answer.
    pub fn hear(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::CallOutput { call_id, output: LiveOutput::Screen { lines, .. } } => {
                self.screens.insert(call_id.clone(), lines.text());
            }
            Event::CallOutput { call_id, output: LiveOutput::Input(Some(awaited)) } => {
                return self.begin(call_id, awaited);
            }
            Event::CallOutput { call_id, output: LiveOutput::Input(None) } => self.end(call_id),
            Event::CallsFinished(_) | Event::PromptEnded(_) => {
                self.screens.clear();
                self.asked = None;
            }
            _ => {}
        }
        None
    }

    /// Starts to ask for input. Returns `None` while another command is being answered; the waiting
    /// one is asked about when it is next.
    fn begin(&mut self, call_id: &CallId, awaited: &AwaitedInput) -> Option<String> {
        if self.asked.as_ref().is_some_and(|asked| asked.call_id != *call_id) {
            return None;
        }
        self.asked = Some(Asked {
            call_id: call_id.clone(),
            secret: awaited.secret,
            entry: LineEditor::default(),
        });
        let screen = self.screens.get(call_id).map_or("", String::as_str);
        let lines: Vec<&str> = screen.lines().collect();
        let mut reported = lines[lines.len().saturating_sub(SHOWN_LINES)..].to_vec();
        reported.push(COMMAND_WAITS);
        Some(format!("    {}", reported.join("\n    ")))
    }

    fn end(&mut self, call_id: &CallId) {
        self.asked.take_if(|asked| asked.call_id == *call_id);
    }

    /// Handles a key; returns the bytes for the command when a line is complete.
    pub fn press(&mut self, key: KeyPress) -> Option<(CallId, Vec<u8>)> {
        let asked = self.asked.as_mut()?;
        let bytes = match asked.entry.press(key) {
            EditOutcome::Submitted(line) => format!("{line}\r").into_bytes(),
            // A backslash at the end has no special meaning here.
            EditOutcome::Continued => {
                let line = asked.entry.take_above();
                format!("{}\\\r", line.trim_end_matches('\n')).into_bytes()
            }
            EditOutcome::EndOfInput => vec![0x04],
            EditOutcome::Line
            | EditOutcome::TooLong
            | EditOutcome::ClearScreen
            | EditOutcome::ExternalEditor => {
                return None;
            }
        };
        // The typed text is dropped: it may have been a secret.
        asked.entry = LineEditor::default();
        Some((asked.call_id.clone(), bytes))
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{AnsiOutput, AnsiToken};
    use pretty_assertions::assert_eq;

    use super::*;

    fn output(call: &str, output: LiveOutput) -> Event {
        Event::CallOutput { call_id: CallId::new(call), output }
    }

    fn asks(call: &str, secret: bool) -> Event {
        output(call, LiveOutput::Input(Some(AwaitedInput { prompt: "Name?".into(), secret })))
    }

    fn screen(call: &str, lines: &[&str]) -> Event {
        let token = |text: &&str| vec![AnsiToken { text: (*text).into(), ..AnsiToken::default() }];
        output(
            call,
            LiveOutput::Screen { lines: AnsiOutput(lines.iter().map(token).collect()), above: 0 },
        )
    }

    fn type_line(typing: &mut CommandInput, line: &str) -> Option<(CallId, Vec<u8>)> {
        assert_eq!(typing.press(KeyPress::Text(line.into())), None);
        typing.press(KeyPress::Enter)
    }

    #[test]
    fn a_line_goes_to_the_command_that_asks() {
        let mut typing = CommandInput::default();
        assert_eq!(typing.press(KeyPress::Enter), None);
        typing.hear(&screen("a", &["Welcome", "Name?"]));
        let reported = typing.hear(&asks("a", false)).unwrap();
        assert!(
            reported.starts_with("    Welcome\n    Name?\n    The command waits"),
            "{reported}"
        );
        // A second command has to wait.
        assert_eq!(typing.hear(&asks("b", false)), None);
        let to = |text: &str| Some((CallId::new("a"), text.as_bytes().to_vec()));
        assert_eq!(type_line(&mut typing, "Ada"), to("Ada\r"));
        assert_eq!(type_line(&mut typing, r"C:\"), to("C:\\\r"));
        assert_eq!(type_line(&mut typing, ""), to("\r"));
        assert_eq!(typing.press(KeyPress::EndOfInput), to("\u{4}"));
        typing.hear(&output("b", LiveOutput::Input(None)));
        assert!(typing.is_asked());
        typing.hear(&output("a", LiveOutput::Input(None)));
        assert!(!typing.is_asked());
    }

    #[test]
    fn a_secret_is_never_shown() {
        let mut typing = CommandInput::default();
        typing.hear(&asks("a", true));
        typing.press(KeyPress::Text("hunter2".into()));
        assert_eq!(typing.row(), Some((SECRET_LABEL, "", "")));
        assert_eq!(typing.press(KeyPress::Enter), Some((CallId::new("a"), b"hunter2\r".to_vec())));
        typing.press(KeyPress::Up);
        assert!(!format!("{typing:?}").contains("hunter2"));
    }

    #[test]
    fn the_end_of_the_work_ends_the_typing() {
        let mut typing = CommandInput::default();
        typing.hear(&screen("a", &["x"]));
        typing.hear(&asks("a", false));
        typing.hear(&Event::CallsFinished(Vec::new()));
        assert!(!typing.is_asked() && typing.screens.is_empty());
    }
}
