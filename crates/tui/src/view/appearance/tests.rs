use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_input::{ColourDepth, InputMode, TypedBytes};
use pollux_protocol::Event;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::view::TerminalView;
use crate::view::tests::{Agent, Stage};

/// Settings of a test, which can change.
#[derive(Clone)]
struct Files(Rc<RefCell<Value>>);

impl Files {
    fn new(ui: &Value) -> Self {
        Self(Rc::new(RefCell::new(json!({ "ui": ui }))))
    }

    fn stage<'a>(&self, agent: &'a Agent, terminal: Option<TerminalKind>) -> Stage<'a> {
        let files = self.clone();
        let read = move || SettingValues::new(Arc::new(files.0.borrow().clone()));
        Stage::with(agent, (80, 24), terminal, Box::new(read))
    }
}

fn true_colour() -> TerminalKind {
    TerminalKind { depth: ColourDepth::True, ..TerminalKind::default() }
}

fn drawn(stage: &mut Stage<'_>) -> String {
    stage.view.frames.change_at_once();
    String::from_utf8(stage.view.show()).unwrap()
}

fn open(stage: &mut Stage<'_>) {
    stage.view.submit("/theme".to_owned(), "/theme");
}

/// Accent colours of the themes.
const DEFAULT: &str = "38;2;215;175;255";
const DEFAULT_LIGHT: &str = "38;2;95;0;255";
const DRACULA: &str = "38;2;255;121;198";

#[test]
fn a_theme_follows_the_background_of_the_terminal() {
    let agent = Agent::default();
    let mut stage = Files::new(&json!({ "theme": "Default" })).stage(&agent, Some(true_colour()));
    let first = drawn(&mut stage);
    assert!(first.contains("\x1b]11;?\x1b\\") && first.contains(DEFAULT), "{first:?}");
    // An answer may come late, and in pieces; other text is no answer.
    for piece in ["a", "\x1b]11;rgb:ffff/fff", "f/ffff\x1b", "\\", "b"] {
        let at = Instant::now();
        stage.view.typed(&TypedBytes { bytes: piece.into(), mode: InputMode::Raw, at });
        assert!(stage.view.escape_end().is_none_or(|end| end > at + Duration::from_millis(500)));
    }
    let light = drawn(&mut stage);
    assert!(light.contains(DEFAULT_LIGHT) && light.contains("ab"), "{light:?}");
    assert!(!light.contains("]11"), "{light:?}");
    stage.keys(&["\x1b]11;rgb:garbage\x07"]);
    assert_eq!(drawn(&mut stage), "");
}

#[test]
fn a_terminal_is_only_asked_if_the_answer_matters() {
    let agent = Agent::default();
    let console = Some(TerminalKind { is_console: true, ..TerminalKind::default() });
    for (theme, terminal) in [
        ("", Some(true_colour())),
        ("ANSI", Some(true_colour())),
        ("Default", None),
        ("Default", console),
    ] {
        let mut stage = Files::new(&json!({ "theme": theme })).stage(&agent, terminal);
        assert!(!drawn(&mut stage).contains("]11;?"), "{theme}");
        // Nobody has asked for it.
        stage.keys(&["\x1b]11;#ffffff\x07"]);
        assert!(!drawn(&mut stage).contains(DEFAULT_LIGHT), "{theme}");
    }
}

#[test]
fn tmux_does_not_make_the_background_white() {
    let agent = Agent::default();
    let tmux = TerminalKind { multiplexer: Some(Multiplexer::Tmux), ..true_colour() };
    let mut stage = Files::new(&json!({ "theme": "Default" })).stage(&agent, Some(tmux));
    stage.keys(&["\x1b]11;rgb:ffff/ffff/ffff\x1b\\"]);
    assert!(drawn(&mut stage).contains(DEFAULT));
    stage.keys(&["\x1b]11;rgb:eeee/eeee/eeee\x1b\\"]);
    assert!(drawn(&mut stage).contains(DEFAULT_LIGHT));
}

