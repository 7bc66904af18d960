//! Tests of a model that corrects edits whose text is not found, if the settings allow it.

use pollux_protocol::Measurement;
use pollux_scripted::{ScriptedModels, ScriptedReply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::session::Session;

/// Makes one edit that does not match; `answer` is the answer of the correcting model. The last
/// value is the measured success of the correction.
async fn edit(
    file: &str,
    enabled: bool,
    answer: ScriptedReply,
) -> (Session, ScriptedModels, String, Option<bool>) {
    let models = ScriptedModels::new();
    models.generate_with(move |_| answer.clone());
    let session = Session::with(|context| context.options.correct_edits = enabled).asking(&models);
    session.file(file, "fn total() {\n    sum(prices)\n}\n");
    let edit = json!({
        "file_path": file, "instruction": "count taxes too",
        "old_string": "return sum_of_all(the_prices_that_are_there);", "new_string": "    sum(prices) + taxes"
    });
    let output = session.call("replace", edit).await;
    let success = output.measurements.iter().find_map(|measurement| match measurement {
        Measurement::EditCorrection { success } => Some(*success),
        _ => None,
    });
    let reported = match output.error {
        Some(error) => error.message,
        None => output.content.iter().filter_map(|part| part.as_text()).collect(),
    };
    (session, models, reported, success)
}

fn says(search: &str, done: bool) -> ScriptedReply {
    let value = json!({
        "search": search, "replace": "    sum(prices) + taxes", "noChangesRequired": done,
        "explanation": "The call has other words."
    });
    reply().text(value.to_string())
}

#[tokio::test]
async fn a_mended_edit_is_made_and_reported() {
    let (session, models, reported, success) =
        edit("a.rs", true, says("    sum(prices)", false)).await;
    assert_eq!(success, Some(true));
    assert!(reported.starts_with("Successfully modified file: "), "{reported}");
    let remark = "old_string did not match and was corrected by a model: The call has other words.";
    assert!(reported.ends_with(remark), "{reported}");
    assert_eq!(session.text("a.rs"), "fn total() {\n    sum(prices) + taxes\n}\n");
    let [asked] = &models.generated()[..] else { panic!("not one side call") };
    let question = asked.last_texts().concat();
    for words in ["count taxes too", "sum_of_all", "Could not find an exact match", "fn total()"] {
        assert!(question.contains(words), "{words}: {question}");
    }
}

#[tokio::test]
async fn what_cannot_be_mended_fails_as_it_did_at_first() {
    let garbage = reply().text("no json");
    let table = [
        ("a.rs", true, says("nothing like this stands in the file", false), 1, Some(false)),
        ("a.rs", true, says("fn total() {\n    sum(prices)", false), 1, Some(false)),
        ("a.rs", true, says("", false), 1, None),
        ("a.rs", true, garbage, 1, None),
        ("a.json", true, says("    sum(prices)", false), 0, None),
        ("a.rs", false, says("    sum(prices)", false), 0, None),
    ];
    for (file, enabled, answer, requests, measured) in table {
        let (session, models, reported, success) = edit(file, enabled, answer).await;
        assert_eq!(success, measured);
        assert!(reported.starts_with("Could not find an exact match"), "{reported}");
        assert_eq!(models.generated().len(), requests);
        assert!(session.text(file).contains("    sum(prices)\n"));
    }
}

#[tokio::test]
async fn an_edit_that_is_made_already_is_reported_as_such() {
    let (session, _, reported, _) = edit("a.rs", true, says("", true)).await;
    assert!(
        reported.contains("already contains the change: The call has other words."),
        "{reported}"
    );
    assert!(session.text("a.rs").contains("    sum(prices)\n"));
}
