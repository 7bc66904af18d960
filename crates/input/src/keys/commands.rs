//! Commands that keys can be bound to, with their usual keys.

use super::KeyPress;

/// Command with its usual keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCommand {
    /// Names in a file of key bindings: those of Gemini CLI's commands that have this effect, or
    /// parts of it. Empty if keys cannot be bound to it.
    pub names: &'static [&'static str],
    /// Effect.
    pub press: KeyPress,
    /// Usual keys, as they are written in a file.
    pub keys: &'static [&'static str],
    /// Effect in a few words, as a verb in the third person; empty for one that is not listed.
    pub effect: &'static str,
}

/// All commands, in the order in which they are listed.
pub const KEY_COMMANDS: &[KeyCommand] = &[
    command(
        &["input.submit", "basic.confirm", "history.search.submit", "background.select"],
        KeyPress::Enter,
        &["enter"],
        "sends the prompt",
    ),
    command(
        &["input.newline"],
        KeyPress::Newline,
        &["alt+enter", "shift+enter", "ctrl+enter", "ctrl+j", "cmd+enter"],
        "begins a new line in the prompt",
    ),
    command(
        &["suggest.accept", "history.search.accept", "nav.dialog.next"],
        KeyPress::Tab,
        &["tab"],
        "completes a command or an @path",
    ),
    command(
        &["basic.cancel", "background.escape"],
        KeyPress::Escape,
        &["escape"],
        "stops the work; says no to a question",
    ),
    command(
        &["nav.up", "history.previous", "suggest.focusPrevious", "nav.dialog.up", "cursor.up"],
        KeyPress::Up,
        &["up", "ctrl+p", "ctrl+up"],
        "shows an earlier prompt",
    ),
    command(
        &["nav.down", "history.next", "suggest.focusNext", "nav.dialog.down", "cursor.down"],
        KeyPress::Down,
        &["down", "ctrl+n", "ctrl+down"],
        "shows a later prompt",
    ),
    command(&["history.search.start"], KeyPress::Search, &["ctrl+r"], "searches earlier prompts"),
    command(&["cursor.left"], KeyPress::Left, &["left"], "moves by a character"),
    command(
        &["background.toggle"],
        KeyPress::Background,
        &["ctrl+b"],
        "moves to the left; on the screen: background commands",
    ),
    command(&["cursor.right"], KeyPress::Right, &["right", "ctrl+f"], "moves by a character"),
    command(
        &["cursor.wordLeft"],
        KeyPress::WordLeft,
        &["alt+b", "ctrl+left", "alt+left"],
        "moves to the previous word",
    ),
    command(
        &["cursor.wordRight"],
        KeyPress::WordRight,
        &["alt+f", "ctrl+right", "alt+right"],
        "moves to the next word",
    ),
    command(
        &["cursor.home"],
        KeyPress::Home,
        &["ctrl+a", "home", "alt+home"],
        "moves to the start of the line",
    ),
    command(
        &["cursor.end"],
        KeyPress::End,
        &["ctrl+e", "end", "alt+end"],
        "moves to the end of the line",
    ),
    command(
        &["edit.deleteLeft"],
        KeyPress::Backspace,
        &["backspace", "ctrl+h"],
        "deletes the character before the cursor",
    ),
    command(
        &["edit.deleteRight"],
        KeyPress::Delete,
        &["delete"],
        "deletes the character after the cursor",
    ),
    command(
        &[],
        KeyPress::KillWord,
        &["ctrl+w"],
        "deletes the word before the cursor, up to a blank",
    ),
    command(
        &["edit.deleteWordLeft"],
        KeyPress::KillWordLeft,
        &["alt+backspace", "ctrl+backspace"],
        "deletes the word before the cursor",
    ),
    command(
        &["edit.deleteWordRight"],
        KeyPress::KillWordRight,
        &["alt+d", "ctrl+delete", "alt+delete"],
        "deletes the word after the cursor",
    ),
    command(
        &["edit.deleteLeftAll"],
        KeyPress::KillLeft,
        &["ctrl+u"],
        "deletes the line before the cursor",
    ),
    command(
        &["edit.deleteRightAll", "background.kill"],
        KeyPress::KillRight,
        &["ctrl+k"],
        "deletes the line after the cursor",
    ),
    command(&[], KeyPress::Yank, &["ctrl+y"], "inserts the text that was deleted last"),
    command(
        &["edit.undo"],
        KeyPress::Undo,
        &["ctrl+_", "alt+z", "cmd+z"],
        "undoes the last change",
    ),
    command(
        &["input.openExternalEditor"],
        KeyPress::ExternalEditor,
        &["ctrl+g", "ctrl+shift+g"],
        "opens the prompt in your editor (also Ctrl-X Ctrl-E)",
    ),
    command(
        &["input.paste"],
        KeyPress::Paste,
        &["ctrl+v", "alt+v", "cmd+v"],
        "on the screen: inserts the image or text of the clipboard",
    ),
    command(
        &["app.showMoreLines"],
        KeyPress::Transcript,
        &["ctrl+o"],
        "on the screen: shows the whole conversation",
    ),
    command(
        &["app.showFullTodos"],
        KeyPress::Todos,
        &["ctrl+t"],
        "on the screen: shows the whole to-do list",
    ),
    command(
        &["app.cycleApprovalMode", "nav.dialog.previous"],
        KeyPress::CycleMode,
        &["shift+tab"],
        "on the screen: changes the approval mode",
    ),
    command(&[], KeyPress::AltUp, &["alt+up"], "on the screen: chooses a queued prompt"),
    command(&[], KeyPress::AltDown, &["alt+down"], "on the screen: chooses the next queued prompt"),
    command(
        &["scroll.up"],
        KeyPress::ShiftUp,
        &["shift+up"],
        "on the screen: moves the chosen prompt up",
    ),
    command(
        &["scroll.down"],
        KeyPress::ShiftDown,
        &["shift+down"],
        "on the screen: moves the chosen prompt down",
    ),
    command(&["scroll.pageUp"], KeyPress::PageUp, &["pageup"], "in the transcript: a screen up"),
    command(
        &["scroll.pageDown"],
        KeyPress::PageDown,
        &["pagedown"],
        "in the transcript and in questions: a screen down",
    ),
    command(&["scroll.home"], KeyPress::ScrollStart, &["ctrl+home", "shift+home"], ""),
    command(&["scroll.end"], KeyPress::ScrollEnd, &["ctrl+end", "shift+end"], ""),
    command(&["app.clearScreen"], KeyPress::ClearScreen, &["ctrl+l"], "clears the screen"),
    command(&["basic.exit"], KeyPress::EndOfInput, &["ctrl+d"], "quits, if the line is empty"),
];

