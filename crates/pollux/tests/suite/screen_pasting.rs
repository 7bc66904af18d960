//! The clipboard of the desktop, and files that are dragged into the terminal, on the screen.

use pollux_testkit::{Key, ModelReply, reply, write_executable};
use serde_json::json;

use super::screen::{PLACEHOLDER, Talk, on_screen};
use super::stage::Stage;

/// The smallest image: one pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A conversation on a desktop whose clipboard this script reads.
fn on_desktop(script: &str, replies: impl IntoIterator<Item = ModelReply>) -> Talk {
    let stage = Stage::with(replies);
    let programs = stage.home.root().join("programs");
    std::fs::create_dir(&programs).unwrap();
    write_executable(programs.join("xclip"), &format!("#!/bin/sh\n{script}\n"));
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let program = on_screen(stage.pollux(&[])).env("DISPLAY", ":9").env("PATH", path);
    let terminal = program.in_terminal(24, 100);
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk
}

#[test]
fn an_image_of_the_clipboard_goes_to_the_model() {
    let script = format!(
        "case \"$*\" in *TARGETS) echo image/png;; *image/png) echo {IMAGE} | base64 -d;; esac"
    );
    let talk = on_desktop(&script, [reply().text("I see.")]);
    talk.terminal.send("what is this? ");
    talk.wait("what is this?");
    talk.terminal.send_key(Key::Ctrl('v'));
    talk.wait("what is this? @/");
    talk.wait(".png");
    talk.enter();
    talk.wait("I see.");
    talk.idle();
    let (stage, _) = talk.end();
    let sent = stage.requests()[0].last_parts().to_vec();
    let image = sent.iter().find_map(|part| part.get("inlineData")).unwrap();
    assert_eq!(*image, json!({"mimeType": "image/png", "data": IMAGE}));
}

#[test]
fn a_text_of_the_clipboard_is_inserted() {
    let talk =
        on_desktop("case \"$*\" in *TARGETS) echo UTF8_STRING;; *) printf 'one\\ntwo';; esac", []);
    talk.terminal.send_key(Key::Ctrl('v'));
    talk.wait("> one\n  two");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait(PLACEHOLDER);
    talk.end();
}

#[test]
fn an_empty_clipboard_is_explained() {
    let talk = on_desktop("echo 'Error: target TARGETS not available' >&2; exit 1", []);
    talk.terminal.send_key(Key::Ctrl('v'));
    talk.wait("The clipboard has nothing to paste (xclip: Error: target TARGETS not available).");
    talk.end();
}

#[test]
fn a_dragged_file_goes_to_the_model() {
    let talk = Talk::with([reply().text("I see.")]);
    talk.stage.home.project_file("a note.txt", "a needle");
    let path = talk.stage.home.project().join("a note.txt");
    talk.terminal.send(&format!("\u{1b}[200~'{}'\u{1b}[201~", path.display()));
    talk.wait("a\\ note.txt");
    talk.enter();
    talk.wait("I see.");
    talk.idle();
    let (stage, _) = talk.end();
    assert!(
        stage.requests()[0].last_parts().iter().any(|part| part.to_string().contains("a needle"))
    );
}
