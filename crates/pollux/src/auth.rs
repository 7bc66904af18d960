//! `pollux auth`: shows which sign-in is used, and signs in to Google. Starts no session and calls
//! no model.

use pollux_host::{GoogleSignInError, OAuthError, RuleOptions, RunOptions, Setup, SignInReport};
use pollux_protocol::SessionRequest;
use pollux_protocol::plain_text::harmless;
use serde_json::{Value, json};

use crate::arguments::{AuthArguments, AuthVerb};
use crate::exit::Failure;
use crate::inspection::set_up_silently;
use crate::process::Process;
use crate::sign_in_user::{TerminalUser, Topic};
use crate::signals::until_signal;
use crate::stderr::stderr_line;

/// Exit code if the user refuses.
const REFUSED: i32 = 130;
/// Exit code if a run would have no usable sign-in.
const NO_SIGN_IN: u8 = 41;

/// Runs a verb. Returns the text for standard output, and the exit code.
pub(crate) async fn answer(process: &Process, arguments: &AuthArguments) -> (String, u8) {
    let stopped = |code| (String::new(), Value::Null, code);
    match until_signal(Box::pin(run(process, arguments)), stopped).await {
        Ok((text, json, code)) => {
            let text = if arguments.json() { format!("{json:#}") } else { text };
            let text = harmless(&text).into_owned();
            (if text.is_empty() { text } else { text + "\n" }, code)
        }
        Err(failure) => {
            stderr_line(&failure.message);
            let error = json!({ "error": failure.to_json() });
            let text = if arguments.json() { format!("{error:#}\n") } else { String::new() };
            (text, failure.exit_code(false))
        }
    }
}

type Answer = (String, Value, u8);

async fn run(process: &Process, arguments: &AuthArguments) -> Result<Answer, Failure> {
    let skip_trust = matches!(arguments.verb, AuthVerb::Status { skip_trust: true, .. });
    let rules = RuleOptions { skip_trust, ..RuleOptions::default() };
    let options = RunOptions { rules, ..RunOptions::default() };
    let setup = set_up_silently(process, options, SessionRequest::new(Process::folder()?))?;
    match arguments.verb {
        AuthVerb::Status { .. } => Ok(status(&setup.sign_in_report().await)),
        AuthVerb::Login { .. } => login(&setup).await,
        AuthVerb::Logout { .. } => logout(&setup).await,
    }
}

fn status(report: &SignInReport) -> Answer {
    let used = report.ways.iter().find(|way| way.used);
    let mut lines = Vec::new();
    let mut code = NO_SIGN_IN;
    match used {
        Some(way) => {
            let by = report.selected_by.as_deref().unwrap_or("by default");
            let verb = if way.ready { "used" } else { "selected" };
            lines.push(format!("{} ({}) is {verb}: {by}.", way.name, way.id));
            if let Some(credentials) = &way.credentials {
                lines.push(format!("Credentials: {credentials}"));
            }
            if let Some(reason) = &way.reason {
                lines.push(format!("Problem: {reason}"));
            }
            let is_forbidden =
                way.reason.as_ref().is_some_and(|text| text.contains("enforcedType"));
            if way.ready && !is_forbidden {
                code = 0;
            }
        }
        None => lines.push("No sign-in is configured.".to_owned()),
    }
    lines.push(String::new());
    lines.push("Other ways:".to_owned());
    let others = report.ways.iter().filter(|way| !way.used);
    let is_google = |id: &str| id.contains('-') || id == "gateway";
    for way in others.filter(|way| way.ready || is_google(&way.id)) {
        let state = if way.ready { "ready" } else { "not ready" };
        let reason = way.reason.as_deref().unwrap_or_default();
        lines.push(format!("  {} ({}): {state}; {reason}", way.name, way.id));
    }
    (lines.join("\n"), serde_json::to_value(report).unwrap_or_default(), code)
}

async fn login(setup: &Setup) -> Result<Answer, Failure> {
    let user = TerminalUser::new(setup, Topic::Google);
    match setup.sign_in_to_google(&user).await {
        Ok(path) => {
            let path = path.display();
            let text = format!("Signed in to Google. The tokens are in {path}.");
            Ok((text, json!({"signedIn": true, "file": path.to_string()}), 0))
        }
        Err(error @ GoogleSignInError::SignIn(OAuthError::Cancelled)) => {
            Err(Failure { message: error.to_string(), ..Failure::cancelled(REFUSED) })
        }
        Err(error) => Err(Failure::authentication(error.to_string())),
    }
}

async fn logout(setup: &Setup) -> Result<Answer, Failure> {
    let (path, existed) =
        setup.sign_out_of_google().map_err(|error| Failure::general(error.to_string()))?;
    let path = path.display();
    let mut text = if existed {
        format!("Removed the sign-in to Google in {path}.")
    } else {
        format!("There is no sign-in to Google in {path}.")
    };
    let report = setup.sign_in_report().await;
    if let Some(way) = report.ways.iter().find(|way| way.used && way.ready) {
        let credentials = way.credentials.as_deref().unwrap_or("no credentials");
        text = format!("{text}\nRuns still use {} with {credentials}.", way.name);
    }
    Ok((text, json!({"removed": existed, "file": path.to_string()}), 0))
}
