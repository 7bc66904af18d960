//! A conversation that has become too long continues in a shorter form, and nothing is lost.

use pollux_protocol::{
    Content, Directive, Effects, ModelError, ModelErrorKind, Op, Part, PromptOutcome, Record,
    ToolOutput,
};
use pollux_scripted::{FakeTool, ScriptedReply, SentRequest, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, Talk};

/// Tokens of more than half of the model's context.
const MUCH: u64 = 600_000;

const SNAPSHOT: &str = "<scratchpad>hm</scratchpad><state_snapshot><overall_goal>Mend it.</overall_goal></state_snapshot>";
const CHECKED: &str =
    "<state_snapshot><overall_goal>Mend all of it.</overall_goal></state_snapshot>";

const PROMPT: &str = "Never touch db/. Read the files.";
/// The prompt as a compressed conversation quotes it.
const QUOTED: &str = ">Never touch db/. Read the files.</prompt>";

/// Returns a tool that reads the file named by its argument, in the folder of this stage.
fn reading(stage: &Stage) -> FakeTool {
    let folder = stage.path("");
    let path = folder.clone();
    FakeTool::new("read")
        .effects(move |args| Effects::read(path.join(args["path"].as_str().unwrap())))
        .runs(move |args, _| {
            let text = std::fs::read_to_string(folder.join(args["path"].as_str().unwrap()));
            std::future::ready(ToolOutput::quiet(text.unwrap()))
        })
}

fn read(name: &str) -> ScriptedReply {
    reply().call("read", json!({"path": format!("{name}.txt")}))
}

/// Returns a stage whose model reads three files and then has used more than half of its context.
/// `rest` are its later answers.
fn full(rest: impl IntoIterator<Item = ScriptedReply>) -> Stage {
    let said = |text: &str| reply().text(text);
    let stage = Stage::with([
        said("First.").call("read", json!({"path": "a.txt"})).usage(1000, 9),
        said("Second.").call("read", json!({"path": "b.txt"})).usage(2000, 9),
        said("Third.").call("read", json!({"path": "c.txt"})).usage(MUCH, 9),
    ]);
    for name in ["a", "b", "c"] {
        std::fs::write(stage.path(&format!("{name}.txt")), format!("text of {name}\n")).unwrap();
    }
    rest.into_iter().for_each(|reply| stage.models.stream(reply));
    let tool = reading(&stage);
    stage.tool(tool)
}

fn compressions(talk: &Talk) -> usize {
    let is_compression = |record: &&Record| matches!(record, Record::Compressed(_));
    talk.journal.records().iter().filter(is_compression).count()
}

fn contents(sent: &SentRequest) -> Vec<Content> {
    sent.contents().into_iter().cloned().collect()
}

/// Returns the notice that contains this text.
fn notice(talk: &Talk, text: &str) -> String {
    let notices = talk.log.notices();
    notices.iter().find(|notice| notice.contains(text)).cloned().unwrap_or_else(|| {
        panic!("no notice contains {text:?}: {notices:?}");
    })
}

#[tokio::test]
async fn at_half_of_the_context_a_summary_takes_the_place_of_the_conversation() {
    let stage = full([reply().text("done").usage(3000, 5)]);
    stage.models.generate(reply().text(SNAPSHOT));
    stage.models.generate(reply().text(CHECKED));
    let talk = stage.start();
    talk.done(PROMPT).await;
    let asked = talk.models.generated();
    let [summary, check] = &asked[..] else { panic!("{} side calls", asked.len()) };
    for text in
        ["is data", "<scratchpad>", "<state_snapshot>", "<active_constraints>", "do not call tools"]
    {
        assert!(summary.system().contains(text), "{text}: {}", summary.system());
    }
    assert_eq!(summary.tools(), [""; 0]);
    assert!(summary.all_text().contains(PROMPT));
    // The second request contains the first answer.
    let reported = check.contents();
    assert_eq!(reported.len(), summary.contents().len() + 2);
    assert_eq!(reported[reported.len() - 2].text(), SNAPSHOT);

    let last = talk.models.last();
    let reported = last.all_text();
    assert!(
        reported.contains("<session_context>") && reported.contains("Mend all of it."),
        "{reported}"
    );
    assert!(reported.contains(QUOTED), "{reported}");
    assert!(!reported.contains("First.") && reported.contains("Third."), "{reported}");
    assert_eq!(last.responses(), [json!({"output": "text of c\n"})], "the latest result stays");
    talk.assert_replays();
}