#[test]
fn problems_of_a_theme_and_a_wrong_background_are_reported() {
    let agent = Agent::default();
    let ui =
        json!({ "theme": "Mine", "customThemes": { "Mine": { "name": "x", "Gray": "\u{7}" } } });
    let mut stage = Files::new(&ui).stage(&agent, Some(true_colour()));
    let page = drawn(&mut stage);
    assert!(page.contains("ui.customThemes.Mine: Gray: \"\\u{7}\" is no colour."), "{page}");
    let mut stage = Files::new(&json!({ "theme": "Dracula" })).stage(&agent, Some(true_colour()));
    drawn(&mut stage);
    stage.keys(&["\x1b]11;#ffffff\x07"]);
    let page = drawn(&mut stage);
    assert!(page.contains("is for a dark background"), "{page}");
    stage.keys(&["\x1b]11;#000000\x07", "\x1b]11;#ffffff\x07"]);
    assert!(!drawn(&mut stage).contains("is for a dark background"), "once is enough");
}

#[test]
fn a_theme_is_previewed_and_then_saved() {
    let agent = Agent::default();
    let files = Files::new(&json!({ "theme": "Default" }));
    let mut stage = files.stage(&agent, Some(true_colour()));
    open(&mut stage);
    let list = stage.live();
    assert!(list.iter().any(|row| row.starts_with("> Default Dark ")), "{list:?}");
    assert!(agent.asked().is_empty());
    drawn(&mut stage);
    stage.keys(&["drac"]);
    let preview = drawn(&mut stage);
    assert!(preview.contains(DRACULA) && !preview.contains(DEFAULT), "{preview:?}");
    // Esc shows the old theme again.
    stage.keys(&["\x1b"]);
    assert!(drawn(&mut stage).contains(DEFAULT));
    open(&mut stage);
    stage.keys(&["drac", "\r1\r"]);
    assert_eq!(agent.asked(), ["/settings "]);
    let command = "> /settings set ui.theme Dracula --scope user";
    assert_eq!(stage.finished().last().unwrap(), command);
    *files.0.borrow_mut() = json!({ "ui": { "theme": "Dracula" } });
    let changed = vec!["ui.theme".to_owned()];
    stage.event(Event::SettingsChanged { changed, restart: Vec::new() });
    let after = drawn(&mut stage);
    assert!(after.contains(DRACULA), "{after:?}");
    // Ctrl-C closes the list, and nothing else.
    open(&mut stage);
    pollux_input::Interaction::interrupt(&mut stage.view);
    assert_eq!(stage.live().last().unwrap(), "ask before changes · gemini-2.5-pro · ~/shop");
}

#[test]
fn a_question_comes_before_the_list() {
    let agent = Agent::default();
    let mut stage = Files::new(&json!({})).stage(&agent, Some(true_colour()));
    open(&mut stage);
    stage.event(crate::view::tests::question("make"));
    assert!(stage.live().iter().any(|row| row.contains("Allow once")));
    stage.keys(&["1"]);
    assert!(stage.live().iter().any(|row| row.contains("> Select Theme")));
}

fn last_row(stage: &mut Stage<'_>) -> String {
    stage.live().pop().unwrap()
}

