//! Questions about the work itself, in each kind of conversation: the model repeats itself, or is
//! not available.

use pollux_testkit::{Key, ModelReply, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::acp_client::Client;
use super::stage::Stage;
use super::{line, screen};

const LOOP: &str = "A potential loop was detected.";
const STOP: &str = "1. Keep loop detection enabled - Stops the work on this prompt.";
const DISABLE: &str =
    "3. Disable loop detection for this session - Pollux stops checking for loops.";
const USED_UP: &str = "gemini-2.5-pro is not available: the daily quota is used up.";
const SWITCH: &str = "1. Use gemini-2.5-flash for this session";

/// Returns a call that is made again and again, and an answer.
fn circling(calls: usize) -> impl Iterator<Item = ModelReply> {
    let look = || reply().call("list_directory", json!({"dir_path": "."}));
    (0..calls).map(move |_| look()).chain([reply().text("Out of the loop.")])
}

/// Returns a session whose models refuse the first requests, and then answer.
fn used_up(refusals: usize) -> Stage {
    let refused = (0..refusals).map(|_| errors::per_day_quota());
    let stage = Stage::with(refused.chain([reply().text("Here I am.")]));
    stage.home.settings(&json!({"pollux": {"fallback": {"chain": ["gemini-2.5-flash"]}}}));
    stage
}

fn models(stage: &Stage) -> Vec<String> {
    let model =
        |path: &str| path.split(['/', ':']).find(|it| it.starts_with("gemini-")).map(str::to_owned);
    stage.server.requests().iter().filter_map(|request| model(&request.path)).collect()
}

#[test]
fn a_loop_is_asked_about_on_the_screen() {
    let talk = screen::Talk::with(circling(16));
    talk.line("go");
    talk.wait(LOOP);
    talk.wait(&format!("{STOP} (esc)"));
    talk.wait(&DISABLE[..60]);
    talk.terminal.send("3");
    // Six more of the same calls are no question.
    talk.wait("Out of the loop.");
    talk.idle();
    talk.end();
    let talk = screen::Talk::with(circling(10));
    talk.line("go");
    talk.wait(LOOP);
    talk.terminal.send_key(Key::Escape);
    talk.wait("x Loop detected, stopping execution.");
    talk.idle();
    talk.stage.server.discard_replies();
    talk.end();
}

#[test]
fn a_loop_is_asked_about_line_by_line() {
    let talk = line::Talk::with(circling(16));
    talk.type_line("go");
    talk.wait_for_text(LOOP);
    talk.wait_for_text(&format!("  {STOP}\n"));
    talk.wait_for_text(DISABLE);
    talk.type_line("3");
    talk.wait_for_text("Out of the loop.");
    talk.end();
}

fn labels(asked: &Value) -> Vec<(String, String)> {
    let text = |option: &Value, key: &str| option[key].as_str().unwrap().to_owned();
    let options = asked["params"]["options"].as_array().unwrap();
    options.iter().map(|option| (text(option, "name"), text(option, "kind"))).collect()
}

#[test]
fn an_editor_asks_about_a_loop() {
    let stage = Stage::with(circling(16));
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "go");
    let asked = client.asked("session/request_permission");
    let content = asked["params"]["toolCall"]["content"].to_string();
    assert!(content.contains(LOOP), "{content}");
    let kinds: Vec<String> = labels(&asked).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["allow_always", "reject_once", "allow_once"]);
    client.choose(&asked, "proceed_always");
    assert_eq!(client.answer(prompt).unwrap()["stopReason"], "end_turn");
    client.end().assert_code(0);
}

#[test]
fn another_model_is_chosen_on_the_screen() {
    let talk = screen::Talk::of(used_up(1));
    talk.line("go");
    talk.wait(USED_UP);
    talk.wait(SWITCH);
    talk.wait("4. Stop (esc)");
    talk.terminal.send("1");
    talk.wait("Here I am.");
    talk.idle();
    let (stage, _) = talk.end();
    assert_eq!(models(&stage), ["gemini-2.5-pro", "gemini-2.5-flash"]);
}

#[test]
fn the_last_model_is_tried_again_on_the_screen() {
    let talk = screen::Talk::of(used_up(2));
    talk.line("go");
    talk.wait(SWITCH);
    talk.terminal.send("2");
    talk.wait("gemini-2.5-flash is not available: the daily quota is used up.");
    talk.wait("1. Try gemini-2.5-flash again\n");
    talk.wait("2. Stop (esc)");
    talk.terminal.send("1");
    talk.wait("Here I am.");
    talk.idle();
    let (stage, _) = talk.end();
    assert_eq!(models(&stage), ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash"]);
    let talk = screen::Talk::of(used_up(1));
    talk.line("go");
    talk.wait(SWITCH);
    talk.terminal.send_key(Key::Escape);
    talk.wait("x ");
    talk.idle();
    talk.stage.server.discard_replies();
    talk.end();
}

#[test]
fn another_model_is_chosen_line_by_line() {
    let talk = line::Talk::start(used_up(1), |program| program);
    talk.type_line("go");
    talk.wait_for_text(USED_UP);
    talk.wait_for_text("  4. Stop\n");
    talk.type_line("1");
    talk.wait_for_text("Here I am.");
    talk.end();
}

#[test]
fn an_editor_asks_about_another_model() {
    let stage = used_up(1);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "go");
    let asked = client.asked("session/request_permission");
    assert_eq!(asked["params"]["toolCall"]["title"], USED_UP);
    let expected = [
        ("Use gemini-2.5-flash for this session", "allow_once"),
        ("Use gemini-2.5-flash for this prompt", "allow_once"),
        ("Try gemini-2.5-pro again", "allow_once"),
        ("Stop", "reject_once"),
    ];
    assert_eq!(labels(&asked), expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
    let first = asked["params"]["options"][0]["optionId"].as_str().unwrap().to_owned();
    client.choose(&asked, &first);
    assert_eq!(client.answer(prompt).unwrap()["stopReason"], "end_turn");
    assert_eq!(models(&stage), ["gemini-2.5-pro", "gemini-2.5-flash"]);
    client.end().assert_code(0);
}

#[test]
fn a_run_without_a_user_asks_nothing() {
    let stage = used_up(2);
    let run = stage.prompt("text", "go");
    run.assert_code(60);
    assert_eq!(models(&stage), ["gemini-2.5-pro"]);
    stage.server.discard_replies();
}
