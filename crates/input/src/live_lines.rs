//! Output of a running command as lines. Pure.
//!
//! Printed lines stay on the page, so a line is printed once it is complete, or once it has not
//! changed between two prints. Between two prints only the last lines are kept.

use std::collections::VecDeque;

use pollux_protocol::LiveOutput;

/// Maximum number of lines that are printed at a time.
pub(crate) const SHOWN_LINES: usize = 12;
/// Maximum length of an incomplete line, in bytes.
const LONGEST: usize = 8 << 10;

/// Output of one command, as far as it is not printed yet.
#[derive(Debug, Default)]
pub struct LiveLines {
    /// Complete lines that are not printed yet.
    pending: VecDeque<String>,
    /// Number of lines that were dropped before the pending ones.
    skipped: u64,
    /// Last line, which may be incomplete.
    last: String,
    /// Last line at the time of the last print.
    last_before: String,
    /// Last line, if it was printed before it was complete.
    early: Option<String>,
    /// Number of screen lines that were taken so far.
    taken: u64,
    /// Last lines that were printed.
    printed: VecDeque<String>,
    /// Message about a failure at the end of the command.
    pub ending: Option<String>,
}

impl LiveLines {
    /// Takes live output.
    pub fn take(&mut self, output: &LiveOutput) {
        match output {
            LiveOutput::Append(text) => self.append(text),
            LiveOutput::Replace(text) => self.replace(text),
            LiveOutput::Screen { lines, above } => self.screen(&lines.text(), *above),
            LiveOutput::Ended(ending) => self.ending = Some(ending.clone()),
            LiveOutput::Input(_) | LiveOutput::ProcessGroup(_) => {}
        }
    }

    /// Returns the complete lines since the last call, at most [`SHOWN_LINES`] and a line about
    /// those before them.
    pub fn flush(&mut self) -> Vec<String> {
        let skipped = std::mem::take(&mut self.skipped);
        let lines: Vec<String> = self.pending.drain(..).collect();
        for line in &lines {
            push(&mut self.printed, line.clone());
        }
        let last = after_return(&self.last).to_owned();
        let is_steady = !last.is_empty() && self.last == self.last_before;
        let early = (is_steady && self.early.as_ref() != Some(&last)).then(|| {
            if self.early.replace(last.clone()).is_some() {
                self.printed.pop_back();
            }
            push(&mut self.printed, last.clone());
            last
        });
        self.last_before.clone_from(&self.last);
        earlier(skipped).into_iter().chain(lines).chain(early).collect()
    }

    /// Returns the last lines of the whole output that are not printed yet.
    pub fn rest(&self, whole: &str) -> Vec<String> {
        let all: Vec<&str> = whole.lines().map(after_return).collect();
        let known = self.printed.len();
        let is_printed = |window: &[&str]| self.printed.iter().eq(window);
        let start = match known {
            0 => 0,
            _ => all.windows(known).position(is_printed).map_or(0, |at| at + known),
        };
        let cut = all.len().saturating_sub(SHOWN_LINES).max(start);
        let lines = all[cut..].iter().map(|line| (*line).to_owned());
        earlier((cut - start) as u64).into_iter().chain(lines).collect()
    }

    fn append(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.last.push_str(piece.trim_end_matches('\n'));
            if piece.ends_with('\n') || self.last.len() > LONGEST {
                let line = std::mem::take(&mut self.last);
                self.add(after_return(&line));
            }
        }
    }

    /// Takes the end of output of which the beginning was dropped. A text that is repeated, such
    /// as the notice about binary output, is taken once.
    fn replace(&mut self, text: &str) {
        self.last.clear();
        let repeated = text.lines().next().is_some_and(|first| {
            self.pending.back().or(self.printed.back()).is_some_and(|last| last == first)
        });
        if !repeated {
            self.append(text);
        }
    }

    /// Takes the lines of a screen that are new. The last line may still change.
    fn screen(&mut self, text: &str, above: u64) {
        let lines: Vec<&str> = text.lines().collect();
        let complete = above + lines.len().saturating_sub(1) as u64;
        // A program may have cleared its screen, or a part of it.
        self.taken = self.taken.min(complete);
        self.skipped += above.saturating_sub(self.taken);
        self.taken = self.taken.max(above);
        let known = usize::try_from(self.taken - above).unwrap_or(usize::MAX);
        let last = lines.len().saturating_sub(1);
        for line in lines.iter().take(last).skip(known) {
            self.add(line);
        }
        self.taken = complete;
        lines.last().copied().unwrap_or_default().clone_into(&mut self.last);
    }

    /// Adds a complete line.
    fn add(&mut self, line: &str) {
        match self.early.take() {
            Some(early) if early == line => return,
            Some(_) => drop(self.printed.pop_back()),
            None => {}
        }
        self.skipped += u64::from(push(&mut self.pending, line.to_owned()));
    }
}

/// Appends a line; returns true if another line was dropped for it.
fn push(lines: &mut VecDeque<String>, line: String) -> bool {
    lines.push_back(line);
    lines.len() > SHOWN_LINES && lines.pop_front().is_some()
}

