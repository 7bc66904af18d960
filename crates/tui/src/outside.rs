//! Signs outside of the text: the title of the window, its progress, and notifications. Pure: the
//! results are sequences for the terminal.

use std::time::{Duration, Instant};

use pollux_input::TerminalKind;
use pollux_protocol::SettingValues;
use pollux_protocol::plain_text::{for_terminal, one_line};
use serde_json::Value;

use crate::fold::cut_to;

/// Minimum time between two notifications about the same.
const PAUSE: Duration = Duration::from_secs(20);
/// Time after a key in which the user is at a terminal that reports no focus.
const PRESENT: Duration = Duration::from_secs(10);
/// Maximum width of a title and of a text in a notification, in cells.
const TITLE: usize = 80;
const TEXT: usize = 120;

/// Sequences that keep the title of the window, and bring it back. A terminal that does not know
/// them gets no title back, so the title is emptied before.
const KEEP_TITLE: &str = "\x1b[22;0t";
const OLD_TITLE: &str = "\x1b]0;\x07\x1b[23;0t";
/// Sequences that begin and end an indefinite progress (OSC 9;4).
const PROGRESS: &str = "\x1b]9;4;3;0\x07";
const NO_PROGRESS: &str = "\x1b]9;4;0;0\x07";
/// Sequences that switch reports of the focus on and off.
const REPORT_FOCUS: &str = "\x1b[?1004h";
const NO_FOCUS: &str = "\x1b[?1004l";

/// Terminals that show a progress. Others take its sequence for a notification.
const WITH_PROGRESS: [&str; 3] = ["windows_terminal", "ghostty", "xterm-ghostty"];
/// Terminals that show the notifications of OSC 9, and those that only ring their bell.
const WITH_OSC_9: [&str; 1] = ["iterm.app"];
const WITH_BELL: [&str; 4] = ["alacritty", "apple_terminal", "vscode", "windows_terminal"];

/// State of the conversation, as the title shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TitleState {
    Ready,
    /// Works, on this thought if it is known.
    Working(Option<String>),
    /// The user must decide.
    ActionRequired,
}

/// Reason of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotifyReason {
    /// A question waits.
    Question,
    /// The work has ended.
    End,
}

/// Form of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotifyMethod {
    Osc9,
    Osc777,
    Bell,
}

/// Settings of the signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OutsideSettings {
    has_title: bool,
    is_dynamic: bool,
    names_thought: bool,
    has_progress: bool,
    notifies: Option<NotifyMethod>,
}

/// The signs that a terminal shows.
#[derive(Debug)]
pub(crate) struct Outside {
    terminal: TerminalKind,
    /// Name of the folder, or the name that the user has given the window.
    place: String,
    settings: OutsideSettings,
    /// Title that is shown; `None` before the first one.
    title: Option<String>,
    has_progress: bool,
    reports_focus: bool,
    /// Focus of the window, if the terminal has reported it.
    focus: Option<bool>,
    last: Option<(NotifyReason, Instant)>,
}

impl Outside {
    /// Creates the signs of a conversation in a folder of this name.
    pub(crate) fn new(terminal: TerminalKind, place: &str, settings: &SettingValues) -> Self {
        let settings = OutsideSettings::read(settings, &terminal);
        Self {
            terminal,
            place: one_line(&for_terminal(place)),
            settings,
            title: None,
            has_progress: false,
            reports_focus: false,
            focus: None,
            last: None,
        }
    }

    /// Takes settings that have changed; returns the sequences that remove what is switched off.
    pub(crate) fn set(&mut self, settings: &SettingValues) -> String {
        let new = OutsideSettings::read(settings, &self.terminal);
        if new == self.settings {
            return String::new();
        }
        let removed = self.remove();
        self.settings = new;
        removed
    }

    /// Records the focus of the window.
    pub(crate) fn focused(&mut self, has_focus: bool) {
        self.focus = Some(has_focus);
    }

