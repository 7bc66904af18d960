//! Lists beside the input of the screen: background commands, queued prompts, keys.

use pollux_testkit::{Key, ModelReply, reply};
use serde_json::json;

use super::screen::{PLACEHOLDER, SOON, Talk, on_screen};
use super::stage::Stage;

/// A reply that starts a command in the background.
fn serve() -> ModelReply {
    let command = json!({"command": "echo ready; sleep 1000", "is_background": true});
    reply().call("run_shell_command", command)
}

/// A conversation in which a command runs in the background.
fn serving() -> Talk {
    let stage = Stage::with([serve(), reply().text("It runs.")]);
    let terminal = on_screen(stage.pollux(&["--yolo"])).in_terminal(24, 80);
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.line("start it");
    talk.wait("It runs.");
    talk.idle();
    talk
}

#[test]
fn a_background_command_is_listed_shown_and_stopped() {
    let talk = serving();
    talk.wait(" \u{b7} 1 background command \u{b7} ");
    talk.terminal.send_key(Key::Ctrl('b'));
    talk.wait("1 background command \u{b7} Enter shows the output");
    talk.enter();
    talk.wait(", running: echo ready; sleep 1000\n  ready\n");
    talk.idle();
    talk.terminal.send_key(Key::Ctrl('k'));
    talk.wait("Stopped ");
    talk.terminal.wait_for(|screen| !screen.contents().contains("1 background command"), SOON);
    talk.end();
}

#[test]
fn the_end_is_confirmed_while_a_command_runs_in_the_background() {
    let mut talk = serving();
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait("Press Ctrl+C again to exit.");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait("1 background command would be ended. Press Ctrl+C again to exit.");
    talk.terminal.send_key(Key::Ctrl('c'));
    assert_eq!(talk.terminal.wait_exit(SOON).exit_code(), 0);
}

#[test]
fn a_running_command_moves_to_the_background() {
    let command = json!({"command": "echo ready; sleep 1000"});
    let stage =
        Stage::with([reply().call("run_shell_command", command), reply().text("It goes on.")]);
    let terminal = on_screen(stage.pollux(&["--yolo"])).in_terminal(24, 80);
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.line("start it");
    talk.wait("    ready\n");
    talk.terminal.send_key(Key::Ctrl('b'));
    talk.wait("It goes on.");
    talk.wait(" \u{b7} 1 background command \u{b7} ");
}

#[test]
fn the_keys_are_shown() {
    let talk = Talk::with([]);
    talk.terminal.send("?");
    talk.wait("Shift+Tab   approval mode");
    talk.terminal.send_key(Key::Escape);
    talk.terminal.wait_for(|screen| !screen.contents().contains("Shift+Tab"), SOON);
    talk.end();
}

#[test]
fn a_queued_prompt_is_removed() {
    let gate = pollux_testkit::ReplyGate::closed();
    let talk = Talk::with([reply().text("One.").held_by(&gate), reply().text("Two.")]);
    talk.line("first");
    talk.stage.server.wait_for_requests(1, SOON);
    for prompt in ["second", "third"] {
        talk.line(prompt);
        talk.wait(&format!("\n  {prompt}\n"));
    }
    talk.terminal.send("\x1b[1;3A");
    talk.wait("> third\n");
    talk.terminal.send("\x1b[3~");
    talk.terminal.wait_for(|screen| !screen.contents().contains("third"), SOON);
    gate.open();
    talk.wait("Two.");
    talk.idle();
    let contents = talk.stage.server.last_request().contents().to_vec();
    let last = super::stage::texts(contents.last().unwrap()).join("");
    assert!(last.contains("second") && !last.contains("third"), "{last}");
    talk.end();
}

#[test]
fn earlier_prompts_are_listed_while_they_are_searched() {
    let talk = Talk::with((0..4).map(|_| reply().text("Well.")));
    for prompt in ["buy Apples", "sell pears", "eat apples"] {
        talk.line(prompt);
        talk.wait(&format!("> {prompt}\n\nWell.\n"));
        talk.idle();
    }
    talk.terminal.send("half a prompt");
    talk.terminal.send_key(Key::Ctrl('r'));
    talk.wait("  eat apples\n  sell pears\n  buy Apples\n  3 earlier \u{b7} Enter sends");
    talk.terminal.send("apples");
    talk.wait("`apples': eat apples\n> eat apples\n  buy Apples\n  1 of 2 \u{b7} Enter sends");
    talk.terminal.send_key(Key::Down);
    talk.wait("`apples': buy Apples\n  eat apples\n> buy Apples\n  2 of 2 \u{b7} Enter sends");
    talk.terminal.send_key(Key::Escape);
    talk.wait("\n> half a prompt\n");
    talk.terminal.send_key(Key::Ctrl('r'));
    talk.terminal.send("pear");
    talk.wait("> sell pears\n  1 of 1");
    talk.terminal.send_key(Key::Tab);
    talk.wait("\n> sell pears\n");
    talk.terminal.send("!");
    talk.wait("\n> sell pears!\n");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait(PLACEHOLDER);
    talk.terminal.send_key(Key::Ctrl('r'));
    talk.terminal.send("y app");
    talk.wait("> buy Apples\n  1 of 1");
    talk.enter();
    talk.wait("> buy Apples\n\nWell.\n");
    talk.idle();
    assert_eq!(talk.stage.requests().len(), 4);
    talk.end();
}

#[test]
fn the_help_lists_commands_and_keys() {
    let talk = Talk::with([]);
    talk.line("/help");
    talk.wait("> Help\nsearch:\nInput\n> @PATH ");
    talk.wait("\n\nCommands\n  /about ");
    talk.terminal.send("earlier prompts");
    talk.wait("Keys\n> Ctrl-R  searches earlier prompts\n");
    talk.terminal.send_key(Key::Ctrl('u'));
    talk.terminal.send("compre");
    talk.wait("\n> /compress ");
    talk.wait(" [undo]");
    talk.wait("1 of 1 \u{b7} Enter inserts \u{b7} Esc");
    talk.enter();
    talk.wait("\n> /compress\nask before changes");
    talk.terminal.send("undo");
    talk.wait("> /compress undo");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait(PLACEHOLDER);
    talk.end();
}

#[test]
fn the_transcript_names_the_states_of_calls() {
    let command = json!({"command": "touch made"});
    let talk = Talk::with([reply().call("run_shell_command", command)]);
    talk.line("go");
    talk.wait("Allow execution of [Shell]?");
    talk.terminal.send_key(Key::Ctrl('o'));
    talk.wait("Shell \u{b7} waits");
    talk.terminal.send_key(Key::Escape);
    talk.wait("Allow execution of [Shell]?");
    talk.terminal.send_key(Key::Escape);
    talk.wait("Not applied. Type what to do instead.");
    talk.idle();
    talk.terminal.send_key(Key::Ctrl('o'));
    talk.wait("transcript");
    talk.wait("Shell touch made \u{b7} refused");
    talk.terminal.send_key(Key::Escape);
    talk.wait("Type your message");
    talk.end();
}
