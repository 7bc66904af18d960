//! Sessions of subagents.

use pollux_protocol::Journal;
use pollux_session::{NewSubagent, format_list, format_list_as_json};
use pretty_assertions::assert_eq;

use super::resume::{said, store};

fn new(id: &str) -> NewSubagent<'_> {
    let folders = vec!["/p".into()];
    NewSubagent { parent: "main-1", id, agent: "tester", call_id: "c", folders }
}

#[tokio::test]
async fn a_session_of_a_subagent_belongs_to_its_parent() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let main = store.create(Some("main-1")).unwrap();
    main.append(&[said("u1", "main work").into()]).await.unwrap();
    let child = store.create_subagent(&new("child-1")).unwrap();
    child.append(&[said("u1", "its task").into()]).await.unwrap();
    drop((main, child));
    let mut sessions = store.list().unwrap();
    assert_eq!(sessions.len(), 1);
    store.add_subagents(&mut sessions).unwrap();
    let [child] = &sessions[0].subagents[..] else { panic!("{sessions:?}") };
    let shown = (child.id.as_str(), child.title(), child.agent.as_deref());
    assert_eq!(shown, ("child-1", "its task", Some("tester")));
    let text = format_list(&sessions, None, jiff::Timestamp::now());
    assert!(text.ends_with("\n       - tester: its task [child-1]\n"), "{text}");
    let json = format_list_as_json(&sessions, home.path());
    assert!(json.contains("\"agent\": \"tester\""), "{json}");
    let found = store.find("child").unwrap();
    let (log, data) = store.resume(&found).unwrap();
    assert_eq!((log.session_id(), data.kind.as_str()), ("child-1", "subagent"));
    drop(log);
    assert_eq!(store.find("main").unwrap().agent, None);
    store.delete("main-1", None).unwrap();
    assert!(store.find("child").is_err());
}

#[test]
fn ids_do_not_lead_out_of_the_folder() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    for id in ["", "../x", "a/b"] {
        assert!(store.create_subagent(&new(id)).is_err(), "{id}");
    }
}
