use std::sync::Arc;

use pollux_protocol::{Compression, EntryId, Tool, ToolFacts};
use pollux_scripted::FakeTool;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// Returns tools of which `keep` is never shortened, and `shell` by its lines.
fn tools() -> Toolset {
    let tool = |name, shortening| -> Arc<dyn Tool> {
        Arc::new(FakeTool::new(name).facts(ToolFacts { shortening, ..ToolFacts::default() }))
    };
    Toolset::new(vec![tool("keep", Shortening::Never), tool("shell", Shortening::CommandOutput)])
}

/// Returns a conversation with one turn for each answer: prompt, call and result.
fn conversation(answers: &[(&str, Value)]) -> History {
    let mut history = History::new();
    for (number, (tool, response)) in answers.iter().enumerate() {
        let id = |kind: &str| EntryId::new(format!("{kind}{number}"));
        let call = format!("c{number}");
        history.push_user(id("u"), vec![Part::text("go on")]);
        history.push_model(id("m"), vec![Part::call(&call, *tool, json!({}))]);
        history.push_responses(id("r"), vec![Part::response(&call, *tool, response.clone())]);
    }
    history
}

/// Masks a conversation as an agent does.
async fn apply(
    masking: &mut Masking,
    history: &mut History,
    options: &MaskingOptions,
) -> Option<Measurement> {
    let masked = masking.find(history, &tools(), options).await?;
    let (id, shortened) = (EntryId::new("mask"), masked.shortened.clone());
    let is_changed = history.compress(&Compression { id, summary: None, shortened, tokens: None });
    masking.settle(&masked, history);
    is_changed.then_some(masked.measurement)
}

/// Returns an answer of about this many tokens.
fn answer(tokens: usize) -> Value {
    json!({ "output": "x".repeat(tokens * 4) })
}

async fn masked(history: &mut History, directory: &Path, options: &MaskingOptions) -> Vec<bool> {
    apply(&mut Masking::new(directory.to_owned()), history, options).await;
    let responses = history.entries().iter().flat_map(|entry| entry.content().responses());
    responses.map(|response| is_masked(&response.response)).collect()
}

#[tokio::test]
async fn rules_that_came_with_a_result_outlast_it() {
    let folder = tempfile::tempdir().unwrap();
    let [opening, closing] = DISCOVERED_CONTEXT;
    let block = |rule: &str| format!("\n\n{opening}\n{rule}\n{closing}");
    let long = "x".repeat(400_000);
    let output = format!("{}{long}{}", block("imitated"), block("Use tabs."));
    let mut history = conversation(&[
        ("read_file", json!({ "output": output })),
        ("read_file", json!({ "output": format!("{long}{opening} that never ends") })),
        ("read_file", answer(90_000)),
    ]);
    masked(&mut history, folder.path(), &MaskingOptions::default()).await;
    let reported: Vec<String> = history
        .entries()
        .iter()
        .flat_map(|entry| entry.content().responses())
        .map(|response| response.response["output"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        reported[0].starts_with(OPENING) && reported[0].ends_with(&block("Use tabs.")),
        "{}",
        reported[0]
    );
    assert!(!reported[0].contains("\n\nimitated") && reported[0].len() < 2000);
    assert!(reported[1].ends_with(CLOSING), "{}", reported[1]);
}

#[tokio::test]
async fn only_what_is_old_and_much_is_masked() {
    let folder = tempfile::tempdir().unwrap();
    let table: &[(&[usize], &[bool])] = &[
        (&[10_000; 3], &[false; 3]),
        // The last result does not count, the 50,000 tokens before it are kept, and 20,000 are too
        // few to mask.
        (&[10_000, 10_000, 49_000, 10_000], &[false; 4]),
        (&[30_000, 49_000, 90_000], &[true, false, false]),
        (&[20_000, 49_000, 90_000], &[false, false, false]),
        // The result that crosses the threshold is old.
        (&[2_000, 60_000, 1], &[true, true, false]),
        (&[20_000, 20_000, 20_000, 40_000, 1], &[true, true, true, false, false]),
    ];
    for (sizes, expected) in table {
        let answers: Vec<_> = sizes.iter().map(|tokens| ("read_file", answer(*tokens))).collect();
        let mut history = conversation(&answers);
        assert_eq!(
            masked(&mut history, folder.path(), &MaskingOptions::default()).await,
            *expected,
            "{sizes:?}"
        );
        assert!(history.request().is_ok());
    }
    let mut history = conversation(&[("read_file", answer(90_000))]);
    let all = MaskingOptions { protect_latest: false, ..MaskingOptions::default() };
    assert_eq!(masked(&mut history, folder.path(), &all).await, [true]);
}

#[tokio::test]
async fn some_tools_are_exempt_and_small_answers_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = conversation(&[
        ("keep", answer(40_000)),
        ("glob", json!({"output": "a.txt"})),
        ("grep_search", json!({"error": "y".repeat(160_000)})),
        ("read_file", answer(51_000)),
        ("read_file", answer(1)),
    ]);
    let result = masked(&mut history, folder.path(), &MaskingOptions::default()).await;
    assert_eq!(result, [false, false, true, true, false]);
    // A masked result is not masked again, and no further result is old enough.
    let entries: Vec<u64> = history.entries().iter().map(|entry| entry.serial()).collect();
    let mut again = Masking::new(folder.path().to_owned());
    assert!(apply(&mut again, &mut history, &MaskingOptions::default()).await.is_none());
    assert_eq!(entries, history.entries().iter().map(|entry| entry.serial()).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_whole_answer_is_in_the_file_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}é{}", "a".repeat(200_000), "b".repeat(200_000));
    let whole = json!({ "output": long.clone() });
    let mut history =
        conversation(&[("Read File!", whole.clone()), ("x", answer(60_000)), ("x", answer(1))]);
    let mut masking = Masking::new(folder.path().to_owned());
    let Some(Measurement::ToolOutputMasked { before, after, count, prunable }) =
        apply(&mut masking, &mut history, &MaskingOptions::default()).await
    else {
        panic!("nothing was masked")
    };
    assert_eq!(count, 2);
    assert!(before == prunable && after * 50 < before, "{before} {after} {prunable}");
    let shown =
        history.entries()[2].content().responses().next().unwrap().response["output"].clone();
    let shown = shown.as_str().unwrap();
    let (head, rest) = shown.split_once("\n... [TRUNCATED] ...\n").unwrap();
    assert_eq!(head, format!("<tool_output_masked>\n{}", "a".repeat(250)));
    let (tail, named) =
        rest.split_once("\n\nOutput too large. Full output available at: ").unwrap();
    assert_eq!(tail, "b".repeat(250));
    let file = Path::new(named.strip_suffix("\n</tool_output_masked>").unwrap());
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("read_file__c0_"), "{name}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), long);
}

