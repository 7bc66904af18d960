use pollux_protocol::{
    ApprovalMode, CallId, ConfirmationKind, Directive, Live, Tool, ToolErrorKind,
};
use serde_json::json;

use super::session::{Session, side_models, text};

/// Returns a session in plan mode whose plans are in the folder `plans` of the project.
fn planning() -> Session {
    let session = Session::with(|context| {
        context.mode = Live::new(ApprovalMode::Plan);
        context.plans_directory = context.workspace.get().roots().next().unwrap().join("plans");
    });
    session.file("plans/good.md", "# Goal\n");
    session.file("plans/empty.md", " \n");
    session
}

#[tokio::test]
async fn entering_makes_the_folder_and_asks_for_the_mode() {
    let session = Session::with(|context| {
        context.plans_directory = context.workspace.get().roots().next().unwrap().join("plans");
    });
    let output = session.call("enter_plan_mode", json!({"reason": "it is large"})).await;
    assert_eq!(text(&output), "Switching to Plan mode.");
    assert_eq!(output.directives, [Directive::SetMode(ApprovalMode::Plan)]);
    assert!(session.path("plans").is_dir());
}

#[tokio::test]
async fn leaving_shows_the_plan_and_names_it() {
    let session = planning();
    let args = json!({"plan_filename": "good.md"});
    let invocation = session.prepare("exit_plan_mode", &args).unwrap();
    let confirmation = invocation.confirmation(&CallId::new("c"), &side_models()).await.unwrap();
    let ConfirmationKind::Plan { path, text: plan } = confirmation.kind else { panic!() };
    assert_eq!((path, plan.as_str()), (session.path("plans/good.md"), "# Goal\n"));
    let output = session.call("exit_plan_mode", args.clone()).await;
    assert!(text(&output).contains("plans/good.md"));
    let leave = Directive::LeavePlanMode { plan: "good.md".to_owned() };
    assert_eq!(output.directives, std::slice::from_ref(&leave));
    let tool = session.tool("exit_plan_mode");
    let answered = |text: &str| tool.recall(&args, &json!({ "output": text }));
    assert_eq!(answered(&text(&output)), Some(leave));
    let mut refused = args.clone();
    refused["feedback"] = "smaller".into();
    let refusal = session.call("exit_plan_mode", refused).await;
    assert_eq!((refusal.directives.as_slice(), answered(&text(&refusal))), (&[][..], None));
    let absolute = session.path("plans/good.md").display().to_string();
    assert_eq!(
        session.call("exit_plan_mode", json!({"plan_filename": absolute})).await.error,
        None
    );
}

#[tokio::test]
async fn a_plan_that_is_none_is_refused() {
    let session = planning();
    session.file("code.md", "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../code.md", session.path("plans/link.md")).unwrap();
    for (name, words) in [
        ("missing.md", "does not exist"),
        ("empty.md", "is empty"),
        ("", "is required"),
        ("../code.md", "must be within the designated plans directory"),
        ("/etc/passwd", "must be within the designated plans directory"),
        #[cfg(unix)]
        ("link.md", "must be within the designated plans directory"),
    ] {
        let (kind, message) = session.err("exit_plan_mode", json!({"plan_filename": name})).await;
        assert_eq!(kind, ToolErrorKind::InvalidToolParams, "{name}");
        assert!(message.contains(words), "{name}: {message}");
    }
}

#[test]
fn in_plan_mode_tools_that_write_say_what_for() {
    let description = |session: &Session, tool| session.tool(tool).declaration().description;
    for tool in ["write_file", "replace"] {
        assert!(
            description(&planning(), tool).starts_with("In plan mode, only for plans"),
            "{tool}"
        );
        assert!(!description(&Session::new(), tool).contains("plan mode"), "{tool}");
    }
}

#[test]
fn without_plan_mode_there_are_no_tools_for_it() {
    let session = Session::with(|context| context.options.plan_mode = false);
    assert!(
        session.tools.iter().all(|tool: &std::sync::Arc<dyn Tool>| !tool.name().contains("plan"))
    );
}