#[test]
fn the_last_row_follows_the_settings_at_once() {
    let agent = Agent::default();
    let files = Files::new(&json!({ "footer": { "items": ["session-id", "model-name"] } }));
    let mut stage = files.stage(&agent, None);
    let items = "ask before changes · session s · gemini-2.5-pro";
    assert_eq!(last_row(&mut stage), items);
    let change = |stage: &mut Stage<'_>, ui: Value, key: &str| {
        *files.0.borrow_mut() = json!({ "ui": ui });
        let changed = vec![key.to_owned()];
        stage.event(Event::SettingsChanged { changed, restart: Vec::new() });
    };
    let ui = json!({ "footer": { "showLabels": false, "items": ["session-id"] } });
    change(&mut stage, ui, "ui.footer.showLabels");
    assert_eq!(last_row(&mut stage), "ask before changes · s");
    change(&mut stage, json!({ "footer": { "hideCWD": true } }), "ui.footer.hideCWD");
    assert_eq!(last_row(&mut stage), "ask before changes · gemini-2.5-pro");
    change(&mut stage, json!({ "hideFooter": true }), "ui.hideFooter");
    assert_eq!(last_row(&mut stage), ">   Type your message or @path/to/file");
    change(&mut stage, json!({ "showMemoryUsage": true }), "ui.showMemoryUsage");
    let row = last_row(&mut stage);
    assert!(cfg!(not(target_os = "linux")) || row.contains(" · memory "), "{row}");
}

#[test]
fn the_first_rows_can_be_hidden() {
    let agent = Agent::default();
    for (hides, count) in [(false, 1), (true, 0)] {
        let files = Files::new(&json!({ "hideBanner": hides, "hideTips": hides }));
        let mut stage = files.stage(&agent, None);
        assert_eq!(stage.finished().len(), count);
    }
}

#[test]
fn thoughts_models_and_sources_are_shown_if_they_are_wanted() {
    let agent = Agent::default();
    for is_wanted in [false, true] {
        let mode = if is_wanted { "full" } else { "off" };
        let ui = json!({
            "inlineThinkingMode": mode, "showModelInfoInChat": is_wanted, "showCitations": is_wanted,
        });
        let mut stage = Files::new(&ui).stage(&agent, None);
        stage.event(Event::TurnStarted { turn: 1 });
        stage.event(Event::Thought(pollux_protocol::Thought::parse("**Plan** look first")));
        stage.event(Event::Text("The answer.\n\n".to_owned()));
        stage.event(Event::Citations("Citations: a".to_owned()));
        let page = stage.finished().join("\n");
        for shown in ["Plan\n  look first", "gemini-2.5-pro\nThe answer.", "Citations: a"] {
            assert_eq!(page.contains(shown), is_wanted, "{shown}: {page}");
        }
    }
}

#[test]
fn the_queue_stays_above_a_question_if_that_is_wanted() {
    let agent = Agent::default();
    for collapses in [false, true] {
        let files = Files::new(&json!({ "collapseDrawerDuringApproval": collapses }));
        let mut stage = files.stage(&agent, None);
        stage.keys(&["one", "\r", "two", "\r"]);
        stage.event(crate::view::tests::question("make"));
        let page = stage.live().join("\n");
        assert_eq!(page.contains("Queued"), !collapses, "{page}");
        assert!(page.contains("Allow once"), "{page}");
    }
}

#[test]
fn the_window_shows_the_state_and_a_notification_calls_the_user() {
    let agent = Agent::default();
    let files = Files::new(&json!({}));
    files.0.borrow_mut()["general"] = json!({ "enableNotifications": true });
    let mut stage = files.stage(&agent, Some(true_colour()));
    let first = drawn(&mut stage);
    assert!(first.contains("\x1b]0;\u{25c7}  Ready (shop)\x07"), "{first:?}");
    assert!(first.contains("\x1b[?1004h"), "{first:?}");
    stage.keys(&["one", "\r", "\x1b[O"]);
    assert!(drawn(&mut stage).contains("\u{2726}  Working"));
    stage.event(crate::view::tests::question("make"));
    let asked = drawn(&mut stage);
    assert!(asked.contains("Action Required") && asked.contains("\x1b]777;notify;"), "{asked:?}");
    stage.keys(&["\x1b[I", "1"]);
    stage.end();
    let ended = drawn(&mut stage);
    assert!(ended.contains("Ready (shop)") && !ended.contains("]777;"), "{ended:?}");
    let left = String::from_utf8(stage.view.leave()).unwrap();
    assert!(left.ends_with("\x1b[?1004l\x1b]0;\x07\x1b[23;0t"), "{left:?}");
}