    /// Returns the sequences that show a state; empty if it is shown.
    pub(crate) fn show(&mut self, state: &TitleState) -> String {
        let mut sequences = String::new();
        if self.settings.notifies.is_some() && !self.reports_focus {
            self.reports_focus = true;
            sequences.push_str(REPORT_FOCUS);
        }
        if self.settings.has_title {
            let title = self.title_of(state);
            if self.title.is_none() {
                sequences.push_str(KEEP_TITLE);
            }
            if self.title.as_ref() != Some(&title) {
                sequences.extend(["\x1b]0;", &title, "\x07"]);
                self.title = Some(title);
            }
        }
        let is_working = matches!(state, TitleState::Working(_));
        if self.settings.has_progress && is_working != self.has_progress {
            self.has_progress = is_working;
            sequences.push_str(if is_working { PROGRESS } else { NO_PROGRESS });
        }
        sequences
    }

    fn title_of(&self, state: &TitleState) -> String {
        let place = &self.place;
        let title = match state {
            _ if !self.settings.is_dynamic => format!("Pollux ({place})"),
            TitleState::Ready => format!("\u{25c7}  Ready ({place})"),
            TitleState::ActionRequired => format!("\u{270b}  Action Required ({place})"),
            TitleState::Working(thought) => {
                let thought = thought.as_deref().filter(|_| self.settings.names_thought);
                let what = thought.map(|thought| one_line(&for_terminal(thought)));
                let what = what.filter(|what| !what.is_empty());
                format!("\u{2726}  {} ({place})", what.as_deref().unwrap_or("Working\u{2026}"))
            }
        };
        cut_to(&title, TITLE)
    }

    /// Returns the sequence of a notification; `None` if the user is there, does not want any, or
    /// got the same a short time ago. `last_key` is the time of the last key.
    pub(crate) fn notify(
        &mut self,
        reason: NotifyReason,
        text: &str,
        last_key: Option<Instant>,
        now: Instant,
    ) -> Option<String> {
        let method = self.settings.notifies?;
        let is_present = self.focus.unwrap_or_else(|| {
            last_key.is_some_and(|last| now.saturating_duration_since(last) < PRESENT)
        });
        let is_repeated = self
            .last
            .is_some_and(|(last, at)| last == reason && now.saturating_duration_since(at) < PAUSE);
        if is_present || is_repeated {
            return None;
        }
        self.last = Some((reason, now));
        let title = match reason {
            NotifyReason::Question => "Pollux needs your attention",
            NotifyReason::End => "Pollux has finished",
        };
        let text = cut_to(&one_line(&for_terminal(text)), TEXT).replace(';', ",");
        let sequence = match method {
            NotifyMethod::Bell => return Some("\x07".to_owned()),
            NotifyMethod::Osc9 => format!("\x1b]9;{title}: {text}\x07"),
            NotifyMethod::Osc777 => format!("\x1b]777;notify;{title};{text}\x07"),
        };
        Some(self.terminal.passed_through(&sequence))
    }

    /// Returns the sequences that remove all signs, and bring the old title back.
    pub(crate) fn remove(&mut self) -> String {
        let mut sequences = String::new();
        if std::mem::take(&mut self.reports_focus) {
            sequences.push_str(NO_FOCUS);
        }
        if std::mem::take(&mut self.has_progress) {
            sequences.push_str(NO_PROGRESS);
        }
        if self.title.take().is_some() {
            sequences.push_str(OLD_TITLE);
        }
        self.focus = None;
        sequences
    }
}

