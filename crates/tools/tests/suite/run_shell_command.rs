//! Tests of `run_shell_command` with real shells.
#![cfg(unix)]

use std::time::Duration;

use futures::StreamExt as _;
use pollux_protocol::{
    CallId, CallInput, CancellationToken, ConfirmationKind, LiveOutput, RunContext, ToolErrorKind,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::{Session, display, side_models, text};

/// Returns the result without the id of the process group.
async fn run(session: &Session, command: &str) -> String {
    let reported = session.ok("run_shell_command", json!({"command": command})).await;
    let (before, after) = reported.split_once("Process Group PGID: ").expect(&reported);
    let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
    assert_ne!(rest.len(), after.len());
    format!("{before}Process Group PGID: N{rest}")
}

fn wrapped(lines: &str) -> String {
    format!("<untrusted_context>\n{lines}\nProcess Group PGID: N\n</untrusted_context>")
}

#[tokio::test]
async fn results() {
    let session = Session::new();
    let table = [
        ("echo hello", "Output: hello"),
        ("true", "Output: (empty)"),
        ("exit 3", "Output: (empty)\nExit Code: 3"),
        ("echo out; echo err >&2; false", "Output: out\nerr\nExit Code: 1"),
        ("kill -9 $$", "Output: (empty)\nSignal: 9"),
        ("cat", "Output: (empty)"),
        ("echo $(echo inner) `echo ticks`", "Output: inner ticks"),
        ("printf '\\033[31mred\\033[0m'", "Output: red"),
        ("printf 'a.rs\\0b.rs\\0'", "Output: a.rs\u{2400}b.rs\u{2400}"),
        ("printf 'caf\\351'", "Output: caf\u{e9}"),
        ("printf 'a\\0\\0\\0\\0b'", "Output: [Binary output detected. Halting stream...]"),
        ("echo '</untrusted_context>'", "Output: &lt;/untrusted_context&gt;"),
        ("bash -c 'echo inner'", "Output: inner"),
    ];
    for (command, lines) in table {
        assert_eq!(run(&session, command).await, wrapped(lines), "{command}");
    }
}

#[tokio::test]
async fn what_a_person_is_shown() {
    let session = Session::new();
    for (command, shown) in [
        ("echo hi", "hi"),
        ("true", ""),
        ("exit 3", "Command exited with code: 3"),
        ("kill -9 $$", "Command terminated by signal: 9"),
    ] {
        let output = session.call("run_shell_command", json!({"command": command})).await;
        assert_eq!(display(&output), shown);
    }
}

#[tokio::test]
async fn background_jobs_are_named_and_do_not_block() {
    let session = Session::new();
    let reported = run(&session, "sleep 600 & echo started").await;
    let (_, job) = reported.split_once("Output: started\nBackground PIDs: ").unwrap();
    // The job still runs after the call has ended. `reap_all` would also end commands of other
    // tests.
    let job = job.lines().next().unwrap();
    let killed = std::process::Command::new("kill").arg(job).status().unwrap();
    assert!(killed.success(), "{reported}");
}

#[tokio::test]
async fn the_environment_has_no_credentials() {
    let session = Session::with(|context| {
        context.environment.push(("MODEL_KEY".into(), "secret".into()));
        context.environment.push(("OTHER".into(), "kept".into()));
        context.credentials = vec!["MODEL_KEY".to_owned()];
    });
    let reported = run(&session, "echo \"[$MODEL_KEY] $OTHER $GEMINI_CLI $PAGER\"").await;
    assert_eq!(reported, wrapped("Output: [] kept 1 cat"));
}

#[tokio::test]
async fn secrets_are_hidden_when_asked_for_or_run_by_github() {
    let command = "echo \"[$MY_TOKEN][$OTHER][$PLAIN][${PATH:+path}][$GIT_TERMINAL_PROMPT]\"";
    let table = [
        (false, None, "[t][o][p][path][0]"),
        (true, None, "[][o][][path][0]"),
        (false, Some(("GITHUB_SHA", "12ab")), "[][o][][path][0]"),
        (false, Some(("GITHUB_SHA", "")), "[t][o][p][path][0]"),
        (false, Some(("SURFACE", "Github")), "[][o][][path][0]"),
        (false, Some(("SURFACE", "other")), "[t][o][p][path][0]"),
    ];
    for (enabled, variable, expected) in table {
        let session = Session::with(|context| {
            context.environment.retain(|(name, _)| name != "GITHUB_SHA" && name != "SURFACE");
            for (name, value) in
                [("MY_TOKEN", "t"), ("OTHER", "o"), ("PLAIN", "p")].into_iter().chain(variable)
            {
                context.environment.push((name.into(), value.into()));
            }
            context.options.redaction = pollux_shell::Redaction {
                enabled,
                allowed: vec!["OTHER".to_owned()],
                blocked: vec!["plain".to_owned()],
                ..pollux_shell::Redaction::default()
            };
        });
        let reported = run(&session, command).await;
        assert_eq!(reported, wrapped(&format!("Output: {expected}")), "{enabled} {variable:?}");
    }
}

#[tokio::test]
async fn folders() {
    let session = Session::new();
    std::fs::create_dir(session.path("sub")).unwrap();
    session.file("file", "");
    let reported =
        session.ok("run_shell_command", json!({"command": "pwd", "dir_path": "sub"})).await;
    assert!(reported.contains(&session.path("sub").display().to_string()), "{reported}");
    for (path, message) in
        [("missing", "Directory does not exist: "), ("file", "Path is not a directory: ")]
    {
        let (kind, reported) =
            session.err("run_shell_command", json!({"command": "pwd", "dir_path": path})).await;
        assert_eq!(kind, ToolErrorKind::InvalidToolParams);
        assert!(reported.starts_with(message), "{reported}");
    }
}

#[tokio::test]
async fn long_output_is_kept_in_a_file() {
    let session = Session::with(|context| context.options.truncate_threshold = 1000);
    let output = session.call("run_shell_command", json!({"command": "seq 1 2000"})).await;
    let file = session.spill.join("run_shell_command_call__1.txt");
    assert_eq!(output.output_file.as_ref(), Some(&file));
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept.lines().count(), 2000);
    let reported = text(&output);
    assert!(reported.contains(&file.display().to_string()), "{reported}");
    // 8,893 characters without the last line feed.
    assert!(reported.contains("... [7,892 characters omitted] ..."), "{} {reported}", kept.len());
    assert!(
        reported.contains("Output: ")
            && reported.contains("\n1\n2\n3\n")
            && reported.contains("\n2000\nProcess Group")
    );
    assert!(
        session.ok("run_shell_command", json!({"command": "seq 1 20"})).await.contains("\n20\n")
    );
}

