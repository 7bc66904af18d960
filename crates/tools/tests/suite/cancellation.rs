//! Tests that every run returns soon after a cancellation.

use std::time::{Duration, Instant};

use pollux_protocol::CancellationToken;
use pollux_testkit::timed_test;
use serde_json::json;

use super::session::Session;

/// Maximum time until a cancelled call returns: 100 ms are guaranteed, the rest is a margin for a
/// busy machine.
const AT_ONCE: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_after_a_cancel() {
    let session = Session::new();
    session.file("a", "x\n");
    let calls = [
        ("read_file", json!({"file_path": "a"})),
        ("write_file", json!({"file_path": "new", "content": "x"})),
        (
            "replace",
            json!({"file_path": "a", "instruction": "", "old_string": "x", "new_string": "y"}),
        ),
        ("list_directory", json!({"dir_path": "."})),
        ("glob", json!({"pattern": "**"})),
        ("grep_search", json!({"pattern": "x"})),
    ];
    for (tool, args) in calls {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let output = session.prepare(tool, &args).unwrap().run(session.run_context(cancel)).await;
        assert!(output.error.is_some(), "{tool}");
    }
    assert_eq!(session.text("a"), "x\n");
    assert!(!session.path("new").exists());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_cancelled_at_once_and_its_output_kept() {
    let _alone = timed_test();
    let session = Session::new();
    let cancel = CancellationToken::new();
    let invocation = session
        .prepare(
            "run_shell_command",
            &json!({"command": "trap '' TERM; echo before; sleep 600; sleep 600"}),
        )
        .unwrap();
    let run = invocation.run(session.run_context(cancel.clone()));
    let (output, cancelled_at) = tokio::join!(run, async {
        session.output_shown().await;
        cancel.cancel();
        Instant::now()
    });
    // The promise to the user is a time limit, so the test measures time.
    assert!(cancelled_at.elapsed() < AT_ONCE, "{:?}", cancelled_at.elapsed());
    let reported = super::session::text(&output);
    assert_eq!(
        reported,
        "<untrusted_context>\nCommand was cancelled by user before it could complete. Below is the output before it was cancelled:\nbefore\n</untrusted_context>"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_does_not_start_after_a_cancel() {
    let session = Session::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let invocation =
        session.prepare("run_shell_command", &json!({"command": "touch made"})).unwrap();
    let output = invocation.run(session.run_context(cancel)).await;
    assert_eq!(
        super::session::text(&output),
        "Command was cancelled by user before it could start."
    );
    assert!(!session.path("made").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_search_comes_back() {
    let session = Session::new();
    for index in 0..300 {
        session.file(&format!("{index}.txt"), "abcdefgh\n".repeat(20_000));
    }
    let cancel = CancellationToken::new();
    let args = json!({"pattern": "(a|b|c)+.*(x|y|z)+q", "context": 0});
    let invocation = session.prepare("grep_search", &args).unwrap();
    let run = invocation.run(session.run_context(cancel.clone()));
    let (output, ()) = tokio::join!(run, async {
        // The search must be running; it reports nothing before its end.
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let message = output.error.map(|error| error.message);
    // The result of a whole search is no error.
    assert_eq!(message.as_deref(), Some("The operation was cancelled before it finished."));
}
