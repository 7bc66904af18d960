//! Checkers that are programs of the user: the input is a call as JSON, the output a decision as
//! JSON. Any failure denies the call.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use pollux_protocol::CancellationToken;
use pollux_shell::{ChildSpec, Ended, PipedCommand, PipedOutcome, Program, ShellError, run_piped};
use serde_json::{Map, Value, json};

use super::{Checker, CheckerFinding};
use crate::facts::Facts;
use crate::rule::Ruling;

/// Version of the protocol between Pollux and a checker program.
const PROTOCOL: &str = "1.0.0";
/// Time limit for a program.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of bytes read from each output stream.
const LONGEST_ANSWER: usize = 1 << 20;
/// Maximum number of characters of a program's message that are reported.
const LONGEST_REASON: usize = 2000;

/// One program that checks calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckerProgram {
    /// Absolute path of the program file: the meaning of a relative path would depend on the
    /// folder.
    pub file: PathBuf,
    /// Command-line arguments.
    pub arguments: Vec<String>,
}

/// Programs that may check calls, with their environment.
#[derive(Debug, Clone, Default)]
pub struct CheckerPrograms {
    /// Programs by the name that policy files use.
    pub programs: BTreeMap<String, CheckerProgram>,
    /// Environment variables of the programs.
    pub environment: Vec<(OsString, OsString)>,
}

/// Call to be checked.
#[derive(Clone, Copy)]
pub struct CheckedCall<'a> {
    /// Name of the tool as the model wrote it.
    pub tool: &'a str,
    /// Arguments of the call.
    pub args: &'a Value,
    /// Function that returns the conversation so far, for a checker that needs the history.
    pub turns: &'a (dyn Fn() -> Vec<Value> + Sync),
}

impl CheckerPrograms {
    /// Runs a program on a call. `None` if `cancel` fired before a decision. Requires a tokio
    /// runtime.
    pub async fn ask(
        &self,
        checker: &Checker,
        call: CheckedCall<'_>,
        facts: &Facts,
        cancel: &CancellationToken,
    ) -> Option<CheckerFinding> {
        let name = &checker.name;
        let failed = |why: String| {
            Some(CheckerFinding::Deny(format!("Failed to run safety checker \"{name}\": {why}")))
        };
        if !is_name(name) {
            return failed(format!(
                "Invalid checker name \"{name}\": only a-z, 0-9 and hyphens are allowed."
            ));
        }
        let Some(program) = self.programs.get(name) else {
            return failed(format!("Unknown external checker \"{name}\"."));
        };
        if !program.file.is_absolute() {
            return failed("Its command must be an absolute path.".to_owned());
        }
        let file = Program::File {
            path: program.file.clone(),
            arguments: program.arguments.iter().map(OsString::from).collect(),
        };
        let command = PipedCommand {
            child: ChildSpec::new(file, facts.folder(), self.environment.clone()),
            input: question(checker, call, facts).to_string().into_bytes(),
            timeout: PATIENCE,
            limit: LONGEST_ANSWER,
        };
        match run_piped(command, cancel).await {
            Ok(outcome) if outcome.ended == Ended::Cancelled => None,
            Err(ShellError::CancelledBeforeStart) => None,
            Ok(outcome) => Some(read(name, &outcome)),
            Err(error) => failed(format!("{error}.")),
        }
    }
}

fn is_name(name: &str) -> bool {
    let fits =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !name.is_empty() && name.chars().all(fits)
}

/// Returns the input for a program.
fn question(checker: &Checker, call: CheckedCall<'_>, facts: &Facts) -> Value {
    let mut context = Map::new();
    if checker.wants("environment") {
        let environment = json!({ "cwd": facts.folder(), "workspaces": facts.folders() });
        context.insert("environment".to_owned(), environment);
    }
    if checker.wants("history") {
        context.insert("history".to_owned(), json!({ "turns": (call.turns)() }));
    }
    json!({
        "protocolVersion": PROTOCOL,
        "toolCall": { "name": call.tool, "args": call.args },
        "context": context,
        "config": checker.config,
    })
}

