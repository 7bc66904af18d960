use futures::FutureExt;
use pollux_input::{Interaction, ListAnswer, ListRequest};
use pollux_protocol::{Event, SessionEntry, SessionPreview, SettingEntry, SettingEntryKind};
use pretty_assertions::assert_eq;

use crate::view::tests::{Agent, Stage};

const DOWN: &str = "\x1b[B";
const DELETE: &str = "\x1b[3~";

fn session(id: &str, day: u8) -> SessionEntry {
    SessionEntry {
        id: id.to_owned(),
        path: format!("/chats/{id}.jsonl").into(),
        index: 0,
        start_time: String::new(),
        last_updated: format!("2026-11-{day:02}T12:00:00.000Z"),
        first_message: format!("first of {id}"),
        summary: None,
        is_damaged: false,
        agent: None,
        subagents: Vec::new(),
    }
}

/// Returns the answers of a project with two sessions, of which one can be deleted.
pub(crate) fn answer(request: ListRequest) -> Result<ListAnswer, String> {
    match request {
        ListRequest::Sessions => Ok(ListAnswer::Sessions(vec![session("old", 1), session("s", 2)])),
        ListRequest::DeleteSession(id) if id == "old" => {
            Ok(ListAnswer::Sessions(vec![session("s", 2)]))
        }
        ListRequest::Models => Ok(ListAnswer::Models(Vec::new())),
        ListRequest::Servers => Ok(ListAnswer::Servers(Vec::new())),
        ListRequest::Settings => Ok(ListAnswer::Settings(vec![vim_mode(false)])),
        ListRequest::Preview(session) => {
            let last_prompt = Some(format!("last of {}", session.id));
            Ok(ListAnswer::Preview(session.id, Some(SessionPreview { messages: 4, last_prompt })))
        }
        ListRequest::DeleteSession(id) => Err(format!("{id} is in use")),
    }
}

fn vim_mode(is_on: bool) -> SettingEntry {
    SettingEntry {
        key: "general.vimMode",
        description: "Keys of vi.",
        kind: SettingEntryKind::Boolean,
        value: Some(is_on.into()),
        shown: is_on.to_string(),
        source: "default".to_owned(),
        notes: Vec::new(),
    }
}

/// Passes on the answers that the list waits for.
fn read(stage: &mut Stage<'_>) {
    while let Some(answer) = stage.view.awaited().list.and_then(FutureExt::now_or_never) {
        stage.view.listed(answer);
    }
}

fn open<'a>(agent: &'a Agent, line: &str) -> Stage<'a> {
    let mut stage = Stage::new(agent, 80, 24);
    stage.keys(&[line, "\r"]);
    let rows = stage.live();
    assert!(rows.contains(&"Reading the sessions ...".to_owned()), "{rows:?}");
    read(&mut stage);
    stage
}

#[tokio::test]
async fn a_session_is_chosen_and_resumed() {
    for line in ["/resume", "/chat "] {
        let agent = Agent::default();
        let mut stage = open(&agent, line);
        let rows = stage.live();
        let row = rows.iter().position(|row| row.starts_with("> (current) first of s ")).unwrap();
        assert!(rows[row].contains("4 messages  2026-11-02 "), "{rows:?}");
        assert!(rows.contains(&"  Last:  last of s".to_owned()), "{rows:?}");
        stage.keys(&["\r"]);
        let rows = stage.live();
        assert!(rows.contains(&"This session is open already.".to_owned()), "{rows:?}");
        stage.keys(&["old"]);
        assert!(!stage.live().join("\n").contains("(current)"), "{:?}", stage.live());
        stage.keys(&["\r"]);
        assert_eq!(agent.asked(), ["/resume "], "the stage knows no command with arguments");
        assert_eq!(stage.finished().last().unwrap(), "> /resume old");
    }
}

#[tokio::test]
async fn a_session_is_deleted_after_a_question() {
    let agent = Agent::default();
    let mut stage = open(&agent, "/resume");
    let has_old = |stage: &mut Stage<'_>| stage.live().join("\n").contains("first of old");
    stage.keys(&[DOWN, DELETE]);
    let question = "Delete this session with its files? y deletes it, other keys keep it";
    assert!(stage.live().contains(&question.to_owned()), "{:?}", stage.live());
    for key in ["\r", "n", "\x1b", DELETE] {
        stage.keys(&[key, DELETE]);
        read(&mut stage);
        assert!(has_old(&mut stage), "{key:?}");
    }
    stage.keys(&["x", DELETE, "y"]);
    read(&mut stage);
    assert!(!has_old(&mut stage), "{:?}", stage.live());
    stage.keys(&["\x1b"]);
    assert_eq!(agent.asked(), [""; 0]);
}

#[tokio::test]
async fn a_closed_list_waits_for_nothing() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["/resume", "\r"]);
    assert!(stage.view.awaited().list.is_some());
    stage.keys(&["\x1b"]);
    assert!(stage.view.awaited().list.is_none());
    // An answer that comes anyway has no effect.
    stage.view.listed(answer(ListRequest::Sessions));
    assert_eq!(stage.live()[1], ">   Type your message or @path/to/file");
}

#[tokio::test]
async fn a_model_is_selected() {
    for line in ["/model", "/model manage"] {
        let agent = Agent::default();
        let mut stage = Stage::new(&agent, 80, 24);
        stage.keys(&[line, "\r"]);
        let rows = stage.live();
        assert!(rows.contains(&"Reading the models ...".to_owned()), "{rows:?}");
        read(&mut stage);
        stage.keys(&["\t", "\r"]);
        assert_eq!(stage.finished().last().unwrap(), "> /model set auto --persist");
    }
}

#[tokio::test]
async fn a_setting_is_changed_and_its_new_value_is_shown() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, 24);
    stage.keys(&["/settings", "\r"]);
    read(&mut stage);
    let has = |stage: &mut Stage<'_>, text: &str| {
        stage.live().iter().any(|row| row.starts_with("> general.vimMode") && row.contains(text))
    };
    assert!(has(&mut stage, "false"), "{:?}", stage.live());
    stage.keys(&["\r"]);
    let said = stage.finished();
    assert_eq!(said.last().unwrap(), "> /settings set general.vimMode true --scope user");
    assert!(has(&mut stage, "false"), "the list stays: {:?}", stage.live());
    // Another program may have changed it, too.
    let changed = vec!["general.vimMode".to_owned()];
    stage.event(Event::SettingsChanged { changed, restart: Vec::new() });
    assert!(stage.view.awaited().list.is_some());
    stage.view.listed(Ok(ListAnswer::Settings(vec![vim_mode(true)])));
    assert!(has(&mut stage, "true"), "{:?}", stage.live());
    stage.keys(&["\x1b"]);
    assert!(!has(&mut stage, ""));
}