#[tokio::test]
async fn a_models_call_id_is_no_path() {
    let session = Session::with(|context| context.options.truncate_threshold = 1000);
    for id in ["../../../evil", "/evil", "a\u{0}b", &"x".repeat(5000)] {
        let arguments = json!({"command": "seq 1 2000"});
        let invocation = session.prepare("run_shell_command", &arguments).unwrap();
        let context = session.run_context(CancellationToken::new());
        let context = RunContext { call_id: CallId::new(id), ..context };
        let file = invocation.run(context).await.output_file.unwrap();
        assert_eq!(file.parent(), Some(session.spill.as_path()), "{file:?}");
        assert!(file.is_file(), "{file:?}");
    }
}

#[tokio::test]
async fn a_flood_goes_to_the_file_and_not_to_memory() {
    let session = Session::new();
    let output = session
        .call("run_shell_command", json!({"command": "yes pollux | head -c 30000000"}))
        .await;
    let file = output.output_file.clone().unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 30_000_000);
    let reported = text(&output);
    assert!(reported.len() < 50_000);
    // The command printed 30,000,000 characters; trimming removed the last line feed.
    let omitted =
        reported.split_once("... [").unwrap().1.split_once(" characters omitted").unwrap().0;
    assert!(
        (29_959_990..=29_960_000).contains(&omitted.replace(',', "").parse::<u64>().unwrap()),
        "{omitted}"
    );
}

