//! The frontend of `examples/frontend.rs`, line by line against the scripted server.

use std::sync::Arc;
use std::time::Duration;

use pollux_host::Host;
use pollux_protocol::SessionRequest;
use pollux_testkit::reply;
use serde_json::json;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;

use super::stage::{Stage, says};
use crate::frontend::{Input, Person, talk};

const MODEL: &str = "gemini-2.5-pro";
/// Timeout for text that never comes; then the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// A simulated user of the example.
struct Visit {
    inputs: mpsc::UnboundedSender<Input>,
    page: watch::Receiver<String>,
    /// Number of bytes of the page that have been read.
    read: usize,
    task: JoinHandle<()>,
}

impl Visit {
    /// Starts the example in a folder.
    fn new(stage: &Stage, folder: &str) -> Self {
        let (inputs, received) = mpsc::unbounded_channel();
        let (shown, page) = watch::channel(String::new());
        let show = move |text: &str| shown.send_modify(|page| page.push_str(text));
        let person = Arc::new(Person { inputs: Mutex::new(received), page: Box::new(show) });
        let Host { environment, options, .. } = &stage.host;
        let host = Host {
            environment: environment.clone(),
            options: options.clone(),
            called_as: "frontend".to_owned(),
        };
        let request = SessionRequest {
            operator: Some(person.clone()),
            notices: person.clone(),
            ..SessionRequest::new(stage.home.project().join(folder))
        };
        let task = tokio::spawn(async move { talk(&host, request, person).await.unwrap() });
        Self { inputs, page, read: 0, task }
    }

    fn line(&self, line: &str) {
        self.inputs.send(Input::Line(line.to_owned())).ok().unwrap();
    }

    /// Waits for this text after all text that was waited for before.
    async fn sees(&mut self, text: &str) {
        let read = self.read;
        let found = self.page.wait_for(|page| page[read..].contains(text));
        let found = tokio::time::timeout(PATIENCE, found).await.map(|page| page.unwrap().clone());
        let Ok(page) = found else {
            panic!("{text:?} did not come:\n{}", &self.page.borrow()[read..])
        };
        self.read += page[read..].find(text).unwrap() + text.len();
    }

    async fn end(self) -> String {
        tokio::time::timeout(PATIENCE, self.task).await.expect("it ends").unwrap();
        self.page.borrow().clone()
    }
}

#[tokio::test]
async fn the_example_frontend_shows_the_whole_contract() {
    let stage = Stage::with_folder_trust();
    let settings = json!({"model": {"name": MODEL}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", "plum jam"));
    let command = "touch made.txt; echo made it; until test -e seen.txt; do sleep 0.02; done";
    let touch = json!({ "command": command });
    stage.reply(MODEL, reply().text("I make it.").call("run_shell_command", touch));
    stage.reply(MODEL, reply().text("It is made."));
    stage.reply(MODEL, reply().text("This takes").stall_after(1));
    stage.reply(MODEL, reply().text("Well read."));
    let mut visit = Visit::new(&stage, "shop");
    // Before the session: a question about trust.
    visit.sees("Trust the folder ").await;
    visit.sees("  1. Trust folder (shop)\n").await;
    visit.line("7");
    visit.sees("Type the number of a choice.").await;
    visit.line("1");
    visit.sees("/help lists the commands.").await;
    // A prompt, its stream, and a question about its call.
    visit.line("Make it.");
    visit.sees("I make it.").await;
    visit.sees("* run_shell_command touch made.txt; echo made it").await;
    visit.sees("(awaiting_approval)").await;
    visit.sees("  1. Allow once\n").await;
    assert!(!folder.join("made.txt").exists());
    visit.line("1");
    visit.sees("(executing)").await;
    // The command continues once its output is on the page.
    visit.sees("made it").await;
    stage.home.project_file("shop/seen.txt", "").project_file("shop/note.txt", "plum jam");
    visit.sees("(success)").await;
    visit.sees("It is made.\n[Done]\n> ").await;
    assert!(folder.join("made.txt").exists());
    // Ctrl-C, and a command while a prompt is running.
    visit.line("Think long.");
    visit.sees("This takes").await;
    visit.line("/mode plan");
    visit.sees("Mode: plan\n").await;
    visit.inputs.send(Input::Interrupt).ok().unwrap();
    visit.sees("[Cancelled]\n> ").await;
    // A command, a failing one, and a prompt with a file.
    visit.line("/about");
    visit.sees("Called as      frontend\n").await;
    visit.sees("[Done]").await;
    visit.line("/mode nosuch");
    visit.sees("There is no mode nosuch. Modes: ").await;
    visit.line("Read @seen.txt and @note.txt.");
    visit.sees("Well read.").await;
    visit.sees("[Done]").await;
    visit.line("/quit");
    let page = visit.end().await;
    assert!(!page.contains("[Failed"), "{page}");
    let request = stage.server.last_request();
    assert!(says(&request, "Content from referenced files") && says(&request, "plum jam"));
    stage.server.assert_all_valid();
}