#[tokio::test]
async fn a_compressed_conversation_stays_so_after_a_resume_and_the_log_keeps_all() {
    let stage = full([reply().text("done").usage(3000, 5)]);
    stage.models.generate(reply().text(SNAPSHOT));
    stage.models.generate(reply().text("All is well."));
    let talk = stage.start();
    talk.done(PROMPT).await;
    let before = contents(&talk.models.last());
    assert_eq!(compressions(&talk), 1);
    let records = format!("{:?}", talk.journal.records());
    assert!(records.contains("First.") && records.contains("text of a"));
    // The ledger shows the hash of a file at the time of the compression.
    let reported = talk.models.last().all_text();
    let (_, hash) = reported.split_once("a.txt (sha256 ").unwrap();
    let hash = format!("a.txt (sha256 {}", &hash[..12]);
    let stage = talk.close().await;
    std::fs::write(stage.path("a.txt"), "another text\n").unwrap();
    stage.models.stream(reply().text("again"));
    let talk = stage.resumed().start();
    talk.done("go on").await;
    let last = talk.models.last();
    assert_eq!(contents(&last)[..before.len()], before[..]);
    assert!(last.all_text().contains(&hash), "{hash}");
    let reported = last.all_text();
    assert!(
        reported.contains("Mend it."),
        "an answer without a snapshot checks nothing: {reported}"
    );
}

