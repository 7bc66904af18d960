//! The last lines of the output of a running command. Pure.

use std::collections::VecDeque;

use pollux_protocol::LiveOutput;

/// Maximum number of lines that are shown, and of those of a command that waits for input.
const SHOWN: usize = 5;
const ASKED: usize = 12;
/// Maximum length of an incomplete line, in bytes.
const LONGEST: usize = 8 << 10;

/// Last lines of a running command, and the number of those before them.
#[derive(Debug, Default)]
pub(crate) struct OutputTail {
    lines: VecDeque<String>,
    /// Number of lines that are not kept.
    earlier: u64,
    /// Last line, without an end.
    last: String,
    /// True while the command waits for input, for which the user reads its question.
    is_asking: bool,
    /// Message about a failure at the end of the command.
    pub(crate) ending: Option<String>,
}

impl OutputTail {
    /// Takes live output.
    pub(crate) fn take(&mut self, output: &LiveOutput) {
        match output {
            LiveOutput::Append(text) => self.append(text),
            LiveOutput::Replace(text) => {
                self.clear();
                self.append(text);
            }
            LiveOutput::Screen { lines, above } => {
                self.clear();
                self.earlier = *above;
                self.append(&lines.text());
            }
            LiveOutput::Ended(ending) => self.ending = Some(ending.clone()),
            LiveOutput::Input(awaited) => self.is_asking = awaited.is_some(),
            LiveOutput::ProcessGroup(_) => {}
        }
    }

    fn clear(&mut self) {
        let (ending, is_asking) = (self.ending.take(), self.is_asking);
        *self = Self { is_asking, ending, ..Self::default() };
    }

    /// Returns the last lines, and the number of those before them.
    pub(crate) fn shown(&self) -> (Vec<&str>, u64) {
        let last = after_return(&self.last);
        let has_last = !last.is_empty();
        let most = if self.is_asking { ASKED } else { SHOWN };
        let kept = most - usize::from(has_last);
        let hidden = self.lines.len().saturating_sub(kept);
        let lines = self.lines.iter().skip(hidden).map(String::as_str);
        let lines = lines.chain(has_last.then_some(last)).collect();
        (lines, self.earlier + hidden as u64)
    }

    fn append(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.last.push_str(piece.trim_end_matches('\n'));
            if piece.ends_with('\n') || self.last.len() > LONGEST {
                let line = std::mem::take(&mut self.last);
                self.lines.push_back(after_return(&line).to_owned());
                if self.lines.len() > ASKED {
                    self.lines.pop_front();
                    self.earlier += 1;
                }
            }
        }
    }
}

/// Returns the text of a line after its last carriage return, as a terminal would show it.
fn after_return(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{AnsiOutput, AnsiToken, AwaitedInput};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_the_others_counted() {
        let mut tail = OutputTail::default();
        tail.take(&LiveOutput::Append("10%\r20%".to_owned()));
        assert_eq!(tail.shown(), (vec!["20%"], 0));
        let lines: Vec<String> = (1..=9).map(|number| format!("\nline {number}")).collect();
        tail.take(&LiveOutput::Append(lines.concat()));
        assert_eq!(tail.shown(), (vec!["line 5", "line 6", "line 7", "line 8", "line 9"], 5));
        tail.take(&LiveOutput::Append("\n".to_owned()));
        assert_eq!(tail.shown(), (vec!["line 5", "line 6", "line 7", "line 8", "line 9"], 5));
    }

    #[test]
    fn a_screen_replaces_what_was_there() {
        let token = |text: &str| vec![AnsiToken { text: text.to_owned(), ..AnsiToken::default() }];
        let mut tail = OutputTail::default();
        for (above, texts) in [(0, ["a", "b"]), (7, ["c", "d"])] {
            let lines = AnsiOutput(texts.map(token).to_vec());
            tail.take(&LiveOutput::Screen { lines, above });
        }
        assert_eq!(tail.shown(), (vec!["c", "d"], 7));
    }

    #[test]
    fn a_command_that_waits_shows_more_lines() {
        let mut tail = OutputTail::default();
        let lines: Vec<String> = (1..=20).map(|number| format!("line {number}\n")).collect();
        tail.take(&LiveOutput::Append(lines.concat() + "Which? "));
        assert_eq!((tail.shown().0.len(), tail.shown().1), (SHOWN, 16));
        let awaited = AwaitedInput { prompt: "Which? ".into(), secret: false };
        tail.take(&LiveOutput::Input(Some(awaited)));
        let (shown, earlier) = tail.shown();
        assert_eq!((shown.len(), shown[ASKED - 1], earlier), (ASKED, "Which? ", 9));
        tail.take(&LiveOutput::Input(None));
        assert_eq!(tail.shown().0.len(), SHOWN);
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut tail = OutputTail::default();
        for _ in 0..100 {
            tail.take(&LiveOutput::Append("x".repeat(1000)));
        }
        assert!(tail.last.len() <= LONGEST);
    }
}
