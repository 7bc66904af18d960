//! Outcome of a prompt that its calls end.

use pollux_protocol::{DiffStat, Display, Exceeded, Limit, Part, Period, Resource};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;

fn finished(name: &str, error: Option<ToolErrorKind>) -> Arc<FinishedCall> {
    let error = error.map(|kind| ToolError::new(kind, format!("{name} failed")));
    let call = Call {
        id: CallId::new("c"),
        name: name.to_owned(),
        args: Value::Null,
        prompt_id: "p".to_owned(),
    };
    let status = if error.is_some() { CallStatus::Error } else { CallStatus::Success };
    let (response, display, duration, decision) = (Vec::new(), None, Duration::ZERO, None);
    Arc::new(FinishedCall { call, status, response, display, error, duration, decision })
}

#[test]
fn the_first_call_that_ends_the_work_decides() {
    let limit = Limit { amount: 1, by_flag: false };
    let (resource, period) = (Resource::ToolCalls, Period::Prompt);
    let exceeded = Exceeded { resource, period, limit, spent: 1, wanted: 1 };
    let (full, stop) = (ToolErrorKind::NoSpaceLeft, ToolErrorKind::StopExecution);
    let calls = |errors: &[Option<ToolErrorKind>]| {
        errors.iter().zip(["a", "b", "c"]).map(|(error, name)| finished(name, *error)).collect()
    };
    let fatal = |tool: &str| PromptOutcome::FatalTool {
        tool: tool.to_owned(),
        message: format!("{tool} failed"),
    };
    let stopped = |reason: &str| Some(PromptOutcome::Stopped(reason.to_owned()));
    let failed = Some(ToolErrorKind::ExecutionFailed);
    let budget = Some(PromptOutcome::Budget(Box::new(exceeded)));
    let directive = || vec![Directive::AskAgain("x".into()), Directive::Stop("hook".into())];
    let batch = Batch::default;
    for (batch, expected) in [
        (batch(), None),
        (Batch { finished: calls(&[None, failed]), ..batch() }, None),
        (Batch { finished: calls(&[failed, Some(full)]), ..batch() }, Some(fatal("b"))),
        (Batch { finished: calls(&[Some(stop), Some(full)]), ..batch() }, stopped("a failed")),
        (
            Batch { finished: calls(&[Some(ToolErrorKind::ChangeNotReverted)]), ..batch() },
            Some(fatal("a")),
        ),
        (Batch { directives: directive(), ..batch() }, stopped("hook")),
        (Batch { directives: directive(), cancelled: true, ..batch() }, stopped("hook")),
        (Batch { exceeded: Some(exceeded), ..batch() }, budget.clone()),
        (Batch { exceeded: Some(exceeded), refused: true, ..batch() }, budget),
        (
            Batch { exceeded: Some(exceeded), cancelled: true, ..batch() },
            Some(PromptOutcome::Cancelled),
        ),
        (Batch { refused: true, ..batch() }, Some(PromptOutcome::Cancelled)),
        (Batch { refused: true, has_worked: true, ..batch() }, None),
        (Batch { has_worked: true, ..batch() }, None),
    ] {
        assert_eq!(format!("{:?}", batch.outcome()), format!("{expected:?}"), "{batch:?}");
    }
}

#[test]
fn a_measurement_has_the_size_of_the_change_and_the_error() {
    let stat = DiffStat { model_added_lines: 3, ..DiffStat::default() };
    let Some(Display::Diff(mut diff)) = changed(false).display else { panic!() };
    diff.diff_stat = Some(stat);
    let mut edited = FinishedCall::clone(&finished("edit", None));
    edited.display = Some(Display::Diff(diff));
    edited.response = vec![Part::output("c", "edit", "größer")];
    let measured = |finished: &FinishedCall| match run::measure(&finished.call, finished) {
        Measurement::ToolCall(measure) => measure,
        other => panic!("{other:?}"),
    };
    let measure = measured(&edited);
    assert_eq!((measure.diff, measure.content_length), (Some(stat), Some(6)));
    assert!(measure.success && measure.error.is_none());
    let measure = measured(&finished("edit", Some(ToolErrorKind::NoSpaceLeft)));
    let error = ("edit failed".to_owned(), ToolErrorKind::NoSpaceLeft.as_str());
    assert_eq!((measure.diff, measure.content_length, measure.error), (None, None, Some(error)));
    assert!(!measure.success);
}