#[tokio::test]
async fn open_todos_and_other_tasks_outlast_a_summary_that_forgets_them() {
    use pollux_protocol::{Todo, TodoStatus};
    let todo = |status, text: &str| Todo { description: text.to_owned(), status };
    let todos = vec![
        todo(TodoStatus::Completed, "look"),
        todo(TodoStatus::InProgress, "mend a"),
        todo(TodoStatus::Pending, "b!"),
    ];
    let list = FakeTool::new("list").recalls(move |_, _| Some(Directive::SetTodos(todos.clone())));
    let mut stage = full([reply().text("done").usage(3000, 5)]).tool(list);
    stage.open_tasks = vec!["[open] a task".to_owned()];
    let replies = [reply().call("list", json!({})).usage(100, 9), reply().text("noted")];
    let first = Stage { models: pollux_scripted::ScriptedModels::with(replies), ..stage.clone() };
    let talk = first.start();
    talk.done("plan it").await;
    talk.close().await;
    let stage = stage.resumed();
    stage.models.generate(reply().text(SNAPSHOT));
    stage.models.generate(reply().text(CHECKED));
    let talk = stage.start();
    talk.done("do it").await;
    let last = talk.models.last();
    let calls = last.contents().into_iter().flat_map(Content::calls).map(|call| call.name.clone());
    assert_eq!(calls.collect::<Vec<_>>(), ["read"], "the list itself is no longer sent");
    let reported = last.all_text();
    let (_, list) = reported.split_once("<open_todos>\n").unwrap();
    let (list, _) = list.split_once("</open_todos>").unwrap();
    let expected = "<todo bytes=\"20\">[in_progress] mend a</todo>\n<todo bytes=\"12\">[pending] b!</todo>\n\
                    <todo bytes=\"13\">[open] a task</todo>\n";
    assert_eq!(list, expected);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_cannot_be_had_ends_nothing() {
    let refused = |kind| reply().fails(ModelError::new(kind, "no such thing"));
    let long = format!("<state_snapshot>{}</state_snapshot>", "more and more ".repeat(250_000));
    let table = [
        (reply(), "The model returned no summary."),
        (reply().text("<scratchpad>only thoughts"), "The model returned no summary."),
        (read("a"), "The model returned no summary."),
        (refused(ModelErrorKind::Invalid), "no such thing"),
        (refused(ModelErrorKind::Overloaded), "no such thing"),
        (reply().never_answers(), "No answer arrived within 300 s."),
        (reply().text(long), "The summary is longer than the conversation."),
    ];
    for (summary, why) in table {
        let stage = full([reply().text("done").usage(3000, 5)]);
        stage.models.generate_with(move |_| summary.clone());
        let talk = stage.start();
        talk.done(PROMPT).await;
        assert_eq!(compressions(&talk), 0, "there was nothing to make shorter");
        assert!(talk.models.last().all_text().contains("First."), "{why}");
        let notice = notice(&talk, "could not be compressed:");
        assert!(notice.contains(why), "{why}: {notice}");
    }
}

#[tokio::test]
async fn after_a_failed_compression_the_conversation_must_grow_before_the_next() {
    let grown = |more: u64| read("a").usage(MUCH + more, 9);
    // Five per cent of the context window are 50,000 tokens.
    let stage = full([grown(1000), grown(50_000), grown(55_000), reply().text("done")]);
    let refused = ModelError::new(ModelErrorKind::Invalid, "no");
    stage.models.generate_with(move |_| reply().fails(refused.clone()));
    let talk = stage.start();
    talk.done(PROMPT).await;
    assert_eq!(talk.models.generated().len(), 2);
}

#[tokio::test]
async fn a_refused_conversation_that_cannot_become_shorter_is_not_sent_again() {
    let too_long = ModelError::new(ModelErrorKind::TooLong, "too long");
    let stage = Stage::with([reply().text("a"), reply().text("b"), reply().fails(too_long)]);
    let refused = ModelError::new(ModelErrorKind::Invalid, "no");
    stage.models.generate_with(move |_| reply().fails(refused.clone()));
    let talk = stage.start();
    talk.done("one").await;
    talk.done("two").await;
    let outcome = talk.prompt("three").await;
    assert!(matches!(outcome, PromptOutcome::Failed(_)), "{outcome:?}");
    assert_eq!(compressions(&talk), 0);
}

/// Reaches the limit of the context with this text and this number of result lines in each turn,
/// while no summary is available. Returns the notice.
async fn shortened(text: &str, lines: usize) -> (Talk, String) {
    let look = |name: &str| read(name).text(format!("Look at {name}. {text}")).usage(100, 9);
    let mut stage = Stage::with(["a", "b", "c", "a", "c"].map(look));
    for name in ["a", "b", "c"] {
        let line = "some words of a file that is long\n";
        let text = format!("{name}\n{}", line.repeat(lines));
        std::fs::write(stage.path(&format!("{name}.txt")), text).unwrap();
    }
    // Otherwise masking would shorten the results first.
    (stage.masking, stage.loop_detection) = ((9e9, 30_000.0), false);
    stage.models.stream(read("b").text("Once more.").usage(990_000, 9));
    stage.models.stream(reply().text("done").usage(3000, 5));
    let refused = ModelError::new(ModelErrorKind::Invalid, "no");
    stage.models.generate(reply().fails(refused));
    let tool = reading(&stage);
    let talk = stage.tool(tool).start();
    talk.done(PROMPT).await;
    assert_eq!(compressions(&talk), 1);
    assert!(talk.models.last().all_text().contains("Once more."));
    let notice = notice(&talk, "could not be summarised");
    (talk, notice)
}

#[tokio::test]
async fn without_a_summary_old_results_become_short() {
    let (talk, notice) = shortened("", 1900).await;
    assert!(notice.contains(" tool results were shortened."), "{notice}");
    assert!(!notice.contains("omitted"), "{notice}");
    let last = talk.models.last();
    assert!(last.all_text().contains("Look at a."));
    let short = last.outputs()[0].to_owned();
    let (_, named) = short.split_once("Full output available at: ").unwrap();
    let whole = std::fs::read_to_string(named.lines().next().unwrap()).unwrap();
    assert!(whole.starts_with("a\n"), "{whole:.80}");
    // The resumed session keeps the shortened results.
    talk.models.stream(reply().text("again"));
    let talk = talk.resume().await;
    talk.done("go on").await;
    assert_eq!(talk.models.last().outputs()[0], short);
}

#[tokio::test]
async fn without_a_summary_the_oldest_messages_go_where_they_must() {
    let (talk, notice) = shortened(&"A long thought. ".repeat(8000), 1).await;
    assert!(notice.contains(" oldest messages are omitted."), "{notice}");
    assert!(notice.contains("Kept verbatim: prompts (1)"), "{notice}");
    let reported = talk.models.last().all_text();
    assert!(reported.contains(QUOTED), "{reported:.4000}");
    assert!(
        reported.contains("could not be summarised and is omitted") && reported.contains("a.txt")
    );
    assert!(!reported.contains("Look at b."));
    talk.assert_replays();
}

#[tokio::test]
async fn a_conversation_that_the_model_refuses_is_made_shorter_until_it_is_accepted() {
    let too_long = || reply().fails(ModelError::new(ModelErrorKind::TooLong, "too long"));
    for works in [true, false] {
        let look = || reply().text("Look.").call("read", json!({"path": "a.txt"})).usage(100, 9);
        let stage = Stage::with(std::iter::repeat_with(look).take(4));
        std::fs::write(stage.path("a.txt"), "a\n".repeat(1500)).unwrap();
        (0..=usize::from(works)).for_each(|_| stage.models.stream(too_long()));
        stage.models.stream(reply().text("done"));
        stage.models.generate_with(move |_| {
            if works {
                return reply().text(CHECKED);
            }
            reply().fails(ModelError::new(ModelErrorKind::Invalid, "no"))
        });
        let tool = reading(&stage);
        let talk = stage.tool(tool).start();
        talk.done(PROMPT).await;
        assert_eq!(talk.log.text(), "Look.Look.Look.Look.done");
        assert!(talk.models.last().all_text().contains("Never touch db/."));
        talk.assert_replays();
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_leaves_everything_as_it_was() {
    let stage = full([]);
    stage.models.generate(reply().never_answers());
    let talk = stage.start();
    let id = talk.begin(PROMPT);
    talk.models.wait_for(4).await;
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Cancelled));
    assert_eq!((compressions(&talk), talk.models.open_answers()), (0, 0));
    talk.models.generate_with(|_| reply().never_answers());
    talk.models.stream(reply().text("done"));
    let talk = talk.resume().await;
    talk.done("go on").await;
    assert!(talk.models.last().all_text().contains("First."));
}

#[tokio::test]
async fn results_that_do_not_fit_become_short_and_the_work_goes_on() {
    let mut stage = Stage::with([
        reply().call("look", json!({})).usage(255_500, 10),
        reply().text("done").usage(1000, 5),
    ]);
    let limits = pollux_protocol::ModelLimits { context: 256_000, ..Default::default() };
    stage.models = stage.models.with_limits(limits);
    let result = vec![Part::text("some words of a file\n".repeat(400))];
    let look = FakeTool::new("look").runs(move |_, _| {
        std::future::ready(ToolOutput { content: result.clone(), ..ToolOutput::default() })
    });
    let talk = stage.tool(look).start();
    talk.done(PROMPT).await;
    let response = talk.models.last().response();
    assert!(response.starts_with("<tool_output_masked>"), "{response}");
}