/// Returns the line about lines that are not shown.
fn earlier(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("... 1 earlier line".to_owned()),
        count => Some(format!("... {count} earlier lines")),
    }
}

/// Returns the text of a line after its last carriage return, as a terminal would show it.
fn after_return(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{AnsiOutput, AnsiToken};
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn append(text: &str) -> LiveOutput {
        LiveOutput::Append(text.to_owned())
    }

    fn screen(lines: &[String], above: u64) -> LiveOutput {
        let token = |text: &String| vec![AnsiToken { text: text.clone(), ..AnsiToken::default() }];
        LiveOutput::Screen { lines: AnsiOutput(lines.iter().map(token).collect()), above }
    }

    fn numbered(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("line {number}")).collect()
    }

    #[test]
    fn lines_are_printed_once_they_are_complete() {
        let mut live = LiveLines::default();
        live.take(&append("10%\r20%"));
        assert_eq!(live.flush(), [""; 0]);
        live.take(&append("\r100%\ntwo\nthr"));
        assert_eq!(live.flush(), ["100%", "two"]);
        live.take(&append("ee\n"));
        assert_eq!(live.flush(), ["three"]);
        assert_eq!(live.rest("10%\r20%\r100%\ntwo\nthree\nfour\n"), ["four"]);
    }

    #[test]
    fn the_end_of_long_output_is_kept() {
        let text = numbered(31).join("\n") + "\n";
        let mut live = LiveLines::default();
        assert_eq!(live.rest(&text)[..2], ["... 19 earlier lines", "line 20"]);
        live.take(&append(&text));
        let shown = live.flush();
        assert_eq!(shown.len(), 13);
        assert_eq!((shown[0].as_str(), shown[12].as_str()), ("... 19 earlier lines", "line 31"));
        assert_eq!(live.rest(&text), [""; 0]);
        assert_eq!(live.rest(&(text + "last")), ["last"]);
    }

    #[test]
    fn a_last_line_that_does_not_change_is_printed() {
        let mut live = LiveLines::default();
        live.take(&append("Listening"));
        assert_eq!(live.flush(), [""; 0]);
        assert_eq!(live.flush(), ["Listening"]);
        assert_eq!(live.flush(), [""; 0]);
        live.take(&append(" on 80"));
        assert_eq!(live.flush(), [""; 0]);
        assert_eq!(live.flush(), ["Listening on 80"]);
        live.take(&append("\nnext\n"));
        assert_eq!(live.flush(), ["next"]);
        assert_eq!(live.rest("Listening on 80\nnext\nlast"), ["last"]);
        let mut live = LiveLines::default();
        live.take(&screen(&numbered(2), 0));
        assert_eq!((live.flush().len(), live.flush()), (1, vec!["line 2".to_owned()]));
        live.take(&screen(&numbered(4), 0));
        assert_eq!(live.flush(), ["line 3"]);
        assert_eq!(live.rest(&numbered(4).join("\n")), ["line 4"]);
    }

    #[test]
    fn a_repeated_text_is_taken_once() {
        let mut live = LiveLines::default();
        for size in ["1 KB", "2 KB"] {
            live.take(&LiveOutput::Replace(format!("[Binary output]\n[{size} received]")));
        }
        assert_eq!(live.flush(), ["[Binary output]"]);
        live.take(&LiveOutput::Replace("[Binary output]\n[3 KB received]".to_owned()));
        assert_eq!(live.flush(), [""; 0]);
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut live = LiveLines::default();
        for _ in 0..100 {
            live.take(&append(&"x".repeat(1000)));
        }
        assert!(live.last.len() <= LONGEST && !live.pending.is_empty());
    }

    #[test]
    fn a_cleared_screen_repeats_nothing() {
        let mut live = LiveLines::default();
        live.take(&screen(&numbered(5), 0));
        assert_eq!(live.flush(), numbered(4));
        live.take(&screen(&numbered(3), 0));
        assert_eq!(live.flush(), [""; 0]);
    }

    proptest! {
        #[test]
        fn every_line_of_a_screen_is_printed_once_or_counted(
            rows in 2..8_usize,
            looks in prop::collection::vec(0..12_usize, 1..8),
        ) {
            let (mut live, mut all) = (LiveLines::default(), 0_usize);
            let (mut shown, mut counted) = (Vec::new(), 0);
            for more in looks {
                all += more;
                all += 1;
                let lines = numbered(all);
                let above = all.saturating_sub(rows);
                live.take(&screen(&lines[above..], above as u64));
                for line in live.flush() {
                    match line.strip_prefix("... ") {
                        Some(count) => {
                            let count = count.split(' ').next().unwrap();
                            counted += count.parse::<usize>().unwrap();
                        }
                        None => shown.push(line),
                    }
                }
            }
            prop_assert_eq!(shown.len() + counted, all.saturating_sub(1));
            let mut sorted = shown.clone();
            sorted.sort_by_key(|line| line[5..].parse::<usize>().unwrap());
            prop_assert_eq!(shown, sorted);
        }
    }
}