impl OutsideSettings {
    fn read(settings: &SettingValues, terminal: &TerminalKind) -> Self {
        let is = |key: &str, default: bool| {
            settings.get(key).and_then(Value::as_bool).unwrap_or(default)
        };
        let named = |names: &[&str]| names.contains(&terminal.name.as_str());
        let method = settings.get("general.notificationMethod").and_then(Value::as_str);
        let method = match method {
            Some("osc9") => NotifyMethod::Osc9,
            Some("osc777") => NotifyMethod::Osc777,
            Some("bell") => NotifyMethod::Bell,
            _ if named(&WITH_OSC_9) => NotifyMethod::Osc9,
            _ if named(&WITH_BELL) || terminal.is_console => NotifyMethod::Bell,
            _ => NotifyMethod::Osc777,
        };
        let has_progress = terminal.multiplexer.is_none() && named(&WITH_PROGRESS);
        Self {
            // The console of Linux has no title.
            has_title: !is("ui.hideWindowTitle", false) && !terminal.is_console,
            is_dynamic: is("ui.dynamicWindowTitle", true),
            names_thought: is("ui.showStatusInTitle", false),
            has_progress: has_progress && is("pollux.terminalProgress", true),
            notifies: is("general.enableNotifications", false).then_some(method),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pollux_input::Multiplexer;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn outside(terminal: &str, settings: Value) -> Outside {
        let terminal = TerminalKind { name: terminal.to_owned(), ..TerminalKind::default() };
        Outside::new(terminal, "shop\u{1b}", &SettingValues::new(Arc::new(settings)))
    }

    fn working() -> TitleState {
        TitleState::Working(Some("A\u{7} thought".to_owned()))
    }

    #[test]
    fn the_title_changes_with_the_state_and_comes_back() {
        let mut signs = outside("xterm", json!({}));
        assert_eq!(signs.show(&TitleState::Ready), "\x1b[22;0t\x1b]0;\u{25c7}  Ready (shop)\x07");
        assert_eq!(signs.show(&TitleState::Ready), "");
        assert_eq!(signs.show(&working()), "\x1b]0;\u{2726}  Working\u{2026} (shop)\x07");
        assert_eq!(
            signs.show(&TitleState::ActionRequired),
            "\x1b]0;\u{270b}  Action Required (shop)\x07"
        );
        assert_eq!(signs.remove(), "\x1b]0;\x07\x1b[23;0t");
        assert_eq!(signs.remove(), "");
        let mut signs = outside("xterm", json!({ "ui": { "showStatusInTitle": true } }));
        signs.show(&TitleState::Ready);
        assert_eq!(signs.show(&working()), "\x1b]0;\u{2726}  A thought (shop)\x07");
        let mut signs = outside("xterm", json!({ "ui": { "dynamicWindowTitle": false } }));
        assert!(signs.show(&working()).ends_with("\x1b]0;Pollux (shop)\x07"));
        assert_eq!(signs.show(&TitleState::Ready), "");
        let hidden = SettingValues::new(Arc::new(json!({ "ui": { "hideWindowTitle": true } })));
        assert_eq!(signs.set(&hidden), "\x1b]0;\x07\x1b[23;0t");
        assert_eq!((signs.show(&working()), signs.remove()), (String::new(), String::new()));
    }

    #[test]
    fn a_progress_is_only_shown_where_it_is_one() {
        let shown = |name: &str, settings: Value| {
            let mut signs = outside(name, settings);
            let begin = signs.show(&working()).contains(PROGRESS);
            (begin, signs.remove().contains(NO_PROGRESS))
        };
        assert_eq!(shown("ghostty", json!({})), (true, true));
        assert_eq!(shown("iterm.app", json!({})), (false, false));
        let off = json!({ "pollux": { "terminalProgress": false } });
        assert_eq!(shown("ghostty", off), (false, false));
    }

    #[test]
    fn notifications_come_while_the_user_is_away() {
        let on = json!({ "general": { "enableNotifications": true } });
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut signs = outside("xterm", on.clone());
        assert!(signs.show(&TitleState::Ready).starts_with(REPORT_FOCUS));
        let notify = |signs: &mut Outside, at| {
            signs.notify(NotifyReason::End, "a;b\u{7}\nc", Some(start), at)
        };
        assert_eq!(notify(&mut signs, after(1)), None, "a key was pressed a moment ago");
        signs.focused(true);
        assert_eq!(notify(&mut signs, after(100)), None);
        signs.focused(false);
        let expected = "\x1b]777;notify;Pollux has finished;a,b c\x07";
        assert_eq!(notify(&mut signs, after(100)).as_deref(), Some(expected));
        assert_eq!(notify(&mut signs, after(110)), None, "the same again");
        let other = signs.notify(NotifyReason::Question, "x", None, after(110));
        assert!(other.is_some());
        assert!(notify(&mut signs, after(131)).is_some());
        assert!(signs.remove().starts_with(NO_FOCUS));
        for (name, form) in [("iterm.app", "\x1b]9;Pollux"), ("vscode", "\x07")] {
            let mut signs = outside(name, on.clone());
            assert!(notify(&mut signs, after(100)).unwrap().starts_with(form), "{name}");
        }
        let mut tmux = outside("tmux-256color", on);
        tmux.terminal.multiplexer = Some(Multiplexer::Tmux);
        assert!(notify(&mut tmux, after(100)).unwrap().starts_with("\x1bPtmux;\x1b\x1b]777;"));
        assert_eq!(notify(&mut outside("xterm", json!({})), after(100)), None);
    }
}
