//! Lists in place of the input of the screen: sessions, models, settings.

use pollux_testkit::{Key, reply};

use super::screen::{PLACEHOLDER, Talk, on_screen};

#[test]
fn an_earlier_session_is_resumed_and_deleted() {
    let talk = Talk::with([reply().text("Apples it is."), reply().text("Plums it is.")]);
    talk.line("buy apples");
    talk.wait("Apples it is.");
    talk.idle();
    let (stage, _) = talk.end();
    let terminal = on_screen(stage.pollux(&[])).in_terminal(24, 80);
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.line("buy plums");
    talk.wait("Plums it is.");
    talk.idle();
    talk.line("/resume");
    talk.wait("> (current) buy plums");
    talk.wait("2 messages  20");
    talk.terminal.send("APPLES");
    talk.wait("\n> buy apples");
    talk.wait("1 of 1 \u{b7} Enter resumes \u{b7} Del deletes \u{b7} Esc");
    talk.enter();
    talk.wait("> buy apples\n\nApples it is.\n");
    talk.idle();
    talk.line("/chat");
    talk.wait("(current) buy apples");
    talk.terminal.send("plums");
    talk.wait("1 of 1");
    talk.terminal.send("\x1b[3~");
    talk.wait("Delete this session with its files? y deletes it, other keys keep it");
    talk.terminal.send("y");
    talk.wait("No session contains these words.");
    talk.terminal.send_key(Key::Escape);
    talk.wait(PLACEHOLDER);
    let (stage, _) = talk.end();
    let listed = stage.program().args(["--list-sessions"]).run().stdout_text();
    assert!(listed.contains("(1):") && listed.contains("buy apples"), "{listed}");
}

#[test]
fn a_model_is_found_and_selected() {
    let talk = Talk::with([reply().text("It is me.")]);
    talk.line("/model");
    talk.wait("  NAME ");
    talk.wait("> (current) gemini-2.5-pro ");
    talk.terminal.send("2.5 flash");
    talk.wait("> gemini-2.5-flash ");
    talk.wait("  Google \u{b7} 1M tokens of context");
    talk.enter();
    talk.wait("Model: gemini-2.5-flash");
    talk.idle();
    talk.line("who are you?");
    talk.wait("It is me.");
    let path = talk.stage.server.last_request().path;
    assert!(path.contains("gemini-2.5-flash"), "{path}");
    talk.end();
}

#[test]
fn a_setting_is_found_and_changed() {
    let talk = Talk::with([]);
    talk.line("/settings");
    talk.wait("> Settings\n");
    talk.terminal.send("vimmode");
    talk.wait("> general.vimMode");
    talk.wait(" false");
    talk.enter();
    talk.wait(" true  (user)");
    talk.terminal.send_key(Key::Ctrl('u'));
    talk.terminal.send("maxsessiont");
    talk.wait("> model.maxSessionTurns");
    talk.enter();
    talk.wait("Enter saves \u{b7} Esc keeps the value");
    talk.terminal.send_key(Key::Ctrl('u'));
    talk.terminal.send("12");
    talk.enter();
    talk.wait(" 12  (user)");
    talk.terminal.send_key(Key::Ctrl('l'));
    talk.wait(" -1\n");
    let file = talk.stage.home.gemini().join("settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"vimMode\": true") && !text.contains("maxSessionTurns"), "{text}");
    // Another program changes it.
    std::fs::write(&file, text.replacen('{', "{\"model\": {\"maxSessionTurns\": 34},", 1)).unwrap();
    talk.wait(" 34  (user)");
    talk.terminal.send_key(Key::Escape);
    talk.wait("[INSERT]");
}