#[test]
fn words_are_kept_as_words() {
    assert_eq!(whole(&json!({"output": "a\nb"})), "a\nb");
    assert_eq!(whole(&json!({"error": "e"})), "e");
    assert_eq!(
        whole(&json!({"output": "a", "error": "e"})),
        "{\n  \"output\": \"a\",\n  \"error\": \"e\"\n}"
    );
    assert_eq!(whole(&json!({})), "{}");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_leaves_the_answer_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let mut history = conversation(&[("glob", answer(90_000)), ("glob", answer(1))]);
    let result =
        masked(&mut history, &folder.path().join("file"), &MaskingOptions::default()).await;
    assert_eq!(result, [false, false]);
}

#[test]
fn a_commands_output_is_shown_by_lines() {
    let lines: Vec<String> = (1..=50).map(|number| format!("line {number}")).collect();
    let output = format!(
        "<untrusted_context>\nOutput: {}\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>",
        lines.join("\n")
    );
    let shown = command_preview(&output);
    let expected = [
        "<untrusted_context>",
        "Output: line 1",
        "line 10",
        "... [30 lines omitted] ...",
        "line 41",
        "line 50",
    ];
    assert!(expected.iter().all(|line| shown.lines().any(|shown| shown == *line)), "{shown}");
    assert!(
        shown.ends_with("line 50\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>"),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 25);
    assert!(command_preview(&"z".repeat(1 << 20)).len() < 600);
}

#[test]
fn how_a_result_becomes_short_is_the_tools_to_say() {
    let output = json!({ "output": "a line\n".repeat(200) });
    let shown = |tool: &str| {
        let part = Part::response("c", tool, output.clone());
        let (_, shown, _) = short(part.as_response()?, &tools(), Path::new("/none"))?;
        Some(shown["output"].to_string())
    };
    assert!(shown("shell").unwrap().contains("[180 lines omitted]"));
    assert!(shown("unheard_of").unwrap().contains("[TRUNCATED]"));
    assert_eq!(shown("keep"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn the_conversation_stays_valid_and_keeps_what_is_new(
        sizes in proptest::collection::vec((0_usize..4000, 0..6), 1..30),
    ) {
        // A tenth of the default settings, so that many conversations can be checked in a short
        // time.
        let options = MaskingOptions { protected: 5000.0, least: 3000.0, protect_latest: true };
        let folder = tempfile::tempdir().unwrap();
        let names = ["read_file", "shell", "keep", "glob", "grep_search", "x"];
        let answers = sizes.iter().map(|(size, tool)| (names[*tool as usize], answer(*size)));
        let answers: Vec<_> = answers.collect();
        let mut history = conversation(&answers);
        let before = history.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut masking = Masking::new(folder.path().to_owned());
        runtime.block_on(apply(&mut masking, &mut history, &options));
        prop_assert!(history.request().is_ok());
        prop_assert_eq!(before.entries().len(), history.entries().len());
        let mut kept = 0.0;
        for (old, new) in before.entries().iter().zip(history.entries()).rev() {
            prop_assert_eq!(old.id(), new.id());
            if kept <= options.protected && old.serial() != new.serial() {
                // The newest masked result has crossed the threshold.
                prop_assert!(kept + estimate::content(old.content()) > options.protected);
                kept = f64::MAX;
            }
            let responses = old.content().responses();
            kept += responses.map(|_| estimate::content(old.content())).sum::<f64>();
            prop_assert!(estimate::content(new.content()) <= estimate::content(old.content()));
        }
        let entries = history.entries().iter();
        let contents = entries.map(|entry| (entry.id().clone(), entry.content().clone()));
        prop_assert!(History::restore(contents.collect::<Vec<_>>()).1.is_empty());
    }
}
