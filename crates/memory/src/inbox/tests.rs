use pretty_assertions::assert_eq;

use super::*;

struct Case {
    inbox: MemoryInbox,
    _folder: tempfile::TempDir,
}

fn case() -> Case {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let inbox = MemoryInbox {
        memory: path.join("memory"),
        global_file: path.join("GEMINI.md"),
        skills: path.join("skills"),
    };
    Case { inbox, _folder: folder }
}

fn facts(private: &[&str], global: &[&str]) -> Proposals {
    let owned = |facts: &[&str]| facts.iter().map(|fact| (*fact).to_owned()).collect();
    Proposals { skills: Vec::new(), private: owned(private), global: owned(global) }
}

fn skill(name: &str) -> Proposals {
    let skill =
        ProposedSkill { name: name.into(), description: "When.".into(), body: "Do.".into() };
    Proposals { skills: vec![skill], ..Proposals::default() }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn nothing_is_in_use_before_somebody_accepts_it() {
    let Case { inbox, _folder } = case();
    assert_eq!(inbox.list(), EMPTY);
    let (_, is_new) = inbox.propose(&facts(&["Use make."], &["Short answers."])).unwrap();
    assert!(is_new);
    let notes = inbox.memory.join(PRIVATE_INDEX);
    assert!(!notes.exists() && !inbox.global_file.exists());
    assert!(
        inbox.list().contains("private: 2 lines for your notes on this project"),
        "{}",
        inbox.list()
    );
    assert!(inbox.show("private").unwrap().contains("+- Use make."));
    inbox.accept("private").unwrap();
    assert!(text(&notes).ends_with("- Use make.\n"));
    assert!(!inbox.global_file.exists());
    inbox.discard("global").unwrap();
    assert!(!inbox.global_file.exists());
    assert_eq!(inbox.list(), EMPTY);
    assert!(inbox.accept("private").unwrap_err().contains("no entry \"private\""));
}

#[test]
fn later_facts_join_those_that_wait() {
    let Case { inbox, _folder } = case();
    std::fs::create_dir_all(&inbox.memory).unwrap();
    std::fs::write(inbox.memory.join(PRIVATE_INDEX), "# Mine\n\nwords without an end").unwrap();
    inbox.propose(&facts(&["One."], &[])).unwrap();
    inbox.propose(&facts(&["Two.", "One."], &[])).unwrap();
    let (_, is_new) = inbox.propose(&facts(&["Two."], &[])).unwrap();
    assert!(!is_new, "what waits already is not proposed again");
    inbox.accept("private").unwrap();
    let notes = text(&inbox.memory.join(PRIVATE_INDEX));
    assert!(notes.starts_with("# Mine\n\nwords without an end\n"), "{notes}");
    assert!(notes.ends_with("- One.\n- Two.\n"), "{notes}");
}

#[test]
fn a_patch_that_does_not_fit_any_more_changes_nothing() {
    let Case { inbox, _folder } = case();
    std::fs::write(&inbox.global_file, "a\nb\n").unwrap();
    inbox.propose(&facts(&[], &["One."])).unwrap();
    std::fs::write(&inbox.global_file, "all new\n").unwrap();
    assert!(inbox.accept("global").unwrap_err().contains("does not apply"));
    assert_eq!(text(&inbox.global_file), "all new\n");
    assert!(inbox.show("global").is_ok(), "it still waits");
}

#[test]
fn a_patch_reaches_only_what_its_kind_may_change() {
    let Case { inbox, _folder } = case();
    let other = inbox.memory.parent().unwrap().join("other.md");
    let hidden = inbox.memory.join(".inbox.md");
    let above = inbox.memory.join("../evil.md");
    for (name, path) in [
        ("private", &other),
        ("private", &inbox.global_file),
        ("private", &hidden),
        ("private", &above),
        ("global", &other),
    ] {
        let file = inbox.patch_of(target(name).unwrap());
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        // The first file of the patch is valid, but nothing of such a patch is applied.
        let right =
            if name == "private" { inbox.memory.join("a.md") } else { inbox.global_file.clone() };
        let patch = patch::make(&right, None, "fine\n") + &patch::make(path, None, "evil\n");
        std::fs::write(&file, patch).unwrap();
        assert!(inbox.accept(name).unwrap_err().starts_with("Nothing was changed: "), "{path:?}");
        assert!(!path.exists() && !right.exists(), "{path:?}");
    }
}

#[test]
fn a_skill_is_taken_over_once_and_overwrites_none() {
    let Case { inbox, _folder } = case();
    assert_eq!(inbox.propose(&skill("release")).unwrap().0, ["release"]);
    assert!(inbox.list().contains("release: a skill"));
    inbox.accept("release").unwrap();
    let file = inbox.skills.join("release/SKILL.md");
    assert!(text(&file).contains("description: \"When.\""));
    assert_eq!(inbox.names(), Vec::<String>::new());
    assert!(!inbox.propose(&skill("release")).unwrap().1, "it is there already");
    // A skill that was created in the meantime stays unchanged.
    inbox.propose(&skill("other")).unwrap();
    std::fs::create_dir_all(inbox.skills.join("other")).unwrap();
    std::fs::write(inbox.skills.join("other/SKILL.md"), "mine").unwrap();
    assert!(inbox.accept("other").unwrap_err().starts_with("Nothing was changed: "));
    assert_eq!(text(&inbox.skills.join("other/SKILL.md")), "mine");
    for name in ["../release", "release/..", "", "SKILL.md"] {
        assert!(inbox.show(name).is_err() && inbox.discard(name).is_err(), "{name}");
    }
}