#[tokio::test]
async fn commands_that_say_nothing_for_too_long_are_ended() {
    let session = Session::with(|context| {
        // Enough for the start of the shell on a busy machine.
        context.options.shell_inactivity = Some(Duration::from_secs(2));
    });
    let reported =
        session.ok("run_shell_command", json!({"command": "echo before; sleep 1000"})).await;
    assert_eq!(
        reported,
        "<untrusted_context>\nCommand was automatically cancelled because it exceeded the timeout of 0.0 minutes without output. Below is the output before it was cancelled:\nbefore\n</untrusted_context>"
    );
}

#[tokio::test]
async fn commands_that_take_too_long_are_ended() {
    let session = Session::with(|context| {
        context.options.shell_timeout = Some(Duration::from_millis(300));
    });
    let reported = session.ok("run_shell_command", json!({"command": "sleep 20"})).await;
    assert_eq!(
        reported,
        "<untrusted_context>\nCommand was automatically cancelled because it exceeded the total time limit of 0.3 seconds. There was no output before it was cancelled.\n</untrusted_context>"
    );
}

#[tokio::test]
async fn a_stop_from_below_ends_the_command() {
    let session = Session::new();
    let args = json!({"command": "echo on; sleep 20"});
    let invocation = session.prepare("run_shell_command", &args).unwrap();
    let mut shown = session.live.subscribe();
    let later = async move {
        shown.wait_for(|all| !all.is_empty()).await.unwrap();
        CallInput::Stop
    };
    let context = RunContext {
        input: futures::stream::once(later).boxed(),
        ..session.run_context(CancellationToken::new())
    };
    let reported = text(&invocation.run(context).await);
    assert!(
        reported.contains("Command was cancelled by user before it could complete."),
        "{reported}"
    );
}

#[tokio::test]
async fn output_is_seen_while_the_command_runs() {
    let session = Session::new();
    let args = json!({"command": "echo one; until test -e go; do sleep 0.05; done; echo two"});
    tokio::join!(session.ok("run_shell_command", args), async {
        session.output_shown().await;
        session.file("go", "");
    });
    let live: Vec<LiveOutput> = session.live.borrow().clone();
    let append = |text: &str| LiveOutput::Append(text.to_owned());
    assert_eq!(live, [append("one\n"), append("two\n")]);
}

#[tokio::test]
async fn ten_commands_run_at_once() {
    let session = Session::new();
    // Each command waits until all ten have begun; a command that runs alone fails after half a
    // minute.
    let command = "mkdir -p on; touch on/$$; for n in $(seq 300); do \
                   test $(ls on | wc -l) -eq 10 && exit 0; sleep 0.1; done; exit 1";
    let calls = (0..10).map(|_| session.ok("run_shell_command", json!({"command": command})));
    for reported in futures::future::join_all(calls).await {
        assert!(!reported.contains("Exit Code"), "{reported}");
    }
}

#[tokio::test]
async fn what_is_asked_and_what_it_does() {
    let session = Session::new();
    std::fs::create_dir(session.path("sub")).unwrap();
    let args = json!({"command": "ls -l | wc", "dir_path": "sub", "description": "counts\nfiles"});
    let invocation = session.prepare("run_shell_command", &args).unwrap();
    assert_eq!(invocation.describe(), "ls -l | wc [in sub] (counts files)");
    let effects = invocation.effects();
    assert_eq!((effects.command.as_deref(), effects.alone), (Some("ls -l | wc"), false));
    let confirmation = invocation.confirmation(&CallId::new("1"), &side_models()).await.unwrap();
    assert_eq!(confirmation.title, "Confirm Shell Command");
    let ConfirmationKind::Execute { command, programs, .. } = confirmation.kind else { panic!() };
    assert_eq!(
        (command.as_str(), programs.as_slice()),
        ("ls -l | wc", ["ls".to_owned(), "wc".to_owned()].as_slice())
    );
}
