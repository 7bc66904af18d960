use pretty_assertions::assert_eq;

use super::*;

/// Creates a project whose state is in a temporary folder.
fn project() -> (tempfile::TempDir, ProjectIdentity) {
    let folder = tempfile::tempdir().unwrap();
    let project = ProjectIdentity {
        root: folder.path().join("project"),
        slug: "project".to_owned(),
        hash: String::new(),
        temporary_dir: folder.path().join("tmp/project"),
        history_dir: folder.path().join("history"),
        warning: None,
    };
    (folder, project)
}

fn entries(project: &ProjectIdentity) -> Value {
    serde_json::from_slice(&std::fs::read(project.prompts_file()).unwrap()).unwrap()
}

#[test]
fn prompts_are_numbered_by_session_and_called_back() {
    let (_folder, project) = project();
    let first = PromptLog::new(&project, "one");
    first.record("a");
    first.record("b\nc");
    drop(first);
    let second = PromptLog::new(&project, "two");
    second.record("d");
    drop(second);
    let entries = entries(&project);
    let reported: Vec<_> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["sessionId"].as_str(), entry["messageId"].as_u64()))
        .collect();
    assert_eq!(reported, [(Some("one"), Some(0)), (Some("one"), Some(1)), (Some("two"), Some(0))]);
    let keys: Vec<_> = entries[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["sessionId", "messageId", "timestamp", "type", "message"]);
    assert_eq!(recent_prompts(&project, 2), ["b\nc", "d"]);
}

#[test]
fn entries_of_others_stay() {
    let (_folder, project) = project();
    std::fs::create_dir_all(&project.temporary_dir).unwrap();
    let theirs =
        json!([{"sessionId": "x", "messageId": 4, "type": "user", "message": "m", "more": 1}, 7]);
    std::fs::write(project.prompts_file(), theirs.to_string()).unwrap();
    PromptLog::new(&project, "x").record("n");
    let entries = entries(&project);
    assert_eq!(entries[0], theirs[0]);
    assert_eq!(entries[1], 7);
    assert_eq!(entries[2]["messageId"], 5);
    assert_eq!(recent_prompts(&project, 9), ["m", "n"]);
}

#[test]
fn what_is_no_list_is_set_aside() {
    for (broken, reason) in
        [("{ broken", "invalid_json"), ("{}", "malformed_array"), ("", "invalid_json")]
    {
        let (_folder, project) = project();
        std::fs::create_dir_all(&project.temporary_dir).unwrap();
        std::fs::write(project.prompts_file(), broken).unwrap();
        assert_eq!(recent_prompts(&project, 9), [""; 0]);
        PromptLog::new(&project, "x").record("n");
        assert_eq!(recent_prompts(&project, 9), ["n"]);
        let names = std::fs::read_dir(&project.temporary_dir).unwrap();
        let kept = names.flatten().find(|entry| {
            entry.file_name().to_string_lossy().starts_with(&format!("logs.json.{reason}."))
        });
        assert_eq!(std::fs::read_to_string(kept.unwrap().path()).unwrap(), broken);
    }
}
