//! The commands in the background: a panel above the input, of which one is chosen. Pure.

use std::time::Instant;

use pollux_input::KeyPress;
use pollux_protocol::BackgroundCommand;
use pollux_protocol::plain_text::{for_terminal, one_line};

use crate::clock::seconds;
use crate::fold::cut_to;
use crate::row::{Look, Row};

/// Maximum number of commands that are shown at a time.
const SHOWN: usize = 5;

/// The panel.
#[derive(Debug, Default)]
pub(crate) struct BackgroundPanel {
    /// Process number of the chosen command; `None` for the first one.
    chosen: Option<u32>,
}

/// Effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PanelStep {
    /// The panel stays.
    Open,
    /// The panel closes, and the key has its usual effect if there is one.
    Close(Option<KeyPress>),
    /// Shows the output of a command.
    Show(u32),
    /// Ends a command.
    Stop(u32),
}

impl BackgroundPanel {
    fn place(&self, commands: &[BackgroundCommand]) -> usize {
        let place = commands.iter().position(|command| Some(command.id) == self.chosen);
        place.unwrap_or(0)
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress, commands: &[BackgroundCommand]) -> PanelStep {
        let place = self.place(commands);
        let Some(chosen) = commands.get(place) else { return PanelStep::Close(Some(key)) };
        match key {
            KeyPress::Up | KeyPress::Down => {
                let step = if key == KeyPress::Down { 1 } else { commands.len() - 1 };
                self.chosen = commands.get((place + step) % commands.len()).map(|next| next.id);
                PanelStep::Open
            }
            KeyPress::Enter => PanelStep::Show(chosen.id),
            KeyPress::KillRight => PanelStep::Stop(chosen.id),
            KeyPress::Escape | KeyPress::Background => PanelStep::Close(None),
            key => PanelStep::Close(Some(key)),
        }
    }

    /// Returns the rows.
    pub(crate) fn rows(
        &self,
        commands: &[BackgroundCommand],
        now: Instant,
        cells: usize,
    ) -> Vec<Row> {
        if commands.is_empty() {
            return Vec::new();
        }
        let title = format!(
            "{} · Enter shows the output · Ctrl+K stops it · Esc closes",
            counted(commands.len())
        );
        let mut rows = vec![Row::new(Look::Dim, cut_to(&title, cells))];
        let place = self.place(commands);
        let start = (place + 1).saturating_sub(SHOWN);
        for (index, command) in commands.iter().enumerate().skip(start).take(SHOWN) {
            let (mark, look) =
                if index == place { ("> ", Look::Cyan) } else { ("  ", Look::Plain) };
            let time = seconds(now.saturating_duration_since(command.since));
            let time = time.map_or_else(String::new, |time| format!(" · {time}"));
            let text = one_line(&for_terminal(&command.command));
            let row = format!("{mark}{}{time} · {text}", command.id);
            rows.push(Row::new(look, cut_to(&row, cells)));
        }
        let more = commands.len() - (rows.len() - 1);
        if more > 0 {
            rows.push(Row::new(Look::Dim, cut_to(&format!("  ... (+{more} more)"), cells)));
        }
        rows
    }
}

/// Returns the number of commands in words.
pub(crate) fn counted(count: usize) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} background command{end}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    fn commands(count: u32, now: Instant) -> Vec<BackgroundCommand> {
        let command = |id| BackgroundCommand { id, command: format!("run {id}"), since: now };
        (1..=count).map(command).collect()
    }

    #[test]
    fn the_chosen_command_is_shown_and_stopped() {
        let now = Instant::now();
        let later = now + Duration::from_secs(63);
        let all = commands(7, now);
        let mut panel = BackgroundPanel::default();
        let texts = |panel: &BackgroundPanel| -> Vec<String> {
            panel.rows(&all, later, 79).iter().map(Row::text).collect()
        };
        assert_eq!(texts(&panel)[1], "> 1 · 1 min 3 s · run 1");
        assert_eq!(texts(&panel)[6], "  ... (+2 more)");
        assert_eq!(panel.press(KeyPress::Up, &all), PanelStep::Open);
        assert_eq!(texts(&panel)[5], "> 7 · 1 min 3 s · run 7");
        assert_eq!(panel.press(KeyPress::Enter, &all), PanelStep::Show(7));
        assert_eq!(panel.press(KeyPress::KillRight, &all), PanelStep::Stop(7));
        // The command has ended: the first one is chosen.
        assert_eq!(panel.press(KeyPress::Enter, &all[..6]), PanelStep::Show(1));
        let text = KeyPress::Text("a".to_owned());
        assert_eq!(panel.press(text.clone(), &all), PanelStep::Close(Some(text)));
        assert_eq!(panel.press(KeyPress::Escape, &all), PanelStep::Close(None));
        assert_eq!(panel.rows(&[], later, 79), []);
    }
}