/// Reads the finding from a program's exit code and output.
fn read(name: &str, outcome: &PipedOutcome) -> CheckerFinding {
    let deny = |why: String| CheckerFinding::Deny(format!("Safety checker \"{name}\" {why}"));
    if outcome.ended == Ended::TimedOut {
        return deny(format!("timed out after {}ms", PATIENCE.as_millis()));
    }
    if outcome.exit_code != Some(0) {
        let how = match outcome.exit_code {
            Some(code) => format!("exited with code {code}"),
            None => "was ended by a signal".to_owned(),
        };
        let words = reported(&String::from_utf8_lossy(&outcome.stderr));
        return deny(if words.is_empty() { format!("{how}.") } else { format!("{how}: {words}") });
    }
    if outcome.overflowed {
        return deny(format!("printed more than {} MiB.", LONGEST_ANSWER >> 20));
    }
    let answer: Value = match serde_json::from_slice(&outcome.stdout) {
        Ok(answer) => answer,
        Err(error) => return deny(format!("returned no valid JSON: {error}.")),
    };
    let text = |key: &str| {
        let words = answer.get(key).and_then(Value::as_str).map(reported);
        words.filter(|words| !words.is_empty())
    };
    let decision = answer.get("decision").and_then(Value::as_str);
    match (decision.and_then(Ruling::of_word), text("reason")) {
        (Some(Ruling::Allow), _) => {
            let error = text("error");
            let remark = error
                .map(|error| format!("Safety checker \"{name}\" allows, but reports: {error}"));
            CheckerFinding::Allow { remark }
        }
        (Some(Ruling::Deny), Some(reason)) => CheckerFinding::Deny(reason),
        (Some(Ruling::AskUser), Some(reason)) => CheckerFinding::Ask(reason),
        (Some(ruling), None) => deny(format!("returned {} without a reason.", ruling.as_str())),
        (None, _) => {
            let [allow, refuse, ask] =
                [Ruling::Allow, Ruling::Deny, Ruling::AskUser].map(Ruling::as_str);
            deny(format!("returned no known decision ({allow}, {refuse}, {ask})."))
        }
    }
}

fn reported(words: &str) -> String {
    words.trim().chars().take(LONGEST_REASON).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::checker::CheckerKind;
    use crate::facts::workspace;

    fn checker(name: &str, required: &[&str]) -> Checker {
        Checker {
            kind: CheckerKind::External,
            name: name.to_owned(),
            required_context: required.iter().map(ToString::to_string).collect(),
            config: None,
        }
    }

    #[test]
    fn a_program_is_reported_what_it_wants_to_know() {
        let facts = Facts { workspace: workspace(["/p"]), ..Facts::default() };
        let args = json!({"a": 1});
        let turns = || vec![json!("turn")];
        let call = CheckedCall { tool: "glob", args: &args, turns: &turns };
        let environment = json!({"cwd": "/p", "workspaces": ["/p"]});
        let history = json!({"turns": ["turn"]});
        for (required, context) in [
            (&[][..], json!({"environment": environment, "history": history})),
            (&["environment"], json!({"environment": environment})),
            (&["history"], json!({"history": history})),
        ] {
            let expected = json!({
                "protocolVersion": "1.0.0", "toolCall": {"name": "glob", "args": {"a": 1}},
                "context": context, "config": null,
            });
            assert_eq!(question(&checker("x", required), call, &facts), expected);
        }
    }

    #[test]
    fn whatever_is_no_clear_answer_is_a_denial() {
        let outcome = |stdout: &str, exit_code| PipedOutcome {
            stdout: stdout.as_bytes().to_vec(),
            stderr: b"oops\n".to_vec(),
            overflowed: false,
            exit_code,
            signal: None,
            ended: Ended::Exited,
        };
        let deny = |words: &str| CheckerFinding::Deny(format!("Safety checker \"x\" {words}"));
        let allow = r#"{"decision":"allow"}"#;
        let remark = Some("Safety checker \"x\" allows, but reports: e".to_owned());
        for (stdout, code, expected) in [
            (allow, Some(0), CheckerFinding::ALLOW),
            (r#"{"decision":"allow","error":"e"}"#, Some(0), CheckerFinding::Allow { remark }),
            (
                r#"{"decision":"deny","reason":"bad"}"#,
                Some(0),
                CheckerFinding::Deny("bad".to_owned()),
            ),
            (
                r#"{"decision":"ask_user","reason":"?"}"#,
                Some(0),
                CheckerFinding::Ask("?".to_owned()),
            ),
            (allow, Some(3), deny("exited with code 3: oops")),
            (allow, None, deny("was ended by a signal: oops")),
            (r#"{"decision":"deny"}"#, Some(0), deny("returned deny without a reason.")),
            (
                r#"{"decision":"ask_user","reason":" "}"#,
                Some(0),
                deny("returned ask_user without a reason."),
            ),
            ("[]", Some(0), deny("returned no known decision (allow, deny, ask_user).")),
            (
                r#"{"decision":"Allow"}"#,
                Some(0),
                deny("returned no known decision (allow, deny, ask_user)."),
            ),
        ] {
            assert_eq!(read("x", &outcome(stdout, code)), expected, "{stdout} {code:?}");
        }
        let CheckerFinding::Deny(words) = read("x", &outcome("allow", Some(0))) else { panic!() };
        assert!(words.starts_with("Safety checker \"x\" returned no valid JSON: "), "{words}");
        let many = PipedOutcome { overflowed: true, ..outcome(allow, Some(0)) };
        assert_eq!(read("x", &many), deny("printed more than 1 MiB."));
        let late = PipedOutcome { ended: Ended::TimedOut, ..outcome(allow, None) };
        assert_eq!(read("x", &late), deny("timed out after 5000ms"));
    }

    #[test]
    fn names_are_plain() {
        for (name, fits) in [("my-checker-2", true), ("My", false), ("a/b", false), ("", false)] {
            assert_eq!(is_name(name), fits, "{name}");
        }
    }
}