/// Commands of Gemini CLI that have no effect here.
pub(super) const WITHOUT_EFFECT: &[&str] = &[
    "edit.clear",
    "edit.redo",
    "suggest.expand",
    "suggest.collapse",
    "input.queueMessage",
    "input.deprecatedOpenExternalEditor",
    "app.showErrorDetails",
    "app.showIdeContextDetail",
    "app.toggleMarkdown",
    "app.toggleCopyMode",
    "app.toggleMouseMode",
    "app.toggleYolo",
    "app.expandPaste",
    "app.focusShellInput",
    "app.unfocusShellInput",
    "app.showShellUnfocusWarning",
    "app.restart",
    "app.voiceModePTT",
    "app.dumpFrame",
    "app.startRecording",
    "app.stopRecording",
    "background.toggleList",
    "background.unfocus",
    "background.unfocusList",
    "background.unfocusWarning",
    "extension.update",
    "extension.link",
];

/// Commands whose keys the terminal turns into signals.
pub(super) const SIGNALS: [&str; 2] = ["basic.quit", "app.suspend"];

/// Keys that the terminal turns into signals.
pub const SIGNAL_KEYS: [(&str, &str); 2] = [
    ("Ctrl-C", "stops the work, or clears the line; twice: quits"),
    ("Ctrl-Z", "stops the program; `fg` continues it"),
];

const fn command(
    names: &'static [&'static str],
    press: KeyPress,
    keys: &'static [&'static str],
    effect: &'static str,
) -> KeyCommand {
    KeyCommand { names, press, keys, effect }
}
