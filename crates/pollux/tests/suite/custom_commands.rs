//! Custom commands: TOML files of the user and the project, in each frontend.

use std::fs;

use pollux_testkit::{Pollux, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::acp_client::Client;
use super::line::Talk;
use super::stage::{SOON, Stage, texts};

/// Returns the program in a folder that only the file of trusted folders trusts.
fn by_rule(stage: &Stage) -> Pollux {
    stage.home.trust_project();
    stage.pollux(&[]).env_remove("GEMINI_CLI_TRUST_WORKSPACE")
}

/// Returns the texts that the model gets after the session context for a prompt.
fn sent(stage: &Stage, arguments: &[&str]) -> Vec<String> {
    sent_by(stage, stage.pollux(arguments))
}

fn sent_by(stage: &Stage, program: Pollux) -> Vec<String> {
    stage.server.stream(reply().text("ok"));
    program.run().assert_code(0);
    let first = stage.server.last_request().contents()[0].clone();
    texts(&first).into_iter().skip(1).map(str::to_owned).collect()
}

/// Runs a prompt that must fail before a request; returns standard error.
fn refused(stage: &Stage, code: i32, arguments: &[&str]) -> String {
    refused_by(stage, code, stage.pollux(arguments))
}

fn refused_by(stage: &Stage, code: i32, program: Pollux) -> String {
    let before = stage.requests().len();
    let run = program.run();
    run.assert_code(code);
    assert_eq!(stage.requests().len(), before, "{}", run.report());
    run.stderr_text()
}

#[test]
fn a_command_is_sent_as_its_prompt() {
    let stage = Stage::new();
    stage.home.user_file("commands/git/review.toml", "prompt = 'Review {{args}} ({{args}}).'");
    stage.home.project_file(
        ".gemini/commands/plain.toml",
        "\u{feff}prompt = \"\"\"\r\nSay it.\"\"\"\r\n",
    );
    let arguments = "$& $1 {{args}} !{touch x} @{a} it's";
    let prompt = format!("/git:review {arguments}");
    assert_eq!(sent(&stage, &["-p", &prompt]), [format!("Review {arguments} ({arguments}).")]);
    assert_eq!(sent(&stage, &["-p", "/plain"]), ["Say it."]);
    assert_eq!(sent(&stage, &["-p", "/plain one\ntwo"]), ["Say it.\n\n/plain one\ntwo"]);
    assert_eq!(sent(&stage, &["-p", "/nosuch x"]), ["/nosuch x"]);
    assert!(!stage.home.project().join("x").exists());
}

#[test]
fn output_and_files_are_inserted_and_never_expanded_again() {
    let stage = Stage::new();
    stage.home.project_file("a.txt", "{{args}} !{touch x} @{a.txt}\n");
    let prompt = "A !{printf '<%s>' {{args}}} B @{a.txt} C !{cat a.txt; exit 3}";
    stage.home.user_file("commands/all.toml", format!("prompt = \"{prompt}\""));
    let hostile = "it's \"$(touch x)\" `touch x`; touch x";
    let found = sent(&stage, &["--yolo", "-p", &format!("/all {hostile}")]);
    let text = "{{args}} !{touch x} @{a.txt}";
    let end = "[Shell command 'cat a.txt; exit 3' exited with code 3]";
    let expected = [format!("A <{hostile}> B "), format!("{text}\n"), format!(" C {text}\n{end}")];
    assert_eq!(found, expected);
    assert!(!stage.home.project().join("x").exists());
}

#[test]
fn commands_run_only_as_the_policy_says() {
    let stage = Stage::new();
    stage.home.user_file("commands/make.toml", "prompt = 'Out: !{touch made} {{args}}'");
    stage.home.user_file("commands/look.toml", "prompt = 'Out: !{echo hi}'");
    let blocked = "make cannot be run. Blocked command: \"touch made\". Reason: Blocked by policy.";
    let stderr = refused(&stage, 1, &["-p", "/make"]);
    assert!(stderr.contains(blocked), "{stderr}");
    let stderr = refused(&stage, 1, &["--approval-mode", "plan", "-p", "/make"]);
    assert!(stderr.contains(blocked), "{stderr}");
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"deny\"\npriority = 900\n";
    stage.home.user_file("policies/no.toml", rule);
    let stderr = refused(&stage, 1, &["--yolo", "-p", "/make"]);
    assert!(stderr.contains(blocked), "{stderr}");
    assert!(!stage.home.project().join("made").exists());
    assert_eq!(sent(&stage, &["-p", "/look"]), ["Out: hi"]);
    fs::remove_file(stage.home.gemini().join("policies/no.toml")).unwrap();
    assert_eq!(sent(&stage, &["--yolo", "-p", "/make"]), ["Out:  "]);
    assert!(stage.home.project().join("made").exists());
}

#[test]
fn a_command_that_cannot_be_used_is_named_and_never_sent() {
    let stage = Stage::new();
    for (name, text) in [
        ("syntax", "prompt = "),
        ("missing", "description = 'x'"),
        ("type", "prompt = 3"),
        ("open", "prompt = 'a !{ls {x}'"),
        ("large", &"#".repeat(10 << 20)),
        ("twice", "prompt = 'x'"),
        ("help", "prompt = 'x'"),
        ("copy", "prompt = 'x'"),
    ] {
        stage.home.user_file(&format!("commands/{name}.toml"), text);
    }
    stage.home.user_file("commands/bytes.toml", b"prompt = '\xff'");
    stage.home.project_file(".gemini/commands/twice.toml", "prompt = 'y'");
    for (prompt, code, message) in [
        ("/syntax x", 1, "commands/syntax.toml: line 1: "),
        ("/missing", 1, "commands/missing.toml. The field 'prompt' is required."),
        ("/type", 1, "commands/type.toml. The field 'prompt' must be a string, not integer."),
        ("/open", 1, "Invalid syntax in command 'open': Unclosed injection starting at index 2"),
        ("/large", 1, "[FileCommandLoader] Failed to read file"),
        ("/bytes", 1, "commands/bytes.toml: it is not UTF-8."),
        ("/twice x", 42, "Call it as /user.twice or /workspace.twice."),
    ] {
        let stderr = refused(&stage, code, &["-p", prompt]);
        assert!(stderr.contains(message), "{prompt}: {stderr}");
    }
    assert_eq!(sent(&stage, &["-p", "/user.twice"]), ["x"]);
    assert_eq!(sent(&stage, &["-p", "/workspace.twice"]), ["y"]);
    assert_eq!(sent(&stage, &["-p", "/user.help"]), ["x"]);
    assert_eq!(sent(&stage, &["-p", "/user.copy"]), ["x"]);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_no_command() {
    let stage = Stage::new();
    let outside = stage.home.home().join("secret.toml");
    fs::write(&outside, "prompt = 'secret'").unwrap();
    stage.home.project_file(".gemini/commands/own.toml", "prompt = 'own'");
    let link = stage.home.project().join(".gemini/commands/out.toml");
    std::os::unix::fs::symlink(outside, link).unwrap();
    assert_eq!(sent(&stage, &["-p", "/own"]), ["own"]);
    assert_eq!(sent(&stage, &["-p", "/out"]), ["/out"]);
}

#[test]
fn a_command_of_a_project_needs_consent_to_its_content() {
    let stage = Stage::new();
    let file = ".gemini/commands/tidy.toml";
    stage.home.project_file(file, "prompt = 'one'");
    let tidy = || by_rule(&stage).args(["-p", "/tidy"]);
    // The first run in a trusted folder pins what is there.
    assert_eq!(sent_by(&stage, tidy()), ["one"]);
    stage.home.project_file(file, "prompt = 'two'");
    let stderr = refused_by(&stage, 1, tidy());
    assert!(
        stderr.contains("tidy.toml has changed since you allowed it, so /tidy did"),
        "{stderr}"
    );
    assert!(stderr.contains("--skip-trust"), "{stderr}");
    assert_eq!(sent_by(&stage, tidy().args(["--skip-trust"])), ["two"]);
    stage.home.project_file(file, "prompt = 'one'");
    assert_eq!(sent_by(&stage, tidy()), ["one"]);
    // Another file with a name that was allowed, and a new one.
    fs::remove_file(stage.home.project().join(file)).unwrap();
    stage.home.project_file("other.toml", "prompt = 'three'");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../other.toml", stage.home.project().join(file)).unwrap();
    #[cfg(not(unix))]
    stage.home.project_file(file, "prompt = 'three'");
    stage.home.project_file(".gemini/commands/new.toml", "prompt = 'four'");
    let stderr = refused_by(&stage, 1, tidy());
    assert!(stderr.contains("tidy.toml has changed since you allowed it"), "{stderr}");
    assert!(stderr.contains("Disabled until you approve it"), "{stderr}");
    assert!(stderr.contains("custom command: /new"), "{stderr}");
    let stderr = refused_by(&stage, 42, by_rule(&stage).args(["-p", "/new"]));
    let message = "/new is a command of this folder that you have not allowed, so it cannot run.";
    assert!(stderr.contains(message), "{stderr}");
}

#[test]
fn earlier_content_of_a_command_is_still_allowed() {
    let stage = Stage::new();
    let file = ".gemini/commands/tidy.toml";
    stage.home.project_file(file, "prompt = 'one'");
    let tidy = || by_rule(&stage).args(["-p", "/tidy"]);
    assert_eq!(sent_by(&stage, tidy()), ["one"]);
    stage.home.project_file(file, "prompt = 'two'");
    let talk = Talk::start(stage, |program| program.env_remove("GEMINI_CLI_TRUST_WORKSPACE"));
    talk.type_line("/tidy");
    talk.wait_for_text("only a prompt: two");
    talk.stage.server.stream(reply().text("Tidied."));
    talk.type_line("1");
    talk.wait_for_text("Tidied.");
    talk.wait_for_prompt();
    let (stage, _) = talk.leave();
    let tidy = || by_rule(&stage).args(["-p", "/tidy"]);
    for text in ["two", "one"] {
        stage.home.project_file(file, format!("prompt = '{text}'"));
        assert_eq!(sent_by(&stage, tidy()), [text]);
    }
}

#[test]
fn a_refused_command_stays_off_until_it_changes() {
    let stage = Stage::new();
    let file = ".gemini/commands/tidy.toml";
    stage.home.project_file(file, "prompt = 'one'");
    let tidy = ["-p", "/tidy"];
    assert_eq!(sent_by(&stage, by_rule(&stage).args(tidy)), ["one"]);
    stage.home.project_file(file, "prompt = 'two'");
    let start = |stage| Talk::start(stage, |it| it.env_remove("GEMINI_CLI_TRUST_WORKSPACE"));
    let talk = start(stage);
    talk.type_line("/tidy");
    talk.wait_for_text("only a prompt: two");
    talk.type_line("2");
    talk.wait_for_text("so /tidy did not run.");
    talk.wait_for_prompt();
    let (stage, _) = talk.leave();
    let talk = start(stage);
    talk.type_line("/tidy");
    talk.wait_for_text("that you have not allowed, so it cannot run.");
    talk.wait_for_prompt();
    let (stage, _) = talk.leave();
    stage.home.project_file(file, "prompt = 'one'");
    assert_eq!(sent_by(&stage, by_rule(&stage).args(tidy)), ["one"]);
}

#[test]
fn a_changed_command_is_asked_about_in_a_conversation() {
    let stage = Stage::new();
    let file = ".gemini/commands/tidy.toml";
    stage.home.project_file(file, "prompt = 'one'");
    let tidy = || ["-p", "/tidy"];
    assert_eq!(sent_by(&stage, by_rule(&stage).args(tidy())), ["one"]);
    let talk = Talk::start(stage, |program| program.env_remove("GEMINI_CLI_TRUST_WORKSPACE"));
    talk.stage.home.project_file(file, "prompt = 'two !{echo hi}'");
    talk.type_line("/tidy");
    talk.wait_for_text("runs: echo hi");
    talk.type_line("2");
    talk.wait_for_text("so /tidy did not run.");
    talk.wait_for_prompt();
    talk.stage.server.stream(reply().text("Tidied."));
    talk.type_line("/tidy");
    talk.terminal.wait_for(|screen| screen.contents().matches("2. Refuse").count() == 2, SOON);
    talk.type_line("1");
    talk.wait_for_text("Tidied.");
    talk.wait_for_prompt();
    talk.stage.home.project_file(".gemini/commands/new.toml", "prompt = 'three'");
    talk.type_line("/commands reload");
    talk.wait_for_text("/new");
    talk.wait_for_text("only a prompt: three");
    talk.type_line("1");
    talk.wait_for_text("Custom commands reloaded successfully.");
    talk.wait_for_prompt();
    talk.stage.server.stream(reply().text("New."));
    talk.type_line("/new");
    talk.wait_for_text("New.");
    talk.wait_for_prompt();
    let (stage, _) = talk.leave();
    // The answers are stored.
    assert_eq!(sent_by(&stage, by_rule(&stage).args(tidy())), ["two hi"]);
}

#[test]
fn commands_are_listed_completed_and_reported_in_a_conversation() {
    let stage = Stage::new();
    let review = "prompt = 'Review'\ndescription = 'Reviews the \u{202e}branch'";
    stage.home.user_file("commands/git/review.toml", review);
    stage.home.user_file("commands/git/push.toml", "prompt = 'x'");
    stage.home.user_file("commands/bad.toml", "prompt = 1");
    stage.home.user_file("commands/help.toml", "prompt = 'x'");
    stage.home.project_file(".gemini/commands/own.toml", "prompt = 'x'");
    let talk = Talk::start(stage, |program| program.args(["--skip-trust"]));
    talk.wait_for_text("Skipping invalid command file:");
    talk.wait_for_text("'/help' was renamed to '/user.help'");
    talk.type_line("/commands list");
    talk.wait_for_text("- git/review.toml");
    talk.wait_for_text("### Project Commands (");
    talk.wait_for_prompt();
    talk.terminal.send("/git:\t");
    talk.wait_for_text("/git:push — Custom command from push.toml");
    talk.wait_for_text("/git:review — Reviews the \\u{202e}branch");
    talk.terminal.send("r\t");
    talk.wait_for_text("> /git:review");
    talk.stage.server.stream(reply().text("Reviewed."));
    talk.type_line("x");
    talk.wait_for_text("Reviewed.");
    talk.wait_for_prompt();
    talk.type_line("/bad");
    talk.wait_for_text("Error: [FileCommandLoader] Skipping invalid command file:");
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn a_command_line_of_a_command_is_asked_about() {
    let stage = Stage::new();
    stage.home.user_file("commands/make.toml", "prompt = 'Out: !{touch made && echo ok}'");
    let talk = Talk::start(stage, |program| program);
    talk.type_line("/make");
    talk.wait_for_text("touch made && echo ok");
    talk.wait_for_text("No, suggest changes");
    talk.type_line("n");
    talk.wait_for_text("Slash command shell execution declined.");
    talk.wait_for_prompt();
    assert!(!talk.stage.home.project().join("made").exists());
    talk.stage.server.stream(reply().text("Made."));
    talk.type_line("/make");
    let asks_twice = |screen: &str| screen.matches("Choose 1-4:").count() == 2;
    talk.terminal.wait_for(|screen| asks_twice(&screen.contents()), SOON);
    talk.type_line("1");
    talk.wait_for_text("Made.");
    talk.wait_for_prompt();
    assert!(talk.stage.home.project().join("made").exists());
    talk.end();
}

#[test]
fn no_command_line_runs_before_all_of_them_may() {
    let stage = Stage::new();
    let file = "prompt = 'Out: !{touch one && echo a} !{touch two && echo b}'";
    stage.home.user_file("commands/both.toml", file);
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch two\"\ndecision = \"deny\"\npriority = 900\n";
    stage.home.user_file("policies/no.toml", rule);
    let stderr = refused(&stage, 1, &["--yolo", "-p", "/both"]);
    let blocked = "both cannot be run. Blocked command: \"touch two && echo b\". Reason: ";
    assert!(stderr.contains(blocked), "{stderr}");
    let made = |stage: &Stage, name: &str| stage.home.project().join(name).exists();
    assert!(!made(&stage, "one") && !made(&stage, "two"));
    fs::remove_file(stage.home.gemini().join("policies/no.toml")).unwrap();

    let talk = Talk::start(stage, |program| program);
    let is_asked = |times: usize| {
        let has_asked = |screen: &str| screen.matches("Choose 1-4:").count() == times;
        talk.terminal.wait_for(|screen| has_asked(&screen.contents()), SOON);
    };
    talk.type_line("/both");
    is_asked(1);
    talk.type_line("1");
    is_asked(2);
    talk.type_line("n");
    talk.wait_for_text("Slash command shell execution declined.");
    talk.wait_for_prompt();
    assert!(!made(&talk.stage, "one") && !made(&talk.stage, "two"));
    talk.stage.server.stream(reply().text("Made."));
    talk.type_line("/both");
    is_asked(3);
    talk.type_line("1");
    is_asked(4);
    talk.type_line("1");
    talk.wait_for_text("Made.");
    talk.wait_for_prompt();
    assert!(made(&talk.stage, "one") && made(&talk.stage, "two"));
    let sent = talk.stage.requests().last().unwrap().body.to_string();
    assert!(sent.contains("Out: a b"), "{sent}");
    talk.end();
}

#[test]
fn an_editor_is_offered_the_commands_and_runs_them() {
    let stage = Stage::with([reply().text("Reviewed.")]);
    let file = "prompt = 'Review {{args}}'\ndescription = 'Reviews it'";
    stage.home.user_file("commands/git/review.toml", file);
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let session = client.new_session(&stage);
    let available = client.update("available_commands_update");
    let commands = available["availableCommands"].as_array().unwrap();
    let review = commands.iter().find(|command| command["name"] == "git:review").unwrap();
    assert_eq!(review["description"], "Reviews it");
    let prompt = client.prompt(&session, "/git:review the branch");
    client.answer(prompt).unwrap();
    assert_eq!(stage.server.last_request().last_parts()[1]["text"], "Review the branch");
}
