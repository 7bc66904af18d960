//! Plans, and questions of the model, in line mode.

use pollux_testkit::{ModelReply, reply};
use serde_json::json;

use super::line::Talk;
use super::stage::{Stage, texts};

/// Replies of a model that plans, submits the plan to the user, and then edits.
fn planner() -> Vec<ModelReply> {
    let plan = json!({"file_path": "p.md", "content": "# Goal\nmend it\n"});
    let edit = json!({"file_path": "a.txt", "content": "mended\n"});
    vec![
        reply().call("enter_plan_mode", json!({"reason": "It is large."})),
        reply().call("write_file", plan),
        reply().call("exit_plan_mode", json!({"plan_filename": "p.md"})),
        reply().call("write_file", edit),
        reply().text("Done."),
    ]
}

#[test]
fn a_plan_is_made_shown_and_carried_out() {
    let talk = Talk::with(planner());
    talk.type_line("mend a.txt");
    talk.wait_for_text("This restricts the agent to reading and planning. It is large.");
    talk.type_line("1");
    talk.wait_for_text("  # Goal\n  mend it\nReady to start implementation?");
    talk.wait_for_text("  3. No, the plan needs work\nChoose 1-3, or type your feedback:");
    talk.type_line("1");
    talk.wait_for_text("Done.");
    talk.wait_for_prompt();
    assert_eq!(talk.stage.home.read_project_file("a.txt"), "mended\n");
    // In plan mode the model gets the rules of that mode.
    let systems: Vec<bool> = talk
        .stage
        .requests()
        .iter()
        .map(|request| request.body["systemInstruction"].to_string().contains("# Plan mode"))
        .collect();
    assert_eq!(systems, [false, true, true, false, false]);
    talk.type_line("/mode");
    talk.wait_for_text("auto_edit");
    talk.end();
}

#[test]
fn a_plan_that_needs_work_stays_a_plan() {
    let talk = Talk::with(planner());
    talk.type_line("mend a.txt");
    talk.wait_for_text("Choose 1-3:");
    talk.type_line("1");
    talk.wait_for_text("Ready to start implementation?");
    talk.type_line("3");
    talk.wait_for_text("Not applied. Type what to do instead.");
    talk.wait_for_prompt();
    assert!(!talk.stage.home.project().join("a.txt").exists());
    talk.type_line("/mode");
    talk.wait_for_text("plan");
    talk.stage.server.discard_replies();
    talk.end();
}

#[test]
fn a_plan_is_asked_for_and_looked_at() {
    let plan = json!({"file_path": "p.md", "content": "# Goal\nmend it\n"});
    let talk = Talk::with([reply().call("write_file", plan), reply().text("Planned.")]);
    talk.type_line("/plan show");
    talk.wait_for_text("There is no plan in this session.");
    talk.type_line("/plan mend a.txt");
    talk.wait_for_text("Mode: plan");
    talk.wait_for_text("Planned.");
    talk.wait_for_prompt();
    let first = &talk.stage.requests()[0];
    assert!(first.body["systemInstruction"].to_string().contains("# Plan mode"));
    assert_eq!(texts(first.contents().last().unwrap()).last().unwrap(), &"mend a.txt");
    talk.type_line("/plan show");
    talk.wait_for_text("plans/p.md\n# Goal\nmend it");
    talk.type_line("/mode default");
    talk.wait_for_text("Mode: default");
    talk.type_line("/plan");
    talk.wait_for_prompt();
    talk.end();
    let stage = Stage::new();
    stage.home.settings(&json!({"general": {"plan": {"enabled": false}}}));
    let talk = Talk::start(stage, |program| program);
    talk.type_line("/plan mend a.txt");
    talk.wait_for_text("Error: ");
    assert_eq!(talk.stage.requests().len(), 0);
    talk.end();
}

#[test]
fn the_model_asks_and_is_answered() {
    let option = |label: &str| json!({"label": label, "description": "stores data"});
    let questions = json!({"questions": [
        {"question": "Which database?", "header": "Database", "type": "choice",
         "options": [option("SQLite"), option("Postgres")]},
        {"question": "What is it called?", "header": "Name", "type": "text", "placeholder": "main"}
    ]});
    let talk = Talk::with([reply().call("ask_user", questions), reply().text("Good.")]);
    talk.type_line("set it up");
    talk.wait_for_text(
        "Question (1 of 2): Database\n  Which database?\n  1. SQLite - stores data\n",
    );
    talk.type_line("9");
    talk.wait_for_text("There are only the numbers from 1 to 2.");
    talk.type_line("2");
    talk.wait_for_text("Question (2 of 2): Name\n  What is it called?\nAnswer (such as main):");
    talk.type_line("mine");
    talk.wait_for_text("Good.");
    talk.wait_for_prompt();
    let request = talk.stage.server.last_request();
    let reported = request.body.to_string();
    assert!(
        reported.contains(r#"{\"answers\":{\"0\":\"Postgres\",\"1\":\"mine\"}}"#),
        "{reported}"
    );
    talk.end();
}
